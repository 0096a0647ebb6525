"""Layouts and primitives: oneDNN's objects as layers use them.

A ``Layout`` is a memory descriptor and, unless it is Caffe's own order, a home of values.  A
``Primitive`` is one computation with its layouts fixed.  A ``Call`` is a primitive with memory
bound to its arguments, made once and run at every step.
"""

from __future__ import annotations

import ctypes
import math
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from typing import ClassVar

import numpy as np

from pycaffe_dist.aliases import Array, DType
from pycaffe_dist.engines.onednn.core import library
from pycaffe_dist.engines.onednn.core.library import (
    ANY,
    BF16,
    F32,
    MOST_AXES,
    Arg,
    OneDnnError,
    Query,
)
from pycaffe_dist.engines.onednn.core.started import PostOp, runtime
from pycaffe_dist.engines.onednn.core.tape import do
from pycaffe_dist.memory import HOST, Home, aligned

Dims = tuple[int, ...]
# Of a layout: dimensions, strides, inner blocks (size, axis), type of numbers.
LayoutKey = tuple[Dims, Dims, tuple[tuple[int, int], ...], int]
DimsArray = ctypes.c_int64 * MOST_AXES
# Types of numbers: NumPy's, and how 1 is written in it; NumPy has no bfloat16.
NUMBERS: dict[int, tuple[DType, float]] = {
    F32: (np.dtype(np.float32), 1.0),
    BF16: (np.dtype(np.uint16), 0x3F80),
}


def dims_array(dims: Sequence[int]) -> ctypes.Array[ctypes.c_int64]:
    return DimsArray(*dims)


class ReorderMeter:
    """How many values changed their layout, and how long that took."""

    def __init__(self) -> None:
        self.count, self.seconds = 0, 0.0


METER = ReorderMeter()


class Layout:
    """How a tensor of certain dimensions lies in memory.  Equal layouts are the same object.

    Attributes:
        kind: the type of its numbers, F32 or BF16, whose rooms are arrays of uint16.
        is_plain: it is Caffe's own order, in fp32: plain memory.
    """

    _known: ClassVar[dict[LayoutKey, Layout]] = {}

    def __init__(self, md: int, key: LayoutKey) -> None:
        dims, strides, blocks, kind = key
        self.md = md
        self.dims, self.strides, self.blocks = dims, strides, blocks
        self.size: int = runtime().lib.memory_desc_get_size(md)
        self.count = math.prod(dims)
        self.kind = kind
        self.dtype, self.one = NUMBERS[kind]
        self.length = self.size // self.dtype.itemsize  # numbers, padding included
        self.is_plain = kind == F32 and not blocks and strides == plain_strides(dims)
        self.home: Home = HOST if self.is_plain else self
        self.key = key

    @classmethod
    def of(cls, md: int) -> Layout:
        """The layout that a descriptor, which stays its owner's, describes."""
        key = _describe(md)
        found = cls._known.get(key)
        if found is None:
            # Two threads may get here at once: one of them makes the layout that both have.
            made = cls(runtime().lib.create("memory_desc_clone", md), key)
            found = cls._known.setdefault(key, made)
            if found is not made:
                runtime().lib.memory_desc_destroy(made.md)
        return found

    def block(self, axis: int) -> int:
        """How many neighbours along an axis lie together."""
        return math.prod(size for size, along in self.blocks if along == axis)

    # -- a home of values --------------------------------------------------------------------

    def allocate(self, count: int, dtype: DType) -> Array:
        return aligned(self.length, self.dtype)

    def size_of(self, count: int, dtype: DType) -> int:
        return self.size

    def numbers(self, dtype: DType) -> DType:
        return self.dtype

    def clear(self, room: Array) -> None:
        room[...] = 0

    def load(self, host: Array, room: Array) -> None:
        reorder(plain(self.dims), host, self, room)

    def store(self, room: Array, host: Array) -> None:
        reorder(self, room, plain(self.dims), host)

    def fetch(self, source: Home, there: Array, room: Array) -> bool:
        if isinstance(source, Layout) and source.dims == self.dims:
            reorder(source, there, self, room)
            return True
        return False

    def __repr__(self) -> str:
        return f"Layout{self.key}"


