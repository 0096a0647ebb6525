"""Resize: happynear's bilinear one."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.synopsys.resize import Resize
from pycaffe_dist.proto.caffe_pb2 import ResizeBilinearParameter


@register("Resize")
class HappynearResize(Resize):
    """The weighted mean of the pixels beside p = i·in/out, on either axis, for pixel i of the top;
    beyond the last pixel there is 0.  ∂x gets the same weights.

    The size is ``height`` × ``width``; with ``is_pyramid_test`` the bottom's times
    ``out_height_scale`` and ``out_width_scale``, rounded down.
    """

    fades = True

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.resize_param
        param = ResizeBilinearParameter(data_format="NCHW")
        if p.is_pyramid_test:
            param.scale_height, param.scale_width = p.out_height_scale, p.out_width_scale
        else:
            param.output_height, param.output_width = p.height, p.width
        self.read(param)

    def taps(self, i: Array, size: int, scale: np.float32) -> tuple[Array, Array, Array]:
        p = i * scale
        low = np.floor(p)
        return low, low + 1, p - low
