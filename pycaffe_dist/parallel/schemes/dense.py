"""Schemes that carry the gradients themselves.

The gradients of all ranks are added up in three levels: in the memory of each node, each of its
ranks adding one part; between the leaders of the nodes by reduce-scatter, each node getting one
slice of the sum; and then the slices are worked on and gathered again.  What is done with a slice
makes the scheme: *allreduce* divides it by P, *sharded* makes new weights of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pycaffe_dist.memory import HOST, Array, aligned
from pycaffe_dist.parallel.schemes.parcel import Fabric, Parcel, blocks
from pycaffe_dist.parallel.transport.collectives import all_gather, bounds, reduce_scatter
from pycaffe_dist.parallel.transport.communicator import Steps
from pycaffe_dist.solver import Solver


class Allreduce(Parcel):
    """Every rank gets the mean gradient: 2(P − 1)/P of the array is sent by each of P nodes."""

    scheme = "allreduce"

    def __init__(
        self, fabric: Fabric, solver: Solver, params: Sequence[int], layer: int, number: int
    ) -> None:
        super().__init__(fabric, solver, params, layer, number)
        mates = len(fabric.node.mates)
        # On a node of one rank gradients are exchanged where they are.
        self.slots: Array | None = None
        if mates > 1:
            room = fabric.communicator.share(mates * self.count, self.dtype)
            self.slots = room.reshape(mates, self.count)
        elif len(self.params) > 1:
            self.slots = aligned(self.count, self.dtype).reshape(1, self.count)
            self._move_gradients(self.slots[0])

    def _move_gradients(self, room: Array) -> None:
        """Let the gradients live side by side, so that they need not be copied there."""
        begin = 0
        for param in self.learnable:
            end = begin + param.blob.count
            room[begin:end] = param.blob.diff_value.exchange(HOST, room[begin:end])
            begin = end

    def steps(self) -> Steps[None]:
        diffs = [param.blob.diff.reshape(-1) for param in self.learnable]
        return self._exchange(diffs, diffs[0] if self.slots is None else self.slots[0])

    def _exchange(self, diffs: Sequence[Array], total: Array) -> Steps[None]:
        node, tag = self.fabric.node, self.tag
        slices = bounds(self.count, len(node.leaders))
        if self.slots is not None:
            for diff, piece in _aside(diffs, self.slots[node.place]):
                piece[...] = diff
            yield from self._add_up(self.slots)
        if node.leads:
            yield from reduce_scatter(self.fabric.port, node.leaders, total, slices, tag)
        yield from node.hear_leader(tag)
        begin, end = self.held_by(self.fabric.communicator.rank)
        yield from self._work(total, begin, end)
        yield from node.tell_leader(tag)
        result = self._result(total)
        if node.leads:
            yield from all_gather(self.fabric.port, node.leaders, result, slices, tag)
        yield from node.hear_leader(tag)
        self._bring(result, diffs)
        yield from node.tell_leader(tag)  # all have read: `total` may be written to again

    def _add_up(self, slots: Array) -> Steps[None]:
        """Add the gradients of the node in its first slot, each rank one part of them."""
        node = self.fabric.node
        yield from node.meet(self.tag)
        begin, end = bounds(self.count, len(node.mates))[node.place : node.place + 2]
        for mate in slots[1:]:
            for block in blocks(begin, end):
                slots[0, block] += mate[block]
                yield True
        yield from node.tell_leader(self.tag)

    def held_by(self, rank: int) -> tuple[int, int]:
        """The part that ``rank`` works on: its share of the slice of its node."""
        nodes = self.fabric.communicator.nodes
        mates, node = nodes.mates(rank), nodes.of_rank[rank]
        begin, end = bounds(self.count, nodes.count)[node : node + 2]
        parts = bounds(end - begin, len(mates))
        place = mates.index(rank)
        return begin + parts[place], begin + parts[place + 1]

    # -- what makes the scheme ---------------------------------------------------------------

    def _work(self, total: Array, begin: int, end: int) -> Steps[None]:
        """Turn the sum, from ``begin`` to ``end``, into what is gathered."""
        for block in blocks(begin, end):
            total[block] *= self.scale
            yield True

    def _result(self, total: Array) -> Array:
        """The array that is gathered."""
        return total

    def _bring(self, result: Array, diffs: Sequence[Array]) -> None:
        if self.slots is not None:
            for diff, piece in _aside(diffs, result):
                diff[...] = piece


class Sharded(Allreduce):
    """Every rank updates its own shard of the weights, with its own shard of the history."""

    scheme = "sharded"
    updates = True

    def steps(self) -> Steps[None]:
        self.claim_weights()
        return super().steps()

    def _work(self, total: Array, begin: int, end: int) -> Steps[None]:
        result = self._result(total)
        yield from self.fabric.verdict.wait()
        for block in blocks(begin, end):
            total[block] *= self.scale
            self.update(total[block], result[block], block.start, block.stop)
            yield True

    def _result(self, total: Array) -> Array:
        """The weights themselves, if they can be received where they are."""
        in_place = self.slots is None and self.fabric.port.wire.exact
        return self.weights[0] if in_place else total

    def _bring(self, result: Array, diffs: Sequence[Array]) -> None:
        self.publish(result)


def _aside(arrays: Sequence[Array], whole: Array) -> Iterator[tuple[Array, Array]]:
    """Arrays with their places, end to end, in ``whole``, but for those that are already there."""
    at = 0
    for array in arrays:
        piece = whole[at : at + array.size]
        if array.ctypes.data != piece.ctypes.data:
            yield array, piece
        at += array.size
