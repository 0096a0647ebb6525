"""Layers of nets that label every pixel: SegNet, DeconvNet, DeepLab, PSPNet."""
