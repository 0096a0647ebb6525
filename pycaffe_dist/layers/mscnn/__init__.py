"""Layers that MS-CNN (zhaoweicai/mscnn) is trained with."""
