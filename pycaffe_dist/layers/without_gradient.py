"""Layers whose bottoms learn nothing from their tops."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer


class WithoutGradient(Layer):
    """∂xᵢ = 0, whatever the tops' gradients are."""

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        for view, wanted in zip(bottom, propagate_down, strict=True):
            if wanted:
                view.diff[...] = 0
