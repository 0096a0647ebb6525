"""Values that every rank keeps for itself from one step to the next, on their way to a snapshot.

A residual is one example: it belongs to one rank, and the next step depends on it.  A snapshot has
those of all ranks, by rank and parameter, so that the same number of ranks resumes exactly.  Where
another number of ranks resumes, every rank gets an equal share of their sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.parallel.exchange.parcel import Parcel
from pycaffe_dist.parallel.transport.collectives import all_through
from pycaffe_dist.parallel.transport.comm_thread import CommThread
from pycaffe_dist.parallel.transport.communicator import Steps
from pycaffe_dist.parallel.transport.streams import Port, Receiving, Sending
from pycaffe_dist.solvers.stepper import warn_of_lost

ByRank = Mapping[tuple[int, int], Array]  # by rank and parameter


def gather(parcels: Sequence[Parcel], thread: CommThread) -> dict[tuple[int, int], Array]:
    """Those of all ranks; nothing on all ranks but the first."""
    found: dict[tuple[int, int], Array] = {}
    for parcel, values in _keeping(parcels):
        everybody = thread.do(_to_rank_0(parcel, values), parcel.name, "own values")
        for rank, whole in enumerate(everybody):
            pieces = zip(parcel.params, parcel.pieces(whole), strict=True)
            found |= {(rank, p): piece for p, piece in pieces}
    return found


def deal(parcels: Sequence[Parcel], thread: CommThread, stored: ByRank) -> None:
    """Give every rank its own values of a snapshot, which rank 0 has; 0 where it has none."""
    used: set[int] = set()
    for parcel, values in _keeping(parcels):
        shares = _shares(parcel, stored) if thread.communicator.rank == 0 else []
        thread.do(_from_rank_0(parcel, shares, values), parcel.name, "own values")
        used.update(parcel.params)
    lost = {p for _, p in stored} - used
    if lost:
        warn_of_lost(len(lost))


def _keeping(parcels: Sequence[Parcel]) -> Iterator[tuple[Parcel, Array]]:
    for parcel in parcels:
        values = parcel.own_values()
        if values is not None:
            yield parcel, values


def _shares(parcel: Parcel, stored: ByRank) -> list[Array]:
    """What each rank of now gets.

    The joint gradient has s·Σ e of P residuals, with s = 1/P, or 1 where updates are summed.  For
    another number Q of ranks this stays the same if all get Σ e / P, or Σ e / Q.
    """
    before = 1 + max((rank for rank, _ in stored), default=-1)
    now, sums = parcel.fabric.communicator.size, parcel.fabric.scale == 1
    shares = np.zeros((now, parcel.count), parcel.dtype)
    for i, (p, count) in enumerate(zip(parcel.params, parcel.counts, strict=True)):
        old = [stored[rank, p].reshape(-1) for rank in range(before) if (rank, p) in stored]
        if len(old) != before or any(values.size != count for values in old) or not old:
            continue
        at = slice(parcel.begins[i], parcel.begins[i] + count)
        shares[:, at] = old if before == now else sum(old) / (now if sums else before)
    return list(shares)


def _to_rank_0(parcel: Parcel, mine: Array) -> Steps[list[Array]]:
    communicator = parcel.fabric.communicator
    port = Port(communicator)
    if communicator.rank:
        yield from all_through([Sending(port, mine, 0, parcel.tag)], [])
        return []
    found = [mine.copy()]
    for rank in range(1, communicator.size):
        found.append(np.empty_like(mine))
        receive = Receiving(port, mine.size, mine.dtype, rank, parcel.tag, found[-1])
        yield from all_through([], [receive])
    return found


def _from_rank_0(parcel: Parcel, shares: Sequence[Array], mine: Array) -> Steps[None]:
    communicator = parcel.fabric.communicator
    port = Port(communicator)
    if communicator.rank:
        receive = Receiving(port, mine.size, mine.dtype, 0, parcel.tag, mine)
        yield from all_through([], [receive])
        return
    mine[...] = shares[0]
    sends = [Sending(port, shares[r], r, parcel.tag) for r in range(1, communicator.size)]
    yield from all_through(sends, [])
