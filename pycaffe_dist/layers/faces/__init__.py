"""Layers of nets that recognise faces."""
