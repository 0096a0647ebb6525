"""Silence: takes blobs that nobody else wants, so that they are no outputs of the net."""

from __future__ import annotations

from pycaffe_dist.blob import Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.without_gradient import WithoutGradient


@register("Silence")
class Silence(WithoutGradient):
    """No tops;  ∂xᵢ = 0."""

    bottoms = (1, None)
    tops = 0

    def reshape(self, bottom: Views, top: Views) -> None:
        pass

    def forward(self, bottom: Views, top: Views) -> None:
        pass
