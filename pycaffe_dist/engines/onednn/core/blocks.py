"""Layouts by their kind: channels in blocks, or last."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from pycaffe_dist.engines.onednn.core.library import F32
from pycaffe_dist.engines.onednn.core.primitives import Dims, Layout, dims_array, plain, strided
from pycaffe_dist.engines.onednn.core.started import runtime

# The library's names of layouts (N, C, …) with channels in blocks, by number of axes and block.
TAGS = {
    (3, 4): 60,
    (4, 4): 84,
    (5, 4): 128,
    (3, 8): 69,
    (4, 8): 102,
    (5, 8): 142,
    (3, 16): 56,
    (4, 16): 78,
    (5, 16): 121,
}


@cache
def blocked(dims: Dims, block: int, kind: int = F32) -> Layout | None:
    """Channels in blocks; None for tensors of too few or too many axes."""
    tag = TAGS.get((len(dims), block))
    if tag is None:
        return None
    lib = runtime().lib
    md = lib.create("memory_desc_create_with_tag", len(dims), dims_array(dims), kind, tag)
    try:
        return Layout.of(md)
    finally:
        lib.memory_desc_destroy(md)


@cache
def channels_last(dims: Dims, kind: int = F32) -> Layout:
    order = (0, *range(2, len(dims)), 1)
    strides = [1] * len(dims)
    for axis, inner in reversed(list(pairwise(order))):
        strides[axis] = strides[inner] * dims[inner]
    return strided(dims, tuple(strides), kind)


@cache
def resized(layout: Layout, dims: Dims, axis: int) -> Layout | None:
    """The layout of the same kind for a tensor that is longer or shorter along an axis.

    None if there is no such, or if it would cut blocks.
    """
    if layout is plain(layout.dims, layout.kind):
        return plain(dims, layout.kind)
    block = layout.block(axis)
    if dims[axis] % block or layout.dims[axis] % block:
        return None
    return _of_kind(layout, dims) if _of_kind(layout, layout.dims) is layout else None


def _of_kind(layout: Layout, dims: Dims) -> Layout | None:
    kind = layout.kind
    return blocked(dims, layout.block(1), kind) if layout.blocks else channels_last(dims, kind)
