"""sharded: every rank updates its own shard of the weights, with its own shard of the history.

Gradients are added up as in allreduce; what is gathered is new weights.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycaffe_dist.aliases import Array
from pycaffe_dist.parallel.exchange.device import DeviceFabric
from pycaffe_dist.parallel.exchange.parcel import Contents, blocks
from pycaffe_dist.parallel.plan.cost import Cost, CostModel, Load
from pycaffe_dist.parallel.schemes.allreduce import AllreduceParcel, DeviceAllreduce
from pycaffe_dist.parallel.schemes.scheme import Scheme
from pycaffe_dist.parallel.transport.communicator import Steps
from pycaffe_dist.solver import Solver


class ShardedParcel(AllreduceParcel):
    """Every rank updates its own shard of the weights, with its own shard of the history."""

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


class DeviceSharded(DeviceAllreduce):
    """Every rank updates its own shard of the weights, with its own shard of the history."""

    def __init__(self, fabric: DeviceFabric, solver: Solver, contents: Contents) -> None:
        super().__init__(fabric, solver, contents)
        self.result = self.room(self.shard)

    def held_by(self, rank: int) -> tuple[int, int]:
        begin, end = rank * self.shard, (rank + 1) * self.shard
        return min(begin, self.count), min(end, self.count)

    def claim(self) -> None:
        super().claim()
        self.claim_weights()

    def exchange(self) -> None:
        self._scatter()
        self.update(self.total, self.result, *self.held_by(self.nccl.rank))
        self._gather(self.result)
        self.publish(self.packed)


class Sharded(Scheme):
    """Every rank makes new weights of a slice of the sum, and sends them to all."""

    name = "sharded"
    travels = "gradients to their owner, new weights back"
    sent = "2(n-1)/n · wV"
    work = "adds up; updates V/P values"
    updates = True
    least_bytes = 1 << 20  # below, a smaller update does not pay for an exchange of its own
    stale = "updates"
    host = ShardedParcel
    device = DeviceSharded

    def exchange_cost(self, model: CostModel, load: Load) -> Cost:
        return model.dense(load, model.update(load.values / model.ranks))


SHARDED = Sharded()
