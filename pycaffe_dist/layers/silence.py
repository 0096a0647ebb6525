"""Silence: takes blobs that nobody else wants, so that they are no outputs of the net."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register


@register("Silence")
class Silence(Layer):
    """No tops;  ∂xᵢ = 0."""

    bottoms = (1, None)
    tops = 0

    def reshape(self, bottom: Views, top: Views) -> None:
        pass

    def forward(self, bottom: Views, top: Views) -> None:
        pass

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        for view, wanted in zip(bottom, propagate_down, strict=True):
            if wanted:
                view.diff[...] = 0
