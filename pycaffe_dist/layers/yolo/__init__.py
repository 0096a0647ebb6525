"""Layers of YOLO nets."""
