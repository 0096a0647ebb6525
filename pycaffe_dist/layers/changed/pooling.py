"""Pooling with Intel's ``avg_include_pad``."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.layer import register
from pycaffe_dist.layers.pooling import Mean, Method, Pooling
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, PoolingParameter


class MeanInside(Mean):
    """y = Σx / area, where only pixels of the image count as area."""

    def areas(self) -> Array:
        w = self.windows
        sides = []
        for axis, size in enumerate(w.image):
            starts = w.starts(axis)
            sides.append(np.minimum(starts + w.kernel[axis], size) - np.maximum(starts, 0))
        areas = np.outer(*sides).astype(self.dtype)
        areas[areas <= 0] = np.nan
        return self.xp.asarray(areas)


def _leaves_padding_out(param: LayerParameter) -> bool:
    p = param.pooling_param
    return p.pool == PoolingParameter.AVE and not p.avg_include_pad


@register(
    "Pooling",
    dialect="intel",
    when=_leaves_padding_out,
    why="pooling_param has avg_include_pad: false",
)
class IntelPooling(Pooling):
    """Pooling whose AVE, unless ``avg_include_pad``, divides by the image's pixels in a window."""

    fork_fields = ("PoolingParameter.avg_include_pad",)

    def _method(self, pool: int) -> Method:
        return MeanInside(self) if _leaves_padding_out(self.layer_param) else super()._method(pool)
