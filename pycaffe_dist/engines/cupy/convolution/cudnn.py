"""cuDNN's algorithms, each a way of its own."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from pycaffe_dist.aliases import DeviceArray
from pycaffe_dist.engines.choice import UnsupportedError
from pycaffe_dist.engines.cupy import cudnn
from pycaffe_dist.engines.cupy.convolution.case import Case, Direction
from pycaffe_dist.engines.cupy.convolution.columns import WORKSPACE
from pycaffe_dist.engines.cupy.convolution.way import Offer, Way
from pycaffe_dist.engines.cupy.cudnn import library
from pycaffe_dist.layers.windows import Windows

if TYPE_CHECKING:
    from pycaffe_dist.engines.cupy.engine import CupyEngine

# The functions' names, their algorithms, and which of image, weights and out they are given first
# and second; what is left is made.
CALLS: dict[Direction, tuple[str, Mapping[str, int], int, int]] = {
    Direction.FORWARD: ("Forward", library.FORWARD, 0, 1),
    Direction.DATA: ("BackwardData", library.BACKWARD_DATA, 1, 2),
    Direction.FILTER: ("BackwardFilter", library.BACKWARD_FILTER, 0, 2),
}


class CuDnn(Way):
    """One algorithm.  Arrays lie as Caffe has them, NCHW; images of one axis have rows of one."""

    def __init__(
        self, engine: CupyEngine, case: Case, name: str, handle: cudnn.Handle, algorithm: int
    ) -> None:
        super().__init__(engine, case)
        self.name, self._handle, self._algorithm = name, handle, algorithm
        lib, dtype = handle.library, case.dtype
        math = library.DEFAULT_MATH if case.precision == "tf32" else library.FMA_MATH
        w = plane(case.windows)
        tensor, windows = partial(cudnn.tensor, lib, dtype=dtype), (w.pad, w.stride, w.dilation)
        out = (*case.out[:2], *w.out)
        self._arrays = (  # descriptors of image, weights and out
            tensor((*case.image[:2], *w.image)),
            cudnn.filters(lib, (*case.weights[:2], *w.kernel), dtype),
            tensor(out),
        )
        self._convolution = cudnn.convolution(lib, windows, case.group, dtype, math)
        self._check_output(out)
        self._call, _, self._first, self._second = CALLS[case.direction]
        self._room = self._workspace()
        keep = case.direction is Direction.FILTER  # a gradient is added to
        self._alpha, self._beta = (np.array([x], dtype) for x in (1, keep))

    @classmethod
    def can(cls, case: Case) -> bool:
        return len(case.windows.image) <= 3 and case.dtype.char in library.NUMBERS

    @classmethod
    def offers(cls, engine: CupyEngine, case: Case) -> Iterator[Offer]:
        if not cls.can(case) or engine.cudnn is None:
            return
        for name, number in CALLS[case.direction][1].items():
            whole = f"cudnn {name}"
            yield Offer(whole, partial(cls, engine, case, whole, engine.cudnn, number))

    @classmethod
    def work(cls, case: Case) -> None:
        """Which algorithm is good for a case shows when it is measured."""

    def compute(self, image: DeviceArray, weights: DeviceArray, out: DeviceArray) -> None:
        arrays = [
            (d.value, x.data.ptr) for d, x in zip(self._arrays, (image, weights, out), strict=True)
        ]
        room = self.engine.spare("workspace", (self._room,), np.dtype(np.uint8))
        self._handle.library.call(
            f"Convolution{self._call}",
            *(self._handle.value, self._alpha.ctypes.data),
            *(*arrays[self._first], *arrays[self._second]),
            *(self._convolution.value, self._algorithm, room.data.ptr, self._room),
            *(self._beta.ctypes.data, *arrays[self.case.direction.makes]),
        )

    def _workspace(self) -> int:
        """How many bytes the algorithm asks for."""
        size = ctypes.c_size_t()
        given = [self._arrays[i].value for i in (self._first, self._second)]
        made = self._arrays[self.case.direction.makes].value
        self._handle.library.call(
            f"GetConvolution{self._call}WorkspaceSize",
            *(self._handle.value, *given, self._convolution.value, made, self._algorithm),
            ctypes.byref(size),
        )
        if size.value > WORKSPACE:
            raise UnsupportedError(
                f"wants {size.value >> 20} MB of workspace, more than {WORKSPACE >> 20}"
            )
        return size.value

    def _check_output(self, out: tuple[int, ...]) -> None:
        """Caffe rounds towards zero where cuDNN may not: then they mean different windows."""
        found = cudnn.ints(out)
        image, weights, _ = (d.value for d in self._arrays)
        self._handle.library.call(
            "GetConvolutionNdForwardOutputDim",
            *(self._convolution.value, image, weights, len(out), found),
        )
        if tuple(found) != out:
            raise UnsupportedError(f"cuDNN has an output of {tuple(found)}, and not {out}")


def plane(w: Windows) -> Windows:
    """Windows of at least two axes."""
    if len(w.image) > 1:
        return w
    one, none = (1,), (0,)
    return Windows(
        *(one + w.kernel, one + w.stride, none + w.pad, one + w.dilation),
        *(one + w.image, one + w.out),
    )
