"""Layers of nets that read text."""
