"""DWBP: distributed wait-free backpropagation.

As the backward of a layer ends, its gradients leave, while the layers below still compute.  What
comes back is updated in the pauses, so that the wait for the last of it is not idle, and the next
forward waits for each layer as it gets there.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycaffe_dist.parallel.exchange.parcel import Parcel
from pycaffe_dist.parallel.transport.comm_thread import CommThread
from pycaffe_dist.parallel.verdict import Verdict
from pycaffe_dist.solver import Solver
from pycaffe_dist.solvers.update import waits


class Dwbp:
    """Sends the parcels of a solver's net in the order of the plan.

    Args:
        solver: whose net's hooks are used.
        parcels: every parameter that learns, once, in the order in which exchanges start.
        thread: which takes the exchanges forward.
        verdict: whether updates may be made.
        overlap: False: all exchanges start, and end, after backward.
    """

    def __init__(
        self,
        solver: Solver,
        parcels: Sequence[Parcel],
        thread: CommThread,
        verdict: Verdict,
        overlap: bool,
    ) -> None:
        self.solver, self.parcels, self.thread = solver, list(parcels), thread
        self.verdict, self.overlap = verdict, overlap
        self.waits = bool(waits(solver.param, solver.rule))
        net = solver.net
        self._begins: list[list[Parcel]] = [[] for _ in net.layers]
        self._uses: list[list[Parcel]] = [[] for _ in net.layers]
        owner = {p: parcel for parcel in self.parcels for p in parcel.params}
        for parcel in self.parcels:
            self._begins[parcel.layer].append(parcel)
        for i, ids in enumerate(net.params.ids):
            self._uses[i] = list(dict.fromkeys(owner[p] for p in ids if p in owner))
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
        for hook, function in self._hooks:
            hook.append(function)

    def close(self) -> None:
        self.settle()
        for hook, function in self._hooks:
            hook.remove(function)
        for parcel in self.parcels:
            parcel.close()

    # -- an iteration ------------------------------------------------------------------------

    def clear_gradients(self) -> None:
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
        parcel.begin(self.thread, self.solver.next_step())

    def apply_update(self) -> None:
        solver = self.solver
        self._steps = False
        self.verdict.decide(True)
        if not self.overlap:
            for parcel in self.parcels:
                self._begin(parcel)
        if self.waits:
            for parcel in self.parcels:
                self._receive(parcel)
        self._step = step = solver.begin_update()
        if self.waits:
            solver.clip_gradients(step)
            for parcel in self.parcels:
                self._update(parcel)
        for p in self._fixed:
            solver.update_param(p, step)
        if not self.overlap:
            self.settle()
        solver.end_update(step)

    def settle(self) -> None:
        """Wait for everything that is under way."""
        for parcel in self.parcels:
            self._finish(parcel)

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
            for p in parcel.params:
                self.solver.update_param(p, self._step)
