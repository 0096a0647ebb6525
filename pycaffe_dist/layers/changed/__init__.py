"""Layers of BVLC's that forks changed: each is read where a file has the fork's fields."""
