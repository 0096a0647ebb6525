"""Memory that two nets can use in turn: a test net computes in the training net's activations."""

from __future__ import annotations

from pycaffe_dist.blob import Blob
from pycaffe_dist.net import Net


def share_activations(net: Net, other: Net) -> int:
    """Let ``net`` keep the values of its inner blobs where ``other`` keeps its own.

    Safe while the two never run at once and nobody looks at the inner blobs of one after the other
    has run.  What comes from outside (tops of layers without bottoms) and what goes out stays
    apart, and so do gradients.

    Returns:
        The bytes that ``net`` now does without.
    """
    rooms = sorted(_inner(other), key=lambda blob: blob.data_value.count)
    saved = 0
    for blob in sorted(_inner(net), key=lambda blob: -blob.count):
        if rooms and rooms[-1].data_value.count >= blob.count:
            blob.data_value = rooms.pop().data_value
            saved += blob.count * blob.dtype.itemsize
    net.reshape()  # layers that share memory among their blobs do so anew
    return saved


def _inner(net: Net) -> list[Blob]:
    """Blobs that one layer writes and others read, each piece of memory once."""
    outside = set(net.output_ids)
    for tops, bottoms in zip(net.top_ids, net.bottom_ids, strict=True):
        if not bottoms:
            outside.update(tops)
    kept = {id(net.blobs[i].data_value) for i in outside}
    found: dict[int, Blob] = {}
    for i, blob in enumerate(net.blobs):
        if i not in outside and id(blob.data_value) not in kept:
            found.setdefault(id(blob.data_value), blob)
    return list(found.values())
