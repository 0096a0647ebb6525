"""Layers of nets for phones, and activations that forks added."""
