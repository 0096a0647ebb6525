"""The fast CPU engine: layers as primitives of oneDNN, called through ctypes.

What a layer computes stays in the layout that its primitive likes; the next layer takes it from
there, and only who needs Caffe's own order has it converted.
"""

from __future__ import annotations

from pycaffe_dist.engines.base import Engine
from pycaffe_dist.engines.onednn import library


class OneDnn(Engine):
    """NumPy's engine with faster layers."""

    name = "onednn"

    def __init__(self) -> None:
        from pycaffe_dist.engines.onednn.batch_norm import BatchNorm
        from pycaffe_dist.engines.onednn.concat import Concat, Slice
        from pycaffe_dist.engines.onednn.convolution import Convolution, Deconvolution
        from pycaffe_dist.engines.onednn.eltwise import Eltwise
        from pycaffe_dist.engines.onednn.inner_product import InnerProduct
        from pycaffe_dist.engines.onednn.scale import Bias, Scale
        from pycaffe_dist.engines.onednn.split import Split

        self.layers = {
            "BatchNorm": BatchNorm,
            "Bias": Bias,
            "Concat": Concat,
            "Convolution": Convolution,
            "Deconvolution": Deconvolution,
            "Eltwise": Eltwise,
            "InnerProduct": InnerProduct,
            "Scale": Scale,
            "Slice": Slice,
            "Split": Split,
        }


def create(device: int = 0) -> Engine:
    library.load()
    return OneDnn()
