"""The GPU engine: CuPy for arrays and matrix products, kernels of our own for the rest."""

from __future__ import annotations

from pycaffe_dist.engines.cupy.devices import device_ids, of_process
from pycaffe_dist.engines.cupy.engine import CupyEngine, create

__all__ = ["CupyEngine", "create", "device_ids", "of_process"]
