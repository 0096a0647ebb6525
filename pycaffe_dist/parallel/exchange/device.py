"""Parcels between devices: NCCL does for them what MPI does through host memory.

The main thread issues an exchange as soon as it has issued the layer's backward, and continues; on
the device it runs on the communication stream.  ``finish`` lets the compute stream wait for it, so
that the host never does, and the order on the two streams keeps memory from being used too early.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from pycaffe_dist.aliases import Array, DeviceArray
from pycaffe_dist.engines.cupy.engine import CupyEngine
from pycaffe_dist.engines.cupy.nccl import Nccl, Pending
from pycaffe_dist.memory import Home
from pycaffe_dist.parallel.exchange.parcel import Contents, Fabric, Parcel
from pycaffe_dist.parallel.job.device_watch import DeviceWatch
from pycaffe_dist.parallel.transport.comm_thread import CommThread
from pycaffe_dist.parallel.transport.device_wire import DeviceWire
from pycaffe_dist.solver import Solver
from pycaffe_dist.update_step import UpdateStep

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
    """Base of the exchanges between devices.

    Attributes:
        sent: bytes that this rank sends in an exchange.
    """

    fabric: DeviceFabric
    engine: CupyEngine
    home: Home
    sent = 0

    def __init__(self, fabric: DeviceFabric, solver: Solver, contents: Contents) -> None:
        self.nccl, self.wire, self.engine = fabric.nccl, fabric.wire, fabric.nccl.engine
        self.home = self.engine.home
        super().__init__(fabric, solver, contents)

    def begin(self, thread: CommThread, step: UpdateStep) -> None:
        self.step = step
        self.claim()
        what = f"{self.name} ({self.scheme.name})"
        self._pending: Pending = self.fabric.watch.begin(what, self.nccl, self.exchange)
        self.fabric.times.add(self._pending)
        self.job = thread.note(self.name, self.scheme.name, self.sent)

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

    def room(self, count: int) -> DeviceArray:
        return self.home.allocate(count, self.dtype)

    # -- schemes that update -----------------------------------------------------------------

    def take_history(self) -> None:
        super().take_history()
        asarray = self.engine.xp.asarray
        self.history = {slot: asarray(part) for slot, part in self.history.items()}
        self.made = [asarray(part) for part in self.made]

    def plain(self, kept: Sequence[DeviceArray]) -> list[Array]:
        self.engine.enter()
        return [part.get() for part in kept]

    def claim_weights(self) -> None:
        self.weights = [param.blob.data_value.write(self.home) for param in self.learnable]

    def publish(self, packed: DeviceArray) -> None:
        """Bring what all ranks have got, as it travelled, into the weights."""
        for data, piece in zip(self.weights, self.pieces(packed), strict=True):
            if self.wire.exact:
                data[...] = piece
            else:
                taken = self.engine.xp.empty(data.size, self.dtype)
                self.wire.unpack(piece, taken)
                data -= taken
