"""Losses that forks added."""
