"""Layers of R-CNN and its successors: regions of interest, their losses and proposals."""