def _describe(md: int) -> LayoutKey:
    """(dimensions, strides, inner blocks, type of numbers) of a descriptor."""
    lib = runtime().lib

    def number(query: int) -> int:
        value = ctypes.c_int()
        lib.memory_desc_query(md, query, ctypes.byref(value))
        return value.value

    def numbers(query: int, count: int) -> Dims:
        pointer = ctypes.POINTER(ctypes.c_int64)()
        lib.memory_desc_query(md, query, ctypes.byref(pointer))
        return tuple(pointer[:count])

    axes, blocks = number(Query.AXES), number(Query.BLOCKS)
    sizes, along = numbers(Query.BLOCK_SIZES, blocks), numbers(Query.BLOCK_AXES, blocks)
    dims, strides = numbers(Query.DIMS, axes), numbers(Query.STRIDES, axes)
    return dims, strides, tuple(zip(sizes, along, strict=True)), number(Query.NUMBERS)


def plain_strides(dims: Dims) -> Dims:
    strides = [1]
    for d in reversed(dims[1:]):
        strides.insert(0, strides[0] * max(d, 1))
    return tuple(strides)


@cache
def plain(dims: Dims, kind: int = F32) -> Layout:
    """Caffe's own order."""
    return strided(dims, plain_strides(dims), kind)


@cache
def strided(dims: Dims, strides: Dims, kind: int = F32) -> Layout:
    lib = runtime().lib
    sizes = dims_array(dims), dims_array(strides)
    md = lib.create("memory_desc_create_with_strides", len(dims), sizes[0], kind, sizes[1])
    return Layout.of(md)


@cache
def anyhow(dims: Dims, kind: int = F32) -> int:
    """A descriptor that leaves the layout to the primitive."""
    sizes = dims_array(dims)
    return runtime().lib.create("memory_desc_create_with_tag", len(dims), sizes, kind, ANY)


class Primitive:
    """One computation.  The first implementation that oneDNN offers, until ``advance`` is called.

    Args:
        kind: its name in the C API, such as ``convolution_forward``.
        args: those of its descriptor, without the result, the engine and the attributes.
        post_ops: what is done to the result before it is written.
    """

    def __init__(
        self, kind: str, *args: object, post_ops: Sequence[PostOp] = (), engine: bool = True
    ) -> None:
        self.kind = kind
        self._run = runtime()
        attr = self._run.attributes(post_ops)
        given = (self._run.engine, *args) if engine else args
        try:
            self.pd = self._run.lib.create(f"{kind}_primitive_desc_create", *given, attr)
        finally:
            self._run.lib.primitive_attr_destroy(attr)

    def layout(self, query: int, index: int = 0) -> Layout:
        md = self._run.lib.primitive_desc_query_md(self.pd, query, index)
        if not md:
            raise OneDnnError(f"{self.kind} has no layout {query}")
        return Layout.of(md)

    @property
    def implementation(self) -> str:
        name = ctypes.c_char_p()
        self._run.lib.primitive_desc_query(self.pd, Query.IMPLEMENTATION, 0, ctypes.byref(name))
        return (name.value or b"").decode()

    def advance(self) -> bool:
        """Take the next implementation; False if there is none."""
        return bool(self._run.lib.primitive_desc_next_impl(self.pd) == 0)

    def implementations(self) -> list[str]:
        """The names of all, from this one on; it has none of them afterwards."""
        names = [self.implementation]
        while self.advance():
            names.append(self.implementation)
        return list(dict.fromkeys(names))

    def seek(self, name: str) -> None:
        """Take the implementation of that name."""
        while self.implementation != name:
            if not self.advance():
                raise OneDnnError(f"{self.kind} has no implementation {name}")

    def size_of(self, query: int) -> int:
        """Bytes of a workspace or scratchpad; 0 if there is none."""
        md = self._run.lib.primitive_desc_query_md(self.pd, query, 0)
        return int(self._run.lib.memory_desc_get_size(md)) if md else 0

    def descriptor(self, query: int) -> int:
        """Of memory whose layout is the primitive's own affair, such as a workspace."""
        return int(self._run.lib.primitive_desc_query_md(self.pd, query, 0))

    def call(self, *args: tuple[int, Layout | int]) -> Call:
        """Ready to be run with a room for each of these arguments, in this order."""
        return Call(self, args)

    def __del__(self) -> None:
        pd = getattr(self, "pd", None)
        if pd:
            self._run.lib.primitive_desc_destroy(pd)


