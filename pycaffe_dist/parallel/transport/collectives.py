"""What several ranks do together, built on sends and receives; each is a way of steps to be taken.

Sums are made in one place, in the order of ranks, so that they are the same on every rank and in
every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import PcdError
from pycaffe_dist.parallel.transport.communicator import Communicator, Steps, done
from pycaffe_dist.parallel.transport.plain import Plain, decode, encode, refusal
from pycaffe_dist.parallel.transport.streams import Port, Receiving, Sending
from pycaffe_dist.parallel.transport.tags import OBJECT, SIZES, VALUES


def bounds(count: int, parts: int) -> list[int]:
    """Where each of ``parts`` slices of ``count`` values begins, and where the last ends."""
    return [count * i // parts for i in range(parts + 1)]


def reduce_scatter(
    port: Port, group: Sequence[int], values: Array, slices: Sequence[int], tag: int
) -> Steps[None]:
    """The i-th rank of ``group`` gets, in its i-th slice of ``values``, the sum over the group.

    Every rank sends each slice to its owner, who adds them up: (P − 1)/P of the array is sent.  The
    other slices keep what was in them.
    """
    rank, dtype = port.communicator.rank, values.dtype
    pieces = {r: values[slices[i] : slices[i + 1]] for i, r in enumerate(group)}
    mine = pieces[rank]
    others = [r for r in group if r != rank]
    sends = [Sending(port, pieces[r], r, tag) for r in others]
    receives = [Receiving(port, mine.size, dtype, r, tag) for r in others]
    parts: list[Sending | Receiving] = [*sends, *receives]
    while not all(part.finished for part in parts):
        moved = False
        for send in sends:
            moved |= send.step()
        added = mine.size  # how far the rank before has been added: nobody overtakes it
        for receive in receives:
            while receive.taken < added and (chunk := receive.take()) is not None:
                mine[receive.taken - chunk.size : receive.taken] += chunk
                moved = True
            added = receive.taken
        yield moved


def all_gather(
    port: Port, group: Sequence[int], values: Array, slices: Sequence[int], tag: int
) -> Steps[None]:
    """Every rank of ``group`` gets the i-th slice of ``values`` from the i-th rank."""
    rank, dtype = port.communicator.rank, values.dtype
    pieces = {r: values[slices[i] : slices[i + 1]] for i, r in enumerate(group)}
    others = [r for r in group if r != rank]
    if others:
        port.wire.round(pieces[rank])
    sends = [Sending(port, pieces[rank], r, tag) for r in others]
    receives = [Receiving(port, pieces[r].size, dtype, r, tag, into=pieces[r]) for r in others]
    yield from all_through(sends, receives)


def one_to_all(
    port: Port, group: Sequence[int], owner: int, values: Array, tag: int
) -> Steps[None]:
    """Every rank of ``group`` gets what the owner has in ``values``."""
    rank = port.communicator.rank
    others = [r for r in group if r != owner]
    if rank == owner:
        if others:
            port.wire.round(values)
        yield from all_through([Sending(port, values, r, tag) for r in others], [])
    elif rank in group:
        receive = Receiving(port, values.size, values.dtype, owner, tag, into=values)
        yield from all_through([], [receive])


def broadcast(port: Port, ranks: int, values: Array, tag: int) -> Steps[None]:
    """All ranks get what rank 0 has in ``values``, which it sends once, a slice to each of them."""
    slices, rank = bounds(values.size, ranks), port.communicator.rank
    pieces = [values[begin:end] for begin, end in pairwise(slices)]
    if rank == 0:
        sends = [Sending(port, piece, to, tag) for to, piece in enumerate(pieces) if to]
        yield from all_through(sends, [])
    else:
        piece = pieces[rank]
        receive = Receiving(port, piece.size, piece.dtype, 0, tag, into=piece)
        yield from all_through([], [receive])
    yield from all_gather(port, range(ranks), values, slices, tag)


def all_through(sends: Sequence[Sending], receives: Sequence[Receiving]) -> Steps[None]:
    """Until everything has been sent and received."""
    parts: list[Sending | Receiving] = [*sends, *receives]
    while not all(part.finished for part in parts):
        moved = False
        for send in sends:
            moved |= send.step()
        for receive in receives:
            while receive.take() is not None:
                moved = True
        yield moved


def mean(port: Port, values: Array, tag: int = VALUES) -> Steps[None]:
    """``values`` become their mean over all ranks."""
    size = port.communicator.size
    slices = bounds(values.size, size)
    group = range(size)
    yield from reduce_scatter(port, group, values, slices, tag)
    values[slices[port.communicator.rank] : slices[port.communicator.rank + 1]] /= size
    yield from all_gather(port, group, values, slices, tag)


# -- small objects ---------------------------------------------------------------------------------


def gather_objects(communicator: Communicator, value: Plain, root: int = 0) -> Steps[list[Plain]]:
    """What each rank has, by rank; an empty list on all but the root."""
    if communicator.rank != root:
        yield from _send_object(communicator, value, [root])
        return []
    found = []
    for rank in range(communicator.size):
        if rank == root:
            found.append(value)
        else:
            found.append((yield from _receive_object(communicator, rank)))
    return found


def broadcast_object(communicator: Communicator, value: Plain, root: int = 0) -> Steps[Plain]:
    """What the root has."""
    if communicator.rank == root:
        others = [rank for rank in range(communicator.size) if rank != root]
        yield from _send_object(communicator, value, others)
        return value
    return (yield from _receive_object(communicator, root))


def _send_object(communicator: Communicator, value: Plain, to: Sequence[int]) -> Steps[None]:
    """Send what they wait for; if it cannot be sent, the reason, so that all of them raise it."""
    error: PcdError | None = None
    try:
        data = encode(value)
    except PcdError as e:
        error = PcdError(f"rank {communicator.rank}: {e}")
        data = refusal(error)
    text = np.frombuffer(data, np.uint8)
    size = np.array([text.size], np.int64)
    pairs = [(communicator.isend(size, r, SIZES), communicator.isend(text, r, OBJECT)) for r in to]
    yield from done([request for pair in pairs for request in pair])
    if error is not None:
        raise error


def _receive_object(communicator: Communicator, source: int) -> Steps[Plain]:
    size = np.zeros(1, np.int64)
    yield from done([communicator.irecv(size, source, SIZES)])
    text = np.empty(int(size[0]), np.uint8)
    yield from done([communicator.irecv(text, source, OBJECT)])
    return decode(text.tobytes())
