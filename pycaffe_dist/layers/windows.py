"""Windows over the spatial axes of an image: what convolution, im2col and pooling have in common.

Window o begins at pixel o·stride − pad; its tap k sees pixel o·stride − pad + k·dilation.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pycaffe_dist.aliases import Array, ArrayModule, DType
from pycaffe_dist.layer import Layer
from pycaffe_dist.proto.caffe_pb2 import ConvolutionParameter, DeformableConvolutionParameter

CACHED = 1 << 18  # values of a blob that are worked on together, to stay in the cache

Sizes = tuple[int, ...]
Tap = tuple[int, slice, slice]  # position in the kernel, the windows it serves, what they see


class Windows(NamedTuple):
    """``out`` windows over an ``image``, a number for each spatial axis."""

    kernel: Sizes
    stride: Sizes
    pad: Sizes
    dilation: Sizes
    image: Sizes = ()
    out: Sizes = ()

    def over(self, image: Sequence[int], out: Sequence[int]) -> Windows:
        return self._replace(image=tuple(image), out=tuple(out))

    def fitting(self, image: Sequence[int]) -> Sizes:
        """How many windows a convolution has: (image + 2·pad − extent) / stride + 1."""
        room = zip(image, self.pad, self.extent, self.stride, strict=True)
        # C++ rounds towards 0: a window that is too large by less than a stride is one window.
        return tuple(int((i + 2 * p - e) / s) + 1 for i, p, e, s in room)

    def covered(self, out: Sequence[int]) -> Sizes:
        """The image that so many windows cover: stride·(out − 1) + extent − 2·pad."""
        room = zip(out, self.pad, self.extent, self.stride, strict=True)
        return tuple(s * (o - 1) + e - 2 * p for o, p, e, s in room)

    @property
    def extent(self) -> Sizes:
        return tuple(d * (k - 1) + 1 for k, d in zip(self.kernel, self.dilation, strict=True))

    @property
    def identity(self) -> bool:
        """Each window is a pixel, each pixel a window."""
        return {*self.kernel, *self.stride} <= {1} and not any(self.pad)

    def starts(self, axis: int) -> NDArray[np.intp]:
        """The pixel that each window begins at; negative ones are padding."""
        return np.arange(self.out[axis]) * self.stride[axis] - self.pad[axis]

    def taps(self, axis: int, rows: slice | None = None) -> Iterator[Tap]:
        """The taps along an axis that meet the image, for all windows or those of ``rows``."""
        first, last = (rows.start, rows.stop) if rows else (0, self.out[axis])
        size, stride = self.image[axis], self.stride[axis]
        for k in range(self.kernel[axis]):
            offset = k * self.dilation[axis] - self.pad[axis]
            low = max(first, -(offset // stride))
            high = min(last, (size - 1 - offset) // stride + 1)
            if low < high:
                begin = low * stride + offset
                end = begin + (high - low - 1) * stride + 1
                yield k, slice(low - first, high - first), slice(begin, end, stride)

    def view(self, xp: ArrayModule, x: Array) -> Array:
        """(N, C, *image) as (N, C, *kernel, *out), a view of ``x`` or of a padded copy of it."""
        sizes = tuple(c + 2 * p for c, p in zip(self.covered(self.out), self.pad, strict=True))
        if any(self.pad) or any(s > i for s, i in zip(sizes, self.image, strict=True)):
            padded = scratch(xp, "padded", (*x.shape[:2], *sizes), x.dtype)
            padded[...] = 0
            inside = (slice(p, p + i) for p, i in zip(self.pad, self.image, strict=True))
            met = (slice(max(0, s - p)) for p, s in zip(self.pad, sizes, strict=True))
            both = slice(None), slice(None)  # all images, all channels
            padded[(*both, *inside)] = x[(*both, *met)]
            x = padded
        steps = x.strides[2:]
        strides = (
            *x.strides[:2],
            *(s * d for s, d in zip(steps, self.dilation, strict=True)),
            *(s * t for s, t in zip(steps, self.stride, strict=True)),
        )
        shape = (*x.shape[:2], *self.kernel, *self.out)
        return xp.lib.stride_tricks.as_strided(x, shape, strides)

    def add_back(
        self, xp: ArrayModule, columns: Array, x: Array, rows: slice | None = None
    ) -> None:
        """Add (N, C, *kernel, *out), where ``out`` may be some rows only, to the pixels seen."""
        axes = range(len(self.image))
        for taps in itertools.product(*(list(self.taps(a, None if a else rows)) for a in axes)):
            position, windows, pixels = zip(*taps, strict=True)
            seen = x[(..., *pixels)]
            xp.add(seen, columns[(slice(None), slice(None), *position, *windows)], out=seen)


def read_windows(
    layer: Layer,
    axes: int,
    param: ConvolutionParameter | DeformableConvolutionParameter | None = None,
) -> Windows:
    """What a convolution_param says of kernel, stride, pad and dilation for so many axes."""
    param = param or layer.layer_param.convolution_param

    def sizes(name: str, sides: str, default: int | None) -> Sizes:
        given = list(getattr(param, name))
        if sides and (param.HasField(f"{sides}_h") or param.HasField(f"{sides}_w")):
            layer.check(
                axes == 2,
                f"{sides}_h and {sides}_w are for 2 spatial axes, the bottom has {axes}",
            )
            layer.check(not given, f"give either {name} or {sides}_h and {sides}_w, not both")
            return getattr(param, f"{sides}_h"), getattr(param, f"{sides}_w")
        if not given and default is not None:
            return (default,) * axes
        layer.check(
            len(given) in (1, axes),
            f"give {name} once, or once for each of the {axes} spatial axes; found {len(given)}",
        )
        return tuple(given) if len(given) == axes else (given[0],) * axes

    windows = Windows(
        kernel=sizes("kernel_size", "kernel", None),
        stride=sizes("stride", "stride", 1),
        pad=sizes("pad", "pad", 0),
        dilation=sizes("dilation", "", 1),
    )
    if not all(windows.kernel):
        raise layer.error(f"the kernel {windows.kernel} has a side of 0")
    if not all(windows.stride):
        raise layer.error(f"the stride {windows.stride} has a step of 0")
    return windows


class _Rooms(threading.local):
    def __init__(self) -> None:
        self.rooms: dict[tuple[ArrayModule, str, DType], Array] = {}


_rooms = _Rooms()


def scratch(xp: ArrayModule, use: str, shape: Sequence[int], dtype: DTypeLike) -> Array:
    """Work space for one ``use`` until the layer returns.

    All layers of a thread share it: what the largest needs is enough, and it stays in the cache.
    """
    count = int(np.prod(shape))
    key = (xp.__name__, use, np.dtype(dtype))
    room = _rooms.rooms.get(key)
    if room is None or room.size < count:
        room = _rooms.rooms[key] = xp.empty(count, dtype)
    return room[:count].reshape(shape)


def pieces(count: int, most: int) -> Iterator[slice]:
    """Cut ``count`` things into nearly equal pieces of at most ``most``, or else 1."""
    number = -(-count // max(1, most))
    size = -(-count // max(1, number))
    for begin in range(0, count, max(1, size)):
        yield slice(begin, min(begin + size, count))


def batches(x: Array) -> Iterator[slice]:
    """Images of ``x`` that are worked on together."""
    return pieces(len(x), CACHED // max(1, x[:1].size))
