"""L2Normalize, which several forks call Normalization."""

from __future__ import annotations

from pycaffe_dist.layer import register
from pycaffe_dist.layers.ssd.normalize import PlainNormalize


@register("L2Normalize", "Normalization")
class L2Normalize(PlainNormalize):
    """y = x/√(Σ x²) over an item, with nothing to learn."""
