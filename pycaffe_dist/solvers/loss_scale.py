"""Dynamic loss scaling: what keeps gradients within the range of fp16.

Backward begins with S times the weight of each loss, so all gradients are S times theirs.  Before
the update they are divided by S; if one is NaN or infinite by then, something has overflowed: the
step is left out, and S halves.  After 2000 steps without that, S doubles.  S is a power of two
unless a file says otherwise, so nothing is rounded by it.

All of it is on the device, and nobody waits for it.  Ranks judge gradients that all have got, so
they leave out the same steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pycaffe_dist import caffe_log as log
from pycaffe_dist.aliases import DeviceArray
from pycaffe_dist.events import Displayed, Event, Restored, Snapshotting
from pycaffe_dist.update_step import UpdateStep

if TYPE_CHECKING:
    from pycaffe_dist.engines.cupy.engine import CupyEngine
    from pycaffe_dist.solver import Solver

START, MOST = 2.0**16, 2.0**24
EVERY = 2000  # good steps
NOTE = "loss scale"  # in the notes of a snapshot: S, good steps since it changed, steps left out


class LossScale:
    """The scale of a solver's loss; it takes part in its steps.

    NVCaffe's ``global_grad_scale`` of a net is the first S.  It stays, unless the net has
    ``global_grad_scale_adaptive`` too.
    """

    def __init__(self, solver: Solver, engine: CupyEngine) -> None:
        self._solver, self._engine = solver, engine
        words = solver.net.net_param
        fixed = words.HasField("global_grad_scale") and not words.global_grad_scale_adaptive
        self._every = 0 if fixed else EVERY
        self._dtype = np.dtype(solver.context.dtype)
        self._scale, self._gate = (engine.home.allocate(1, self._dtype) for _ in range(2))
        counts = [engine.home.allocate(1, np.dtype(np.int32)) for _ in range(3)]
        self._bad, self._good, self._skipped = counts
        self._kept = self._scale, self._good, self._skipped  # in snapshots
        self._scale.fill(words.global_grad_scale if words.HasField("global_grad_scale") else START)
        self._steps = False  # whether the solver is in a step, or somebody else runs its net
        self._weights: list[tuple[DeviceArray, DeviceArray]] = []
        self._told: tuple[float, int] | None = None
        solver.on_start.append(self._begin)
        solver.net.before_backward.append(self._scale_up)
        solver.net.after_backward.append(self._put_back)
        solver.subscribers.append(self._hear)

    @property
    def state(self) -> tuple[float, int, int]:
        """S, the good steps since it changed, and how many steps were left out so far."""
        scale, good, skipped = (x.get()[0] for x in self._kept)
        return float(scale), int(good), int(skipped)

    def _begin(self) -> None:
        self._steps = True

    def _scale_up(self, layer: int) -> None:
        """Multiply the weights of a layer's losses, which are in the diffs of its tops."""
        net = self._solver.net
        for view, weight in zip(net.tops[layer], net.layers[layer].loss, strict=False):
            if weight and self._steps:
                diff = view.blob.diff_value.write(self._engine.home)[: view.count]
                plain = diff.copy()
                self._weights.append((diff, plain))
                self._engine.launch("scale_by", diff.dtype, diff.size, 1, self._scale, plain, diff)

    def _put_back(self, layer: int) -> None:
        for diff, plain in self._weights:
            diff[...] = plain
        self._weights.clear()

    def settle(self, step: UpdateStep) -> UpdateStep:
        """Bring all gradients down; the step, which updates nothing if one of them is bad."""
        self._steps = False
        engine = self._engine
        values = [param.blob.diff_value for param in self._solver.net.params.learnable]
        engine.unscale([value for value in values if not value.is_zero], self._scale, self._bad)
        before = engine.one(self._dtype) if step.gate is None else step.gate
        state = self._scale, self._gate, self._bad, self._good, self._skipped
        engine.launch("settle_scale", self._dtype, 1, self._every, MOST, before, *state)
        return step.gated(self._gate)

    # -- what stays of it --------------------------------------------------------------------

    def _hear(self, event: Event) -> None:
        notes = self._solver.notes
        if isinstance(event, Snapshotting):
            notes[NOTE] = list(self.state)
        elif isinstance(event, Restored) and NOTE in notes:
            for room, value in zip(self._kept, notes[NOTE], strict=True):
                room.fill(value)
        elif isinstance(event, Displayed):
            self._tell()

    def _tell(self) -> None:
        scale, _, skipped = self.state
        if self._told != (scale, skipped):
            self._told = scale, skipped
            text = "    Loss scale: %g (%d steps left out so far, for gradients that overflowed)"
            log.info("solver.cpp:290", text, scale, skipped)


def scale_of_loss(solver: Solver) -> LossScale | None:
    """What a new solver's loss is multiplied by, where gradients need that."""
    engine: Any = solver.context.engine
    return LossScale(solver, engine) if engine.scales_loss(solver.net) else None
