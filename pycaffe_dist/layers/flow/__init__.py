"""Layers of optical flow, FlowNet's, and of spatial transformers."""
