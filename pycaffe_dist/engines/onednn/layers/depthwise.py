"""DepthwiseConvolution and ConvolutionDepthwise, by what computes Convolution."""

from __future__ import annotations

from pycaffe_dist.engines.onednn.core.accelerated import accelerates
from pycaffe_dist.engines.onednn.layers.convolution import Convolution
from pycaffe_dist.layers.mobile import depthwise as generic


@accelerates("DepthwiseConvolution")
class DepthwiseConvolution(generic.DepthwiseConvolution, Convolution):
    __doc__ = generic.DepthwiseConvolution.__doc__


@accelerates("ConvolutionDepthwise")
class ConvolutionDepthwise(generic.ConvolutionDepthwise, Convolution):
    __doc__ = generic.ConvolutionDepthwise.__doc__
