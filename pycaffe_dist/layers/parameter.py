"""Parameter: a learnable blob as a top."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register


@register("Parameter")
class Parameter(Layer):
    """y = the parameter, zeros at first; they share data and diff.

    What a consumer writes into the top's diff is the gradient: overwritten, not added to.
    """

    bottoms = 0

    def setup(self, bottom: Views, top: Views) -> None:
        shape = tuple(self.layer_param.parameter_param.shape.dim)
        self.add_blob(shape)
        top[0].reshape(*shape)

    def reshape(self, bottom: Views, top: Views) -> None:
        pass

    def forward(self, bottom: Views, top: Views) -> None:
        top[0].share_data(self.blobs[0])
        top[0].share_diff(self.blobs[0])

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        pass

    def flops(self, bottom: Views, top: Views) -> int:
        return 0
