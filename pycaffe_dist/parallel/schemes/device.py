"""The schemes between devices: NCCL does what MPI does in dense.py and factors.py.

The main thread issues an exchange as soon as it has issued the layer's backward, and goes on; on
the device it runs on the communication stream.  ``finish`` lets the compute stream wait for it, so
that the host never does, and the order on the two streams keeps memory from being used too early.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pycaffe_dist.engines.cupy.engine import CupyEngine
from pycaffe_dist.engines.cupy.nccl import Nccl, Pending
from pycaffe_dist.memory import Array, Home
from pycaffe_dist.parallel.job.device_watch import DeviceWatch
from pycaffe_dist.parallel.schemes.factors import Factored
from pycaffe_dist.parallel.schemes.parcel import Fabric, Parcel
from pycaffe_dist.parallel.transport.comm_thread import CommThread
from pycaffe_dist.parallel.transport.device_wire import DeviceWire
from pycaffe_dist.solver import Solver

MOST_TIMED = 4096  # exchanges whose events are kept until somebody asks


@dataclass(frozen=True)
class DeviceFabric(Fabric):
    """What parcels of devices travel on."""

    nccl: Nccl
    wire: DeviceWire
    watch: DeviceWatch
    times: DeviceTimes


class DeviceTimes:
    """Seconds that exchanges took, and that computing stood still for them.

    Of those that nobody asks for in time, the oldest are left out.
    """

    def __init__(self) -> None:
        self._under_way: deque[Pending] = deque(maxlen=MOST_TIMED)
        self._busy = self._exposed = 0.0

    def add(self, pending: Pending) -> None:
        self._under_way.append(pending)

    def __call__(self) -> tuple[float, float]:
        """Busy and exposed, of what is over by now."""
        while self._under_way and (seconds := self._under_way[0].seconds()):
            self._under_way.popleft()
            self._busy += seconds[0]
            self._exposed += seconds[1]
        return self._busy, self._exposed


class DeviceParcel(Parcel):
    """Base of the schemes between devices.

    Attributes:
        sent: bytes that this rank sends in an exchange.
    """

    fabric: DeviceFabric
    engine: CupyEngine
    home: Home
    sent = 0

    def __init__(
        self, fabric: DeviceFabric, solver: Solver, params: Sequence[int], layer: int, number: int
    ) -> None:
        self.nccl, self.wire, self.engine = fabric.nccl, fabric.wire, fabric.nccl.engine
        self.home = self.engine.home
        super().__init__(fabric, solver, params, layer, number)

    def begin(self, thread: CommThread) -> None:
        self.claim()
        what = f"{self.name} ({self.scheme})"
        self._pending: Pending = self.fabric.watch.begin(what, self.nccl, self.exchange)
        self.fabric.times.add(self._pending)
        self.job = thread.note(self.name, self.scheme, self.sent)

    def claim(self) -> None:
        """Bring to the device what the exchange works on."""

    def exchange(self) -> None:
        """Issue it: whatever is launched goes to the communication stream."""
        raise NotImplementedError

    def finish(self) -> None:
        self._pending.wait()

    def discard(self, thread: CommThread) -> None:
        super().discard(thread)
        self._pending.wait()

    def room(self, count: int) -> Any:
        return self.home.allocate(count, self.dtype)

    # -- schemes that update -----------------------------------------------------------------

    def take_history(self) -> None:
        super().take_history()
        self.history = [self.engine.xp.asarray(part) for part in self.history]
        self.made = [self.engine.xp.asarray(part) for part in self.made]

    def plain(self, kept: Sequence[Any]) -> list[Array]:
        self.engine.enter()
        return [part.get() for part in kept]

    def claim_weights(self) -> None:
        self.weights = [param.blob.data_value.write(self.home) for param in self.learnable]

    def publish(self, packed: Any) -> None:
        """Bring what all ranks have got, as it travelled, into the weights."""
        at = 0
        for data in self.weights:
            piece = packed[at : at + data.size]
            if self.wire.exact:
                data[...] = piece
            else:
                taken = self.engine.xp.empty(data.size, self.dtype)
                self.wire.unpack(piece, taken)
                data -= taken
            at += data.size


class DeviceAllreduce(DeviceParcel):
    """Every rank gets the mean gradient, where its own was.

    Where values travel in fewer bits, and where ranks update their own shard, it is made in two
    steps, through an array of P equal shards; the last ones may reach beyond the values.
    """

    scheme = "allreduce"

    def __init__(
        self, fabric: DeviceFabric, solver: Solver, params: Sequence[int], layer: int, number: int
    ) -> None:
        super().__init__(fabric, solver, params, layer, number)
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
        at = 0
        for diff in self.diffs:
            self.wire.unpack(self.packed[at : at + diff.size], diff)
            at += diff.size

    def _scatter(self) -> None:
        """Get this rank's shard of the sum, in ``total``."""
        at = 0
        for diff in self.diffs:
            self.wire.pack(diff, self.packed[at : at + diff.size])
            at += diff.size
        self.wire.add_up(self.packed, self.total)

    def _gather(self, values: Any) -> None:
        """Get all shards, of which this rank's are ``values``, in ``packed``."""
        begin = self.nccl.rank * self.shard
        mine = self.packed[begin : begin + self.shard]
        self.wire.pack(values, mine)
        self.nccl.all_gather([(mine, self.packed)])


