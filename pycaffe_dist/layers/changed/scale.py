"""Scale with happynear's ``min_value`` and ``max_value``."""

from __future__ import annotations

from pycaffe_dist.blob import Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.scale import Scale
from pycaffe_dist.proto.caffe_pb2 import LayerParameter


def _is_bounded(param: LayerParameter) -> bool:
    p = param.scale_param
    return p.HasField("min_value") or p.HasField("max_value")


@register(
    "Scale", dialect="happynear", when=_is_bounded, why="scale_param has min_value or max_value"
)
class BoundedScale(Scale):
    """Scale, whose every forward pass first brings the parameter s between ``min_value`` and
    ``max_value``.
    """

    fork_fields = ("ScaleParameter.min_value", "ScaleParameter.max_value")

    remembers = True  # a parameter that was brought there by an earlier pass

    def forward(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.scale_param
        if len(bottom) == 1:
            s = self.params[0].change_data()
            if p.HasField("min_value"):
                self.xp.maximum(s, self.dtype.type(p.min_value), out=s)
            if p.HasField("max_value"):
                self.xp.minimum(s, self.dtype.type(p.max_value), out=s)
        super().forward(bottom, top)
