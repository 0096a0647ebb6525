"""Convolutions on a GPU: several ways to compute one, and the choice between them.

``case.py`` says what is to be computed, ``way.py`` what a way is, ``choice.py`` which one computes.
Each way has a file: columns (the reference, which can do everything), depthwise,
cudnn (an algorithm of cuDNN's).
"""
