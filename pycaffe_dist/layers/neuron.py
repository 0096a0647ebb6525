"""What all element-wise layers have in common."""

from __future__ import annotations

from pycaffe_dist.blob import Views
from pycaffe_dist.layer import Layer


class Neuron(Layer):
    """One bottom, one top of the same shape; most may work in place."""

    def reshape(self, bottom: Views, top: Views) -> None:
        top[0].reshape_like(bottom[0])
