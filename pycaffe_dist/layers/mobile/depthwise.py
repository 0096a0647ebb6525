"""DepthwiseConvolution and ConvolutionDepthwise: convolutions with one kernel for each channel."""

from __future__ import annotations

from pycaffe_dist.blob import Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.convolution import Convolution


@register("DepthwiseConvolution")
class DepthwiseConvolution(Convolution):
    """A Convolution: nets write ``group`` and ``num_output``, both the number of channels."""


@register("ConvolutionDepthwise")
class ConvolutionDepthwise(Convolution):
    """A Convolution whose ``group`` and ``num_output`` are the bottom's channels.

    What the file says of the two does not count.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p, x = self.layer_param.convolution_param, bottom[0]
        p.group = p.num_output = x.shape[x.axis(p.axis)]
        super().setup(bottom, top)
