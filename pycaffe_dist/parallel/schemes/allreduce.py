"""allreduce: every rank gets the mean gradient.

The gradients of all ranks are added up in three levels: in the memory of each node, each of its
ranks adding one part; between the leaders of the nodes by reduce-scatter, each node getting one
slice of the sum; and then the slices are worked on and gathered again.  What is done with a slice
makes the scheme: allreduce divides it by P, sharded (which builds on this) makes new weights of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pycaffe_dist.aliases import Array, DeviceArray
from pycaffe_dist.memory import HOST, aligned
from pycaffe_dist.parallel.exchange.device import DeviceFabric, DeviceParcel
from pycaffe_dist.parallel.exchange.parcel import Contents, Fabric, Parcel, blocks
from pycaffe_dist.parallel.plan.cost import Cost, CostModel, Load
from pycaffe_dist.parallel.schemes.scheme import Scheme
from pycaffe_dist.parallel.transport.collectives import all_gather, bounds, reduce_scatter
from pycaffe_dist.parallel.transport.communicator import Steps
from pycaffe_dist.solver import Solver


class AllreduceParcel(Parcel):
    """Every rank gets the mean gradient: 2(P − 1)/P of the array is sent by each of P nodes."""

    def __init__(self, fabric: Fabric, solver: Solver, contents: Contents) -> None:
        super().__init__(fabric, solver, contents)
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
        for param, piece in zip(self.learnable, self.pieces(room), strict=True):
            piece[...] = param.blob.diff_value.exchange(HOST, piece)

    def steps(self) -> Steps[None]:
        diffs = [param.blob.diff.reshape(-1) for param in self.learnable]
        return self._exchange(diffs, diffs[0] if self.slots is None else self.slots[0])

    def _exchange(self, diffs: Sequence[Array], total: Array) -> Steps[None]:
        node, tag = self.fabric.node, self.tag
        slices = bounds(self.count, len(node.leaders))
        if self.slots is not None:
            for diff, piece in self._aside(diffs, self.slots[node.place]):
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
            for diff, piece in self._aside(diffs, result):
                diff[...] = piece

    def _aside(self, diffs: Sequence[Array], whole: Array) -> Iterator[tuple[Array, Array]]:
        """Gradients with their places in ``whole``, but for those that already lie there."""
        for diff, piece in zip(diffs, self.pieces(whole), strict=True):
            if diff.ctypes.data != piece.ctypes.data:
                yield diff, piece


class DeviceAllreduce(DeviceParcel):
    """Every rank gets the mean gradient, where its own was.

    Where values travel in fewer bits, and where ranks update their own shard, it is made in two
    steps, through an array of P equal shards; the last ones may reach beyond the values.
    """

    def __init__(self, fabric: DeviceFabric, solver: Solver, contents: Contents) -> None:
        super().__init__(fabric, solver, contents)
        ranks = self.nccl.size
        self.shard = -(-self.count // ranks)
        width = self.dtype.itemsize
        if self.updates or not self.wire.exact:
            self.packed = self.wire.room(ranks * self.shard, self.dtype)
            self.total = self.room(self.shard)
            width = self.packed.itemsize
        self.sent = 2 * (ranks - 1) * self.shard * width

    def claim(self) -> None:
        self.diffs = [param.blob.diff_value.write(self.home) for param in self.learnable]

    def exchange(self) -> None:
        if self.wire.exact:
            self.nccl.all_reduce(self.diffs, self.wire.mean)
            return
        self._scatter()
        self._gather(self.total)
        for diff, piece in zip(self.diffs, self.pieces(self.packed), strict=True):
            self.wire.unpack(piece, diff)

    def _scatter(self) -> None:
        """Get this rank's shard of the sum, in ``total``."""
        for diff, piece in zip(self.diffs, self.pieces(self.packed), strict=True):
            self.wire.pack(diff, piece)
        self.wire.add_up(self.packed, self.total)

    def _gather(self, values: DeviceArray) -> None:
        """Get all shards, of which this rank's are ``values``, in ``packed``."""
        begin = self.nccl.rank * self.shard
        mine = self.packed[begin : begin + self.shard]
        self.wire.pack(values, mine)
        self.nccl.all_gather([(mine, self.packed)])


class Allreduce(Scheme):
    """Every rank gets the mean gradient, and updates all weights."""

    name = "allreduce"
    travels = "gradients; small ones together in buckets"
    sent = "2(n-1)/n · wV"
    work = "adds up; updates V values"
    bucketed = True
    stale = "updates"
    host = AllreduceParcel
    device = DeviceAllreduce

    def exchange_cost(self, model: CostModel, load: Load) -> Cost:
        return model.dense(load, model.update(load.values))


ALLREDUCE = Allreduce()
