"""NVIDIA's cuDNN 9, called through ctypes: found and declared in ``library.py``, wrapped here."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from math import prod

from pycaffe_dist import caffe_log as log
from pycaffe_dist.aliases import DType
from pycaffe_dist.engines.cupy.cudnn.library import (
    CROSS_CORRELATION,
    NCHW,
    NUMBERS,
    CudnnError,
    Library,
    load,
)
from pycaffe_dist.errors import MissingPartError

__all__ = ["CudnnError", "Descriptor", "Handle", "convolution", "filters", "ints", "tensor"]


class Handle:
    """cuDNN on one device, whose calls are entered on one stream."""

    def __init__(self, library: Library, stream: int) -> None:
        self.library = library
        self.value = library.create("Create")
        library.call("SetStream", self.value, stream)

    @staticmethod
    def on(stream: int) -> Handle | None:
        """Of the current device; where cuDNN cannot be used, None and a line in the log."""
        try:
            return Handle(load(), stream)
        except (MissingPartError, CudnnError) as e:
            log.info("cudnn", "Convolutions without cuDNN, by our own kernels: %s", e)
            return None


class Descriptor:
    """What one of cuDNN's calls is told of an array or of an operation; destroyed when let go."""

    def __init__(self, library: Library, kind: str) -> None:
        self.value = library.create(f"Create{kind}Descriptor")
        destroy = getattr(library, f"Destroy{kind}Descriptor")
        weakref.finalize(self, destroy, self.value).atexit = False  # the device may be gone by then


def tensor(library: Library, shape: Sequence[int], dtype: DType) -> Descriptor:
    """An array as it lies: contiguous, (N, C, *spatial)."""
    made = Descriptor(library, "Tensor")
    strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    facts = NUMBERS[dtype.char], len(shape), ints(shape), ints(strides)
    library.call("SetTensorNdDescriptor", made.value, *facts)
    return made


def filters(library: Library, shape: Sequence[int], dtype: DType) -> Descriptor:
    """Weights, (M, C/group, *kernel)."""
    made = Descriptor(library, "Filter")
    facts = NUMBERS[dtype.char], NCHW, len(shape), ints(shape)
    library.call("SetFilterNdDescriptor", made.value, *facts)
    return made


def convolution(
    library: Library, windows: Sequence[Sequence[int]], group: int, dtype: DType, math: int
) -> Descriptor:
    """The windows' pad, stride and dilation, each for every axis."""
    made = Descriptor(library, "Convolution")
    axes = len(windows[0])
    kind = CROSS_CORRELATION, NUMBERS[dtype.char]
    library.call("SetConvolutionNdDescriptor", made.value, axes, *map(ints, windows), *kind)
    library.call("SetConvolutionGroupCount", made.value, group)
    library.call("SetConvolutionMathType", made.value, math)
    return made


def ints(values: Sequence[int]) -> ctypes.Array[ctypes.c_int]:
    return (ctypes.c_int * len(values))(*values)
