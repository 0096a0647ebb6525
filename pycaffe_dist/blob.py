"""Blob: an N-dimensional array and its gradient, as users and as layers see it."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from pycaffe_dist.aliases import Array
from pycaffe_dist.engines.base import default_engine
from pycaffe_dist.errors import NetError
from pycaffe_dist.memory import HOST, Home, Value

MOST_AXES = 32
MOST_VALUES = (1 << 31) - 1


def _measured(shape: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """A shape as plain numbers, and how many values it has."""
    dims = tuple(map(operator.index, shape))
    count = math.prod(dims)
    if len(dims) > MOST_AXES or min(dims, default=0) < 0 or count > MOST_VALUES:
        raise NetError(
            f"a blob cannot have the shape {dims}: at most {MOST_AXES} axes, none negative, "
            f"and {MOST_VALUES:,} values"
        )
    return dims, count


class Blob:
    """Caffe's blob.  ``data`` and ``diff`` are live, writable NumPy arrays in its shape."""

    def __init__(self, shape: Sequence[int] = (), dtype: DTypeLike = np.float32) -> None:
        self.dtype = np.dtype(dtype)
        self._shape, self._count = _measured(shape)
        self.data_value = Value(max(self._count, 1), self.dtype)
        self.diff_value = Value(max(self._count, 1), self.dtype)

    # -- shape -------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of its axes."""
        return self._shape

    @property
    def count(self) -> int:
        """How many values it has."""
        return self._count

    def reshape(self, *shape: int) -> None:
        """Take another shape.  Values stay if they fit into the room there is, else are zeros."""
        dims, count = _measured(shape)
        if dims == self._shape:
            return
        self._shape, self._count = dims, count
        if count > self.data_value.count:
            self.data_value = Value(count, self.dtype)
        if count > self.diff_value.count:
            self.diff_value = Value(count, self.dtype)

    def reshape_like(self, other: Blob | View) -> None:
        """Take the shape of another."""
        self.reshape(*other.shape)

    def axis(self, index: int) -> int:
        """``index`` as a number from 0, whether it counts from the front or (negative) the end."""
        if not -len(self.shape) <= index < len(self.shape):
            raise NetError(f"axis {index} is out of range for a blob of shape {self.shape}")
        return index % len(self.shape)

    def count_from(self, begin: int, end: int | None = None) -> int:
        """The product of the dimensions from axis ``begin`` up to ``end``."""
        return math.prod(self.shape[begin:end])

    def legacy_shape(self) -> tuple[int, int, int, int]:
        """num, channels, height, width: the shape with ones behind it."""
        if len(self.shape) > 4:
            raise NetError(f"a blob of {len(self.shape)} axes has no num, channels, height, width")
        n, c, h, w = self.shape + (1,) * (4 - len(self.shape))
        return n, c, h, w

    @property
    def num(self) -> int:
        """The first of the four axes of old, which scripts ask for: images of a batch."""
        return self.legacy_shape()[0]

    @property
    def channels(self) -> int:
        """The second of them."""
        return self.legacy_shape()[1]

    @property
    def height(self) -> int:
        """The third of them."""
        return self.legacy_shape()[2]

    @property
    def width(self) -> int:
        """The last of them."""
        return self.legacy_shape()[3]

    # -- values ------------------------------------------------------------------------------

    @property
    def data(self) -> Array:
        """The values, in NumPy's memory and writable."""
        array: Array = _shaped(self.data_value, self.shape, HOST, True)
        return array

    @property
    def diff(self) -> Array:
        """Their gradient, likewise."""
        array: Array = _shaped(self.diff_value, self.shape, HOST, True)
        return array

    def replace_data(self) -> Array:
        """The data, to be written whole: what is in another home is not brought over."""
        self.data_value.replace(HOST)
        array: Array = self.data_value.shaped(HOST, self.shape)
        return array

    @property
    def _gpu_data_ptr(self) -> int:
        """Where the data is on the GPU, for libraries that take pointers (pycaffe's name)."""
        return default_engine().pointer(self.data_value)

    @property
    def _gpu_diff_ptr(self) -> int:
        return default_engine().pointer(self.diff_value)

    def share_data(self, other: Blob | View) -> None:
        """Use the other's data as our own from now on; the counts must be equal."""
        self._check_count(other)
        self.data_value = _blob_of(other).data_value

    def share_diff(self, other: Blob | View) -> None:
        """Use the gradient of another, of equal count, as our own."""
        self._check_count(other)
        self.diff_value = _blob_of(other).diff_value

    def _check_count(self, other: Blob | View) -> None:
        if other.count != self.count:
            raise NetError(f"cannot share between the shapes {other.shape} and {self.shape}")

    def __repr__(self) -> str:
        return f"Blob{self.shape}"

    def _repr_html_(self) -> str:
        """In a notebook: images or filters as a small grid, anything else as its shape."""
        if len(self.shape) != 4 or min(self.shape) < 1 or max(self.shape[2:]) < 2:
            return repr(self)
        from pycaffe_dist.pictures import data_uri, tiles

        values = _shaped(self.data_value, self.shape, HOST, False)
        planes = values if self.shape[1] == 3 else values.reshape(-1, *self.shape[2:])
        return f'{self!r}<br><img src="{data_uri(tiles(planes))}">'


class View:
    """A blob as one layer sees it: in the layer's home, each part read-only or written to.

    A layer reads its bottoms' data and writes their diffs; writes its tops' data and reads their
    diffs; reads its parameters' data and writes their diffs.
    """

    __slots__ = ("_writes", "blob", "home")

    def __init__(self, blob: Blob, home: Home = HOST, writes: str = "diff") -> None:
        self.blob = blob
        self.home = home
        self._writes = writes

    @property
    def data(self) -> Array:
        return _shaped(self.blob.data_value, self.blob.shape, self.home, self._writes == "data")

    @property
    def diff(self) -> Array:
        return _shaped(self.blob.diff_value, self.blob.shape, self.home, self._writes == "diff")

    def change_data(self) -> Array:
        """The data for a layer that changes what it otherwise reads, such as running statistics."""
        return _shaped(self.blob.data_value, self.blob.shape, self.home, True)

    def replace_diff(self) -> Array:
        """Room for a gradient that is written whole, where `diff` is to be added to."""
        self.blob.diff_value.replace(self.home)
        return self.blob.diff_value.shaped(self.home, self.blob.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.blob.shape

    @property
    def count(self) -> int:
        return self.blob.count

    def reshape(self, *shape: int) -> None:
        self.blob.reshape(*shape)

    def count_from(self, begin: int, end: int | None = None) -> int:
        return self.blob.count_from(begin, end)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.blob, name)

    def __repr__(self) -> str:
        return f"View of {self.blob}"


def _shaped(value: Value, shape: tuple[int, ...], home: Home, write: bool) -> Array:
    """A value in a plain home as an array of ``shape``, to be written to or only read."""
    if write:
        value.write(home)
    else:
        value.read(home)
    return value.shaped(home, shape)


def _blob_of(either: Blob | View) -> Blob:
    return either.blob if isinstance(either, View) else either


Views = Sequence[View]
Flags = Sequence[bool]


class BlobVec(list[Blob]):
    """A layer's parameters; makes new ones of its number type: ``blobs.add_blob(3, 4)``."""

    def __init__(self, dtype: DTypeLike = np.float32) -> None:
        super().__init__()
        self.dtype = dtype

    def add_blob(self, *shape: int) -> None:
        """Append a blob of zeros."""
        self.append(Blob(shape, self.dtype))
