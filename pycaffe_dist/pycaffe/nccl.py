"""pycaffe's NCCL: processes that a script has started itself, each with a GPU of its own.

With PCD_CPU set they compute on the CPUs of one machine, and exchange through sockets.

uid = caffe.NCCL.new_uid()                      # in one of them, for all
caffe.set_solver_count(2); caffe.set_solver_rank(rank); caffe.set_device(rank); caffe.set_mode_gpu()
nccl = caffe.NCCL(solver, uid)
nccl.bcast()
solver.add_callback(nccl)
solver.net.after_backward(nccl)                 # if layer by layer, while backward still computes
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pycaffe_dist.errors import MissingPartError, PcdError
from pycaffe_dist.facts import backward_order
from pycaffe_dist.pycaffe import sockets
from pycaffe_dist.pycaffe.modes import CPU_INSTEAD, SETTINGS, cpu_instead

if TYPE_CHECKING:
    from pycaffe_dist.engines.cupy.nccl import Nccl, Pending
    from pycaffe_dist.pycaffe.solver import Solver


def has_nccl() -> bool:
    """Whether there is a GPU, and the library with which several of them exchange."""
    if cpu_instead():
        return True
    from pycaffe_dist.engines.cupy import backend, nccl  # needed by few, and slow to import

    try:
        return backend.device_count(backend.cupy()) > 0 and bool(nccl.version())
    except MissingPartError:
        return False


class NCCL:
    """Averages the gradients of all solvers before each update.

    Args:
        solver: of this process, on a GPU that no other solver has.
        uid: of ``new_uid``.
    """

    def __init__(self, solver: Solver, uid: bytes) -> None:
        self._solver = solver.core
        self._home = self._solver.context.engine.home
        self._nccl = self._others(uid)
        self._complete: dict[int, list[int]] = {}  # parameters by the layer that is last to add
        for layer, param in backward_order(self._solver.net):
            if self._solver.net.params.learnable[param].lr_mult:
                self._complete.setdefault(layer, []).append(param)
        self._passes = 0
        self._pending: dict[int, Pending | sockets.Done] = {}  # by parameter

    def _others(self, uid: bytes) -> Nccl | sockets.Sockets:
        from pycaffe_dist.engines.cupy import CupyEngine, nccl

        engine, rank, ranks = self._solver.context.engine, SETTINGS.rank, SETTINGS.ranks
        if isinstance(engine, CupyEngine):
            return nccl.Nccl(engine, rank, ranks, uid)
        if cpu_instead():
            return sockets.Sockets(rank, ranks, uid)
        raise PcdError(
            "caffe.NCCL is for solvers on GPUs: call set_mode_gpu first. Without GPUs, start the "
            f"script by pcd run --cpu, or set {CPU_INSTEAD}=1"
        )

    @staticmethod
    def new_uid() -> bytes:
        """What all processes of a job have to know of the one that makes it."""
        if cpu_instead():
            return sockets.new_id()
        from pycaffe_dist.engines.cupy.nccl import new_id

        return new_id()

    def bcast(self) -> None:
        """All solvers get the weights of rank 0."""
        rooms = [p.blob.data_value.write(self._home) for p in self._solver.net.params.learnable]
        self._nccl.begin(lambda: self._nccl.broadcast(rooms, root=0)).wait()

    def on_start(self) -> None:
        """An iteration begins: none of its passes is over."""
        self._passes = 0

    def on_gradients_ready(self) -> None:
        """What has not been sent goes now; the update comes after all of it."""
        everything = [p for params in self._complete.values() for p in params]
        self._begin([p for p in everything if p not in self._pending])
        for pending in self._pending.values():
            pending.wait()
        self._pending.clear()

    def __call__(self, layer: int) -> None:
        """After the backward of a layer: its gradients leave, if this is the last pass."""
        if self._passes == self._solver.param.iter_size - 1:
            self._begin(self._complete.get(layer, []))
        if layer == 0:
            self._passes += 1

    def _begin(self, params: Sequence[int]) -> None:
        if not params:
            return
        learnable = self._solver.net.params.learnable
        diffs = [learnable[p].blob.diff_value.write(self._home) for p in params]
        pending = self._nccl.begin(lambda: self._nccl.all_reduce(diffs, mean=True))
        self._pending.update(dict.fromkeys(params, pending))