class ExecArg(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_int), ("memory", ctypes.c_void_p)]


class Call:
    """A primitive and memory objects for its arguments; rooms are bound when they change.

    It does not keep what it was called with: a reorder between two layouts stays for good.
    """

    __slots__ = ("_args", "_count", "_execute", "_handle", "_memories", "_rooms", "_run", "_size")

    def __init__(self, primitive: Primitive, args: Sequence[tuple[int, Layout | int]]) -> None:
        self._run = run = runtime()
        self._handle = run.lib.create("primitive_create", primitive.pd)
        descriptors = [(arg, x.md if isinstance(x, Layout) else x) for arg, x in args]
        self._size = primitive.size_of(library.SCRATCHPAD)
        if self._size:
            md = run.lib.primitive_desc_query_md(primitive.pd, library.SCRATCHPAD, 0)
            descriptors.append((Arg.SCRATCHPAD, md))
        self._memories = [
            run.lib.create("memory_create", md, run.engine, None) for _, md in descriptors
        ]
        self._count = len(descriptors)
        self._args = (ExecArg * self._count)(
            *(
                ExecArg(arg, memory)
                for (arg, _), memory in zip(descriptors, self._memories, strict=True)
            )
        )
        self._rooms: list[Callable[[], Array | None]] = [lambda: None] * self._count
        self._execute = run.execute

    def __call__(self, *rooms: Array) -> None:
        if self._size:
            rooms = (*rooms, self._run.scratch(self._size))
        bound = self._rooms
        for i, room in enumerate(rooms):
            if room is not bound[i]():
                self._bind(i, room)
        status = self._execute(self._handle, self._run.stream, self._count, self._args)
        if status:
            raise OneDnnError(f"execution gives status {status}")

    def _bind(self, i: int, room: Array) -> None:
        address = room.__array_interface__["data"][0]
        self._run.lib.memory_set_data_handle(self._memories[i], address)
        self._rooms[i] = weakref.ref(room)

    def __del__(self) -> None:
        for memory in getattr(self, "_memories", ()):
            self._run.lib.memory_destroy(memory)
        if hasattr(self, "_handle"):
            self._run.lib.primitive_destroy(self._handle)


class Reorders(threading.local):
    """By (from, to): calls keep the memory they were bound to, so each thread has its own."""

    def __init__(self) -> None:
        self.calls: dict[tuple[Layout, Layout], Call] = {}


REORDERS = Reorders()


def reorder(source: Layout, room: Array, target: Layout, there: Array) -> None:
    """Copy values from one layout to another."""
    do(_reorder, source, room, target, there)


def _reorder(source: Layout, room: Array, target: Layout, there: Array) -> None:
    begin = time.perf_counter()
    calls = REORDERS.calls
    call = calls.get((source, target))
    if call is None:
        engine = runtime().engine
        made = Primitive("reorder", source.md, engine, target.md, engine, engine=False)
        call = calls[source, target] = made.call((Arg.SRC, source), (Arg.DST, target))
    call(room, there)
    METER.count += 1
    METER.seconds += time.perf_counter() - begin
