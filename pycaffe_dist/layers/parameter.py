"""Parameter: a learnable blob as a top."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register


@register("Parameter")
class Parameter(Layer):
    """y = the parameter, zeros at first or as ``blob_filler`` says; they share data and diff.

    What a consumer writes into the top's diff is the gradient: overwritten, not added to.
    """

    bottoms = 0
    fork_fields = ("ParameterParameter.blob_filler", "ParameterParameter.filler")

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.parameter_param
        shape = tuple(p.shape.dim)
        given = [name for name in ("blob_filler", "filler") if p.HasField(name)]
        self.add_blob(shape, getattr(p, given[0]) if given else None)
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
