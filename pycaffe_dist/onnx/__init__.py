"""Nets as ONNX files, and ONNX files as nets.

``export.py`` walks a net in TEST and asks ``layers/`` for the ONNX operators of each layer;
``check.py`` compares what ONNX Runtime makes of them with what our own engine computes.
Nothing here runs while a net trains, and nothing else imports the package ``onnx``.
"""
