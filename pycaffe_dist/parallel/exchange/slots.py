"""Slots: an array of every rank, which comes to every node that asks for it."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import DTypeLike

from pycaffe_dist.aliases import Array
from pycaffe_dist.parallel.exchange.parcel import Fabric
from pycaffe_dist.parallel.transport.collectives import all_through
from pycaffe_dist.parallel.transport.communicator import Steps
from pycaffe_dist.parallel.transport.streams import Port, Receiving, Sending


class Slots:
    """A slot for every rank in memory that the ranks of a node share.

    There are two buffers, which take turns: while a slow rank still reads what has come, a fast one
    may already write its slot of the next iteration.  Before it writes to the first buffer again,
    it has met its mates in the iteration between.

    Args:
        fabric: whose ranks exchange.
        port: where slots leave and enter; it decides in which format values travel.
        tag: of the first rank's slot; the others follow.
        shape, dtype: of a slot.
    """

    def __init__(
        self, fabric: Fabric, port: Port, tag: int, shape: tuple[int, ...], dtype: DTypeLike
    ) -> None:
        self._fabric, self._port, self._tag = fabric, port, tag
        ranks, count = fabric.communicator.size, 1
        for extent in shape:
            count *= extent
        shared = fabric.communicator.share(2 * ranks * count, dtype)
        self._buffers = shared.reshape(2, ranks, *shape)
        self._turn = 0

    def turn(self) -> None:
        """An iteration begins: write to the other buffer."""
        self._turn = 1 - self._turn

    @property
    def all(self) -> Array:
        """The slots of all ranks, in their order."""
        slots: Array = self._buffers[self._turn]
        return slots

    @property
    def mine(self) -> Array:
        slot: Array = self.all[self._fabric.communicator.rank]
        return slot

    def gather(self, receivers: Sequence[int]) -> Steps[None]:
        """Called by leaders: the slots of all ranks come to ``receivers``, who are leaders."""
        slots, rank = self.all, self._fabric.communicator.rank
        nodes = self._fabric.communicator.nodes
        mates = nodes.mates(rank)
        sends = [
            Sending(self._port, slots[mate].reshape(-1), to, self._tag + mate)
            for to in receivers
            if to != rank
            for mate in mates
        ]
        receives: list[Receiving] = []
        if rank in receivers:
            strangers = (r for r in range(len(slots)) if r not in mates)
            receives = [
                Receiving(self._port, slot.size, slot.dtype, leader, self._tag + r, into=slot)
                for r in strangers
                for slot, leader in [(slots[r].reshape(-1), nodes.mates(r)[0])]
            ]
        yield from all_through(sends, receives)
