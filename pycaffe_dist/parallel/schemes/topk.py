"""topk: every rank sends the k largest values of its gradient, and keeps the rest for later.

Top-k sparsification with error feedback.  In step t rank r has the gradient g and a residual e:

    a = e + g;   S = the k places where |a| is largest;   sent: S and q(a[S]);   e ← a − q(a[S])

q is what the wire's format makes of a value, so that its rounding is fed back as well.  The joint
gradient is the sum over ranks of what was sent, times 1/P.  Nothing is lost: what a rank has not
sent is still in its residual, Σ sent = Σ g − e.  With k = all (and fp32 on the wire) the residual
stays 0, and this is an all-reduce.

k is a fraction of the parcel's values (``--topk-fraction``), at least 1.  Where several values are
equally large, the first ones go.  The residual is unscaled: the rate, weight decay, momentum and
clipping apply to the joint gradient when it has come, as they do in an all-reduce.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.parallel.exchange.parcel import Contents, Fabric, Parcel, blocks
from pycaffe_dist.parallel.exchange.slots import Slots
from pycaffe_dist.parallel.plan.cost import Cost, CostModel, Load
from pycaffe_dist.parallel.schemes.scheme import Option, Scheme
from pycaffe_dist.parallel.transport.communicator import Steps
from pycaffe_dist.parallel.transport.streams import Port
from pycaffe_dist.solver import Solver

FRACTION = "topk-fraction"  # the flag
PLACE = np.dtype(np.uint32)  # where a value belongs


def kept(count: int, fraction: float) -> int:
    """k: how many of ``count`` values are sent."""
    return max(1, math.ceil(count * fraction))


def largest(values: Array, k: int) -> Array:
    """The places of the k largest magnitudes, in order; NaN counts as larger than any number."""
    if k >= values.size:
        return np.arange(values.size)
    size = np.abs(values)
    size[np.isnan(size)] = np.inf
    least = np.partition(size, size.size - k)[size.size - k]
    above, equal = np.flatnonzero(size > least), np.flatnonzero(size == least)
    places: Array = np.sort(np.concatenate([above, equal[: k - above.size]]))
    return places


class TopkParcel(Parcel):
    """Places and values of all ranks come to all nodes, as the factors of sfb do.

    A slot has the k values, as the wire packs them, and behind them their places.  Its bytes travel
    as they are.
    """

    def __init__(self, fabric: Fabric, solver: Solver, contents: Contents) -> None:
        super().__init__(fabric, solver, contents)
        self.k = kept(self.count, fabric.options[FRACTION])
        self.residual = np.zeros(self.count, self.dtype)
        self._left = np.empty(self.count, self.dtype)  # the next residual
        self._split = self.k * fabric.port.wire.size(self.dtype)
        exact = Port(fabric.communicator, pace=fabric.port.pace)
        size = self._split + self.k * PLACE.itemsize
        self.slots = Slots(fabric, exact, self.tag, (size,), np.uint8)

    def steps(self) -> Steps[None]:
        return self._exchange([param.blob.diff.reshape(-1) for param in self.learnable])

    def _exchange(self, diffs: Sequence[Array]) -> Steps[None]:
        node = self.fabric.node
        self.slots.turn()
        yield from self._choose(diffs)
        yield from node.tell_leader(self.tag)
        if node.leads:
            yield from self.slots.gather(node.leaders)
        yield from node.hear_leader(self.tag)
        yield from self._add_up(diffs)

    def _choose(self, diffs: Sequence[Array]) -> Steps[None]:
        """Write this rank's slot; what is not sent becomes the next residual."""
        wire, rest = self.fabric.port.wire, self._left
        for diff, begin in zip(diffs, self.begins, strict=True):
            for block in blocks(begin, begin + diff.size):
                mine = diff[block.start - begin : block.stop - begin]
                np.add(self.residual[block], mine, out=rest[block])
                yield True
        places = largest(rest, self.k)
        yield True
        packed = wire.pack(rest[places])
        rest[places] = 0 if wire.exact else rest[places] - wire.unpack(packed)
        self.slots.mine[: self._split] = packed.view(np.uint8)
        self.slots.mine[self._split :] = places.astype(PLACE).view(np.uint8)

    def _add_up(self, diffs: Sequence[Array]) -> Steps[None]:
        """The gradients become the mean of what all ranks have sent, added in their order."""
        wire = self.fabric.port.wire
        packed_type = wire.room(0, self.dtype).dtype
        for diff in diffs:
            diff[...] = 0
        for slot in self.slots.all:
            values = wire.unpack(slot[: self._split].view(packed_type)) * self.scale
            places = slot[self._split :].view(PLACE)
            cuts = np.searchsorted(places, [*self.begins, self.count])
            for diff, begin, lo, hi in zip(diffs, self.begins, cuts, cuts[1:], strict=False):
                diff[places[lo:hi] - PLACE.type(begin)] += values[lo:hi]
            yield True

    def finish(self) -> None:
        """Only now: after a discarded step the residual is what it was before."""
        self.residual, self._left = self._left, self.residual

    def own_values(self) -> Array:
        return self.residual


class Topk(Scheme):
    """The largest values of every rank's gradient to all ranks, who each add them up."""

    name = "topk"
    travels = "the largest values of gradients, with their places, to everybody"
    sent = "(n-1) · r · (w+4)k"
    work = "selects k of V; adds up Pk; updates V values"
    exact = False
    automatic = False
    bucketed = True
    options = (Option("fraction", 0.01, "of the values of a gradient that topk sends in a step"),)
    host = TopkParcel

    def exchange_cost(self, model: CostModel, load: Load) -> Cost:
        """Selecting reads and writes the values about a dozen times; the sum is scattered."""
        k = kept(load.values, model.options[FRACTION])
        sent = (model.nodes - 1) * model.per_node * (model.wire + PLACE.itemsize) * k
        work = model.touch(12 * load.values + 3 * model.ranks * k) + model.update(load.values)
        return model.sending(sent, (model.nodes - 1) * model.per_node, work)


TOPK = Topk()
