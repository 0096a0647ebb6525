"""Threshold."""

from __future__ import annotations

from pycaffe_dist.blob import Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.neuron import Neuron


@register("Threshold")
class Threshold(Neuron):
    """y = 1 where x > threshold, 0 elsewhere; it has no gradient."""

    def setup(self, bottom: Views, top: Views) -> None:
        self.threshold = self.dtype.type(self.layer_param.threshold_param.threshold)

    def forward(self, bottom: Views, top: Views) -> None:
        top[0].data[...] = bottom[0].data > self.threshold
