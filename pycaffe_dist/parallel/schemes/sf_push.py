"""sf-push: the factors of gradients go to one owner, who sends new weights back."""

from __future__ import annotations

from dataclasses import replace

from pycaffe_dist.aliases import Array
from pycaffe_dist.parallel.exchange.device import DeviceFabric, DeviceParcel
from pycaffe_dist.parallel.exchange.parcel import BLOCK, Contents, Fabric
from pycaffe_dist.parallel.plan.cost import Cost, CostModel, Load
from pycaffe_dist.parallel.schemes.scheme import Scheme
from pycaffe_dist.parallel.schemes.sfb import DeviceSfb, SfbParcel
from pycaffe_dist.parallel.transport.collectives import one_to_all
from pycaffe_dist.parallel.transport.communicator import Steps
from pycaffe_dist.solver import Solver


class SfPushParcel(SfbParcel):
    """Factors to one owner, who updates the weights and sends them back to all.

    A node sends K(M + N) values for each of its ranks, the owner (P − 1)MN besides.  Owners take
    turns over the parcels of a plan, and only they keep the history.
    """

    def __init__(self, fabric: Fabric, solver: Solver, contents: Contents) -> None:
        super().__init__(fabric, solver, contents)
        leaders = fabric.node.leaders
        self.owner = leaders[contents.number % len(leaders)]
        alone = len(fabric.node.mates) == 1
        in_place = alone and len(self.params) == 1 and fabric.port.wire.exact
        self._result = None if in_place else fabric.communicator.share(self.count, self.dtype)

    def steps(self) -> Steps[None]:
        self.claim_weights()
        return self._exchange()

    def held_by(self, rank: int) -> tuple[int, int]:
        return (0, self.count) if rank == self.owner else (0, 0)

    def _exchange(self) -> Steps[None]:
        node, rank = self.fabric.node, self.fabric.communicator.rank
        result = self.weights[0] if self._result is None else self._result
        yield from self.gather([self.owner])
        if node.leads:
            if rank == self.owner:
                yield from self.fabric.verdict.wait()
                yield from self._update_all(result)
            yield from one_to_all(
                self.fabric.port, node.leaders, self.owner, result, self.tag + self.owner
            )
        yield from node.hear_leader(self.tag)
        self.publish(result)
        yield from node.tell_leader(self.tag)

    def _update_all(self, result: Array) -> Steps[None]:
        """The sum and the update, some rows of the weights at a time."""
        a, b = self.factors.split(self.rows())
        left, right = self.factors.product.sides(a, b)
        width = right.shape[1]
        rows = max(1, BLOCK // width)
        for row in range(0, left.shape[1], rows):
            gradient = (left[:, row : row + rows].T @ right).reshape(-1)
            at = slice(row * width, row * width + gradient.size)
            self.update(gradient, result[at], at.start, at.stop)
            yield True
        if len(self.params) > 1:
            begin = self.counts[0]
            gradient = a.sum(axis=0)
            self.update(gradient, result[begin:], begin, self.count)

    def finish(self) -> None:
        pass


class DeviceSfPush(DeviceSfb):
    """Factors to one owner, who updates the weights and sends them to all."""

    def __init__(self, fabric: DeviceFabric, solver: Solver, contents: Contents) -> None:
        super().__init__(fabric, solver, contents)
        self.owner = contents.number % self.nccl.size
        self.total, self.result = self.room(self.count), self.room(self.count)
        self.news = self.wire.room(self.count, self.dtype)
        push = self.sent // (self.nccl.size - 1)
        owns = self.owner == self.nccl.rank
        self.sent = (self.nccl.size - 1) * self.news.nbytes if owns else push

    def held_by(self, rank: int) -> tuple[int, int]:
        return (0, self.count) if rank == self.owner else (0, 0)

    def claim(self) -> None:
        self.claim_weights()

    def exchange(self) -> None:
        for part, whole in self._pack():
            self.nccl.gather(part, whole, self.owner)
        if self.nccl.rank == self.owner:
            self._unpack()
            self._multiply(self.pieces(self.total))
            self.update(self.total, self.result, 0, self.count)
            self.wire.pack(self.result, self.news)
        self.nccl.broadcast([self.news], self.owner)
        self.publish(self.news)

    def finish(self) -> None:
        DeviceParcel.finish(self)


class SfPush(Scheme):
    """Factors to one owner, who makes the sum, updates the weights and sends them to all."""

    name = "sf-push"
    travels = "factors to one owner, new weights back"
    sent = "(n-1) · wV by the owner"
    work = "the owner: the GEMM and the update"
    factored = True
    updates = True
    stale = "sfb"
    host = SfPushParcel
    device = DeviceSfPush

    def exchange_cost(self, model: CostModel, load: Load) -> Cost:
        """The owner's: it takes in everybody's factors, then sends everybody the matrix."""
        received = (model.nodes - 1) * model.per_node * model.wire * load.factors
        pushed = model.on_link(received, (model.nodes - 1) * model.per_node)
        work = model.touch(2 * load.factors) + model.rebuild(load) + model.update(load.values)
        sent = (model.nodes - 1) * model.wire * load.values
        back = model.sending(sent, model.nodes - 1, work + model.through_node(load))
        return replace(back, link=pushed + back.link)


SF_PUSH = SfPush()
