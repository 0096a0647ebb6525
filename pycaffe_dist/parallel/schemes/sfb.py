"""sfb: sufficient factor broadcasting: the factors of gradients go to all ranks."""

from __future__ import annotations

from collections.abc import Sequence

from pycaffe_dist.aliases import Array, DeviceArray
from pycaffe_dist.parallel.exchange.device import DeviceFabric, DeviceParcel
from pycaffe_dist.parallel.exchange.factors import Factored
from pycaffe_dist.parallel.exchange.parcel import Contents, Fabric
from pycaffe_dist.parallel.exchange.slots import Slots
from pycaffe_dist.parallel.plan.cost import Cost, CostModel, Load
from pycaffe_dist.parallel.schemes.scheme import Scheme
from pycaffe_dist.parallel.transport.communicator import Steps
from pycaffe_dist.solver import Solver


class SfbParcel(Factored):
    """All factors to all ranks, who each make the sum.

    Every node sends K(P − 1)(M + N) values for each of its ranks.  The slot of a rank has the rows
    of A and B side by side.
    """

    def __init__(self, fabric: Fabric, solver: Solver, contents: Contents) -> None:
        super().__init__(fabric, solver, contents)
        shape = self.height, self.factors.width
        self.slots = Slots(fabric, fabric.port, self.tag, shape, self.dtype)

    def collect(self, number: int) -> None:
        if number == 0:
            self.slots.turn()
        rows = self.factors.rows
        self.factors.put(self.slots.mine[number * rows : (number + 1) * rows], self.scale)

    def steps(self) -> Steps[None]:
        node = self.fabric.node
        yield from self.gather(node.leaders)
        yield from node.hear_leader(self.tag)

    def gather(self, receivers: Sequence[int]) -> Steps[None]:
        """The factors of all ranks come to the nodes of ``receivers``, who are leaders."""
        node = self.fabric.node
        if len(node.leaders) > 1:
            self.fabric.port.wire.round(self.slots.mine)
        yield from node.tell_leader(self.tag)
        if node.leads:
            yield from self.slots.gather(receivers)

    def finish(self) -> None:
        engine = self._layer.context.engine
        gradients = [self.gradient(param) for param in self.learnable]
        a, b = self.factors.split(engine.xp.asarray(self.rows()))
        self.factors.multiply(a, b, gradients, engine)

    def rows(self) -> Array:
        """The factors of all ranks, a row for each of their rows, in the order of ranks."""
        slots = self.slots.all
        rows: Array = slots.reshape(-1, slots.shape[-1])
        return rows


class DeviceSfb(Factored, DeviceParcel):
    """All factors to all ranks, who each make the sum: one GEMM over all ranks' rows."""

    def __init__(self, fabric: DeviceFabric, solver: Solver, contents: Contents) -> None:
        super().__init__(fabric, solver, contents)
        ranks = self.nccl.size
        product = self.factors.product
        sizes = [self.height * product.outputs, self.height * product.inputs]
        self.mine = [self.room(size) for size in sizes]
        self.packed = [self.wire.room(ranks * size, self.dtype) for size in sizes]
        self.all = [self.room(ranks * size) for size in sizes]
        self.sent = (ranks - 1) * sum(sizes) * self.packed[0].itemsize

    def collect(self, number: int) -> None:
        a, b = self.factors.now()
        first, second = (
            rows[number * x.size : (number + 1) * x.size]
            for x, rows in zip((a, b), self.mine, strict=True)
        )
        self.engine.launch("scale", self.dtype, a.size, self.scale, a, first)
        second[...] = b.reshape(-1)

    def exchange(self) -> None:
        self.nccl.all_gather(self._pack())
        self._unpack()

    def _pack(self) -> list[tuple[DeviceArray, DeviceArray]]:
        """Put this rank's factors to their place among all ranks': (part, whole) for both."""
        pairs = []
        for mine, packed in zip(self.mine, self.packed, strict=True):
            begin = self.nccl.rank * mine.size
            part = packed[begin : begin + mine.size]
            self.wire.pack(mine, part)
            pairs.append((part, packed))
        return pairs

    def _unpack(self) -> None:
        for packed, values in zip(self.packed, self.all, strict=True):
            self.wire.unpack(packed, values)

    def finish(self) -> None:
        super().finish()
        self._multiply([self.gradient(param) for param in self.learnable])

    def _multiply(self, gradients: Sequence[DeviceArray]) -> None:
        a = self.all[0].reshape(-1, self.factors.product.outputs)
        b = self.all[1].reshape(-1, self.factors.product.inputs)
        self.factors.multiply(a, b, gradients, self._layer.context.engine)


class Sfb(Scheme):
    """All factors to all ranks, who each make the sum."""

    name = "sfb"
    travels = "factors to everybody"
    sent = "(n-1) · r · wK(M+N)"
    work = "a GEMM over the rows of all ranks; updates V values"
    factored = True
    stale = "sfb"
    host = SfbParcel
    device = DeviceSfb

    def exchange_cost(self, model: CostModel, load: Load) -> Cost:
        """The rank's own part of the gradient comes out of the same GEMM: it is no extra work.

        Where staleness is allowed, the others' gradients are one update more.
        """
        sent = (model.nodes - 1) * model.per_node * model.wire * load.factors
        update = (2 if model.stale else 1) * model.update(load.values)
        work = model.touch(2 * load.factors) + model.rebuild(load) + update
        return model.sending(sent, (model.nodes - 1) * model.per_node, work)


SFB = Sfb()