class DeviceSharded(DeviceAllreduce):
    """Every rank updates its own shard of the weights, with its own shard of the history."""

    scheme = "sharded"
    updates = True

    def __init__(
        self, fabric: DeviceFabric, solver: Solver, params: Sequence[int], layer: int, number: int
    ) -> None:
        super().__init__(fabric, solver, params, layer, number)
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


class DeviceSfb(Factored, DeviceParcel):
    """All factors to all ranks, who each make the sum: one GEMM over all ranks' rows."""

    engine: CupyEngine
    scheme = "sfb"

    def __init__(
        self, fabric: DeviceFabric, solver: Solver, params: Sequence[int], layer: int, number: int
    ) -> None:
        super().__init__(fabric, solver, params, layer, number)
        ranks = self.nccl.size
        sizes = [self.height * self.factors.outputs, self.height * self.factors.inputs]
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

    def _pack(self) -> list[tuple[Any, Any]]:
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
        weights, *bias = (self.gradient(param) for param in self.learnable)
        self._multiply(weights, bias)

    def _multiply(self, weights: Any, bias: Sequence[Any]) -> None:
        """∂W = AᵀB, or BᵀA of a transposed layer;  ∂b = Σ A"""
        a = self.all[0].reshape(-1, self.factors.outputs)
        b = self.all[1].reshape(-1, self.factors.inputs)
        left, right = (b, a) if self.factors.transposed else (a, b)
        out = weights.reshape(left.shape[1], right.shape[1])
        self.engine.xp.matmul(left.T, right, out=out)
        for gradient in bias:
            a.sum(axis=0, out=gradient)


class DeviceSfPush(DeviceSfb):
    """Factors to one owner, who updates the weights and sends them to all."""

    scheme = "sf-push"
    updates = True

    def __init__(
        self, fabric: DeviceFabric, solver: Solver, params: Sequence[int], layer: int, number: int
    ) -> None:
        super().__init__(fabric, solver, params, layer, number)
        self.owner = number % self.nccl.size
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
            self._multiply(self.total[: self.counts[0]], self._bias(self.total))
            self.update(self.total, self.result, 0, self.count)
            self.wire.pack(self.result, self.news)
        self.nccl.broadcast(self.news, self.owner)
        self.publish(self.news)

    def _bias(self, values: Any) -> list[Any]:
        return [values[self.counts[0] :]] if len(self.counts) > 1 else []

    def finish(self) -> None:
        DeviceParcel.finish(self)
