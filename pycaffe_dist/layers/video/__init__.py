"""Layers of video: C3D's, and those of temporal segment networks."""
