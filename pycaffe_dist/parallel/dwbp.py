"""DWBP: distributed wait-free backpropagation.

As the backward of a layer ends, its gradients leave, while the layers below still compute.  What
comes back is updated in the pauses, so that the wait for the last of it is not idle, and the next
forward waits for each layer as it gets there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Blob
from pycaffe_dist.parallel.board import Board
from pycaffe_dist.parallel.decisions import LOSS
from pycaffe_dist.parallel.exchange import own_values
from pycaffe_dist.parallel.exchange.parcel import Contents, Parcel
from pycaffe_dist.parallel.plan.plan import Entry, together
from pycaffe_dist.parallel.schemes.scheme import schemes
from pycaffe_dist.parallel.stepper import ClusterStepper, Joint
from pycaffe_dist.parallel.transport.comm_thread import CommThread
from pycaffe_dist.solvers.update import waits
from pycaffe_dist.update_step import UpdateStep


class Dwbp(ClusterStepper):
    """Sends the parcels of a solver's net in the order of the plan.

    Attributes:
        parcels: every parameter that learns, once, in the order in which exchanges start.
    """

    def __init__(self, joint: Joint) -> None:
        super().__init__(joint)
        self.overlap = joint.settings.overlap
        self.parcels = [
            self._parcel(number, entries)
            for number, entries in enumerate(together(joint.plan.entries))
        ]
        solver, net = self.solver, self.solver.net
        scales = solver.context.engine.scales_loss(net)
        self.waits = bool(waits(solver.param, solver.rule, scales))
        self._begins: list[list[Parcel]] = [[] for _ in net.layers]
        owner = {p: parcel for parcel in self.parcels for p in parcel.params}
        for parcel in self.parcels:
            self._begins[parcel.layer].append(parcel)
        self._uses = [
            list(dict.fromkeys(owner[p] for p in ids if p in owner)) for ids in net.params.ids
        ]
        learnable = range(len(net.params.learnable))
        self._fixed = [p for p in learnable if p not in owner]
        self._to_clear: set[Parcel] = set()
        self._pass = 0
        self._step = solver.next_step()  # by which what comes back is updated
        self._steps = False  # whether the solver is taking a step, or somebody else uses its net
        self._hooks = [
            (net.before_forward, self._before_forward),
            (net.after_backward, self._after_backward),
        ]

    def _parcel(self, number: int, entries: list[Entry]) -> Parcel:
        scheme = schemes()[entries[0].scheme]
        params = tuple(p for entry in entries for p in entry.params)
        layer = min(entry.layer for entry in entries)
        contents = Contents(scheme, params, layer, number)
        return self.joint.way.exchange(scheme)(self.joint.fabric, self.solver, contents)

    def start(self, thread: CommThread) -> None:
        self._notes = Board(thread)
        for hook, function in self._hooks:
            hook.append(function)
        super().start(thread)

    def close(self) -> None:
        self._finish_all()
        for hook, function in self._hooks:
            hook.remove(function)
        for parcel in self.parcels:
            parcel.close()
        super().close()

    # -- an iteration ------------------------------------------------------------------------

    def _clear(self) -> None:
        """Gradients under way are cleared when they have come back and forward needs them."""
        self._to_clear.update(self.parcels)
        self._pass = 0
        self._steps = True
        for p in self._fixed:
            self.solver.net.params.learnable[p].blob.diff_value.zero()

    def _before_forward(self, layer: int) -> None:
        for parcel in self._uses[layer]:
            self._finish(parcel)
            if parcel in self._to_clear:
                self._to_clear.discard(parcel)
                for param in parcel.learnable:
                    param.blob.diff_value.zero()

    def _after_backward(self, layer: int) -> None:
        if not self._steps:
            return
        for parcel in self._begins[layer]:
            parcel.collect(self._pass)
            if self.overlap and self._pass == self.solver.param.iter_size - 1:
                self._begin(parcel)
        if layer == 0:
            self._pass += 1

    def _begin(self, parcel: Parcel) -> None:
        # A parcel that updates does so before begin_update has told the rate to everybody.
        parcel.begin(self.thread, self._gated(self.solver.next_step()))

    def _gated(self, step: UpdateStep) -> UpdateStep:
        """An update that makes none after a loss that is no number, which the host may not know."""
        return step if self._gate is None else step.gated(self._gate.factor)

    def _apply(self) -> None:
        solver = self.solver
        self._steps = False
        self.verdict.decide(True)
        if not self.overlap:
            for parcel in self.parcels:
                self._begin(parcel)
        if self.waits:
            for parcel in self.parcels:
                self._receive(parcel)
        self._step = step = self.unscaled(self._gated(solver.begin_update()))
        if self.waits:
            solver.clip_gradients(step)
            for parcel in self.parcels:
                self._update(parcel)
        solver.update_params(self._fixed, step)
        if not self.overlap:
            self._finish_all()
        solver.end_update(step)

    def _finish_all(self) -> None:
        """Wait for everything that is under way."""
        for parcel in self.parcels:
            self._finish(parcel)

    def discard_update(self) -> None:
        self.verdict.decide(False)
        for parcel in self.parcels:
            if parcel.job is not None:
                parcel.discard(self.thread)

    # -- losses and requests -----------------------------------------------------------------

    def _tell(self, row: Sequence[float]) -> None:
        self._notes.offer(row)

    def _boards(self, settling: bool) -> list[tuple[int, Array]]:
        return self._notes.read(settling)

    def known_losses(self) -> Array | None:
        known = self._losses is None and self._notes.complete
        return self._notes.offered()[:, LOSS] if known else None

    def shown(self, values: list[float]) -> list[float]:
        return self.solver.ranks.mean(values)

    # -- what comes back ---------------------------------------------------------------------

    def _finish(self, parcel: Parcel) -> None:
        if parcel.job is not None:
            self.thread.wait(parcel.job, self._finish_any)
        if parcel.job is not None:
            self._receive(parcel)
            self._update(parcel)

    def _finish_any(self) -> bool:
        """Finish something that has come back meanwhile, if there is anything."""
        for parcel in self.parcels:
            if parcel.job is not None and parcel.job.done:
                self._receive(parcel)
                self._update(parcel)
                return True
        return False

    def _receive(self, parcel: Parcel) -> None:
        assert parcel.job is not None
        self.thread.wait(parcel.job)
        parcel.job = None
        parcel.finish()

    def _update(self, parcel: Parcel) -> None:
        if not parcel.updates:
            self.solver.update_params(parcel.params, self._step)

    # -- snapshots ---------------------------------------------------------------------------

    def _updating(self) -> list[Parcel]:
        return [parcel for parcel in self.parcels if parcel.updates]

    def take_history(self) -> None:
        for parcel in self._updating():
            parcel.take_history()

    def gather_history(self) -> None:
        for parcel in self._updating():
            self.thread.do(parcel.gather_history(), parcel.name, "history")

    @contextmanager
    def whole_history(self) -> Iterator[Iterable[Blob]]:
        self.compare_weights()  # a snapshot speaks for all ranks
        self.gather_history()
        yield self.solver.history
        for parcel in self._updating():
            parcel.drop_history()

    def own_values(self) -> dict[tuple[int, int], Array]:
        return own_values.gather(self.parcels, self.thread)

    def deal_own_values(self, stored: dict[tuple[int, int], Array]) -> None:
        own_values.deal(self.parcels, self.thread, stored)
