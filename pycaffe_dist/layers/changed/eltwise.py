"""Eltwise with a single bottom, as FlowNet 2's nets have it."""

from __future__ import annotations

from pycaffe_dist.blob import Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.power import Power
from pycaffe_dist.proto.caffe_pb2 import EltwiseParameter, LayerParameter


def _is_alone(param: LayerParameter) -> bool:
    p = param.eltwise_param
    return len(param.bottom) == len(p.coeff) == 1 and p.operation == EltwiseParameter.SUM


@register("Eltwise", dialect="flownet", when=_is_alone, why="it has one bottom and a coeff for it")
class ScaledBottom(Power):
    """y = coeff · x: the sum of a single bottom, by which nets of FlowNet 2 scale images."""

    def setup(self, bottom: Views, top: Views) -> None:
        one, scale = self.dtype.type(1), self.dtype.type(self.layer_param.eltwise_param.coeff[0])
        self.power, self.scale, self.shift = one, scale, one - one
        self.diff_scale = scale
