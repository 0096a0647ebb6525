"""Solver: trains a net by Caffe's rules.  It tells events and prints nothing."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum

from pycaffe_dist import caffe_log as log
from pycaffe_dist import loading
from pycaffe_dist.aliases import Facts
from pycaffe_dist.engines.base import Loss
from pycaffe_dist.errors import NetError
from pycaffe_dist.events import (
    Clipped,
    Displayed,
    Event,
    LastLoss,
    RateChosen,
    SolveBegins,
    SolveEnds,
    StepPassed,
    Subscriber,
    Updated,
)
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.nets import SolverNet, test_nets, train_net
from pycaffe_dist.rng import set_random_seed
from pycaffe_dist.solvers import snapshots, testing, update
from pycaffe_dist.solvers.history import History
from pycaffe_dist.solvers.loss_scale import scale_of_loss
from pycaffe_dist.solvers.one_rank import OneRank
from pycaffe_dist.solvers.policies import Plateau, learning_rate
from pycaffe_dist.solvers.rules import Rule, create_rule
from pycaffe_dist.solvers.stepper import Stepper
from pycaffe_dist.solvers.weight_average import WeightAverage
from pycaffe_dist.solvers.writer import Writer
from pycaffe_dist.update_step import UpdateStep

LOOK_EVERY = 100  # iterations, where there is no display, to look at a loss on a device


class Action(Enum):
    """What a signal or a script asks of a running solver."""

    NONE = "none"
    STOP = "stop"
    SNAPSHOT = "snapshot"


class Solver:
    """A training net, its test nets, and the state of their training.

    Args:
        param: the solver, already upgraded.
        context: number type, home and rank of its nets.

    Attributes:
        on_start, on_gradients_ready: functions called before the forward passes of an iteration and
            between its gradients and its update.
        on_settled: functions called when the updates and losses of all ranks are known to each.
        requested_action: asked after every update and before every test batch.
        stepper: clears gradients, shares losses and makes updates; where distribution attaches.
        ranks: who else trains with this solver.
        notes: what subscribers and policies want to find again when training continues: values that
            JSON can hold.
        writer: writes snapshots while training continues; without one they are waited for.
        average: of the weights, where the solver's file asks for one.
    """

    def __init__(self, param: SolverParameter, context: Context | None = None) -> None:
        self.param = param
        self.context = context or Context()
        self.ranks = OneRank()
        self.stepper = Stepper(self)
        self.iter = 0
        self.current_step = 0
        self.plateau = Plateau()
        self.subscribers: list[Subscriber] = []
        self.on_start: list[Callable[[], object]] = []
        self.on_gradients_ready: list[Callable[[], object]] = []
        self.on_settled: list[Callable[[], object]] = []
        self.requested_action: Callable[[], Action] = lambda: Action.NONE
        self.notes: Facts = {}
        self.writer: Writer | None = None
        self.stopped_early = False
        self._losses: list[Loss] = []
        self.last_loss: Loss = 0.0
        self._seen_loss = math.nan  # the last one that somebody looked at
        self.smoothed_loss: Loss = 0.0
        self._display_time = time.perf_counter()
        self._display_iter = 0
        self._scaffold(param)

    def _scaffold(self, param: SolverParameter) -> None:
        """Build the rule, the nets and the history of updates."""
        text = str(param).rstrip()
        log.info("solver.cpp:45", f"Initializing solver from parameters: \n{text}")
        if param.average_loss < 1:
            raise NetError(f"average_loss must be 1 or more, not {param.average_loss}")
        if param.iter_size < 1:
            raise NetError(f"iter_size must be 1 or more, not {param.iter_size}")
        self.rule: Rule = create_rule(param)
        learning_rate(param, 0, 0)
        if param.snapshot:
            snapshots.check_writable(self.snapshot_stem())
        if param.random_seed >= 0:
            set_random_seed(param.random_seed + self.context.rank)
        self.net = self._build(train_net(param))
        self.test_nets = [self._build(net) for net in test_nets(param)]
        shapes = [p.blob.shape for p in self.net.params.learnable]
        self.history = History(self.rule.slots, shapes, self.context.dtype)
        if param.weights:
            self.load_weights(*(p.strip() for entry in param.weights for p in entry.split(",")))
        self.loss_scale = scale_of_loss(self)
        self.average = WeightAverage(self) if param.ema_decay else None
        if self.average:
            self.subscribers.append(self.average)
        log.info("solver.cpp:57", "Solver scaffolding done.")

    def _build(self, described: SolverNet) -> Net:
        source = described.source if isinstance(described.source, str) else "inline"
        if described.role == "train net":
            log.info("solver.cpp:102", "Creating training net from net file: %s", source)
        else:
            number = described.role.split("#")[1]
            log.info(
                "solver.cpp:190",
                "Creating test net (#%s) specified by net file: %s",
                number,
                source,
            )
        context = self.context
        if described.role != "train net":  # every rank tests on all of the data
            context = replace(context, rank=0, ranks=1)
        return Net(described.read(), context)

    def tell(self, event: Event) -> None:
        for subscriber in self.subscribers:
            subscriber(event)

    def load_weights(self, *paths: str) -> loading.CopyReport:
        """Start from weights files, in the training net and all test nets."""
        reports = []
        for path in paths:
            log.info("solver.cpp:69", "Finetuning from %s", path)
            for net in self.test_nets:
                loading.copy_file(net, path)
            reports.append(loading.copy_file(self.net, path))
        return loading.judge(self.net, paths, reports)

    # -- training ----------------------------------------------------------------------------

    def solve(self, resume: str | None = None) -> None:
        """Train up to max_iter, with a last snapshot and a last test."""
        self.stopped_early = False
        self.tell(SolveBegins(self.iter, self.net.name, self.param.lr_policy, self.param.max_iter))
        if resume:
            self.restore(resume)
        start = self.iter
        self.step(self.param.max_iter - self.iter)
        p = self.param
        if p.snapshot_after_train and (not p.snapshot or self.iter % p.snapshot):
            self.snapshot()
        if not self.stopped_early:
            if p.display and self.iter % p.display == 0:
                (loss,) = self.ranks.mean([float(self.net.forward())])
                self._smooth(loss, start)
                self.tell(LastLoss(self.iter, float(self.smoothed_loss)))
            if p.test_interval and self.iter % p.test_interval == 0:
                self.test_all()
        self.tell(SolveEnds(self.iter, self.stopped_early))

    def step(self, count: int) -> None:
        """Train for ``count`` iterations, or until a stop is requested."""
        start, p = self.iter, self.param
        self._losses.clear()
        self.smoothed_loss = 0.0
        self._display_time, self._display_iter = time.perf_counter(), self.iter
        while self.iter < start + count:
            self.stepper.clear_gradients()
            due = p.test_interval and self.iter % p.test_interval == 0
            if due and (self.iter > 0 or p.test_initialization):
                self.test_all()
                if self.stopped_early:
                    return
            for function in self.on_start:
                function()
            display = bool(p.display) and self.iter % p.display == 0
            self.net.debug_info = display and p.debug_info
            loss: Loss = 0.0
            for i in range(p.iter_size):
                loss += self.net.forward()
                if i == p.iter_size - 1:
                    self.stepper.offer(loss / p.iter_size)
                self.net.backward()
            self.last_loss = self.stepper.joint_loss()
            self._smooth(self.last_loss, start)
            if display:
                self._tell_display()
            for function in self.on_gradients_ready:
                function()
            self.apply_update()
            action = self.stepper.action()
            if (p.snapshot and self.iter % p.snapshot == 0) or action is Action.SNAPSHOT:
                self.snapshot()
            if action is Action.STOP:
                self.stopped_early = True
                break
        self.settle()

    def settle(self) -> None:
        """All updates are in the weights, and all ranks know all losses."""
        self.stepper.settle()
        for function in self.on_settled:
            function()

    def may_look(self, number: Loss) -> bool:
        """Whether it is time to look at a number: always, if that costs nothing.

        A number on a device is looked at when the log is due and before a snapshot; at other times
        the device would be waited for.
        """
        if isinstance(number, float):
            return True
        shown = self.iter % (self.param.display or LOOK_EVERY) == 0
        snapshot = self.param.snapshot
        return shown or bool(snapshot and (self.iter + 1) % snapshot == 0)

    def _smooth(self, loss: Loss, start: int) -> None:
        """The mean of the last ``average_loss`` losses of this run."""
        window = self.param.average_loss
        if len(self._losses) < window:
            self._losses.append(loss)
            size = len(self._losses)
            self.smoothed_loss = (self.smoothed_loss * (size - 1) + loss) / size
        else:
            i = (self.iter - start) % window
            self.smoothed_loss += (loss - self._losses[i]) / window
            self._losses[i] = loss

    def _tell_display(self) -> None:
        now = time.perf_counter()
        seconds = now - self._display_time
        per_second = (self.iter - self._display_iter) / seconds if seconds else 0.0
        self._display_time, self._display_iter = now, self.iter
        outputs = testing.outputs_of(self.net)
        means = self.stepper.shown([o.value for o in outputs])
        outputs = [replace(o, value=value) for o, value in zip(outputs, means, strict=True)]
        self._seen_loss = loss = float(self.smoothed_loss)
        display = self.param.display
        self.tell(Displayed(self.iter, loss, per_second, seconds, display, outputs))

    @property
    def lr(self) -> float:
        """The learning rate of this iteration; multistep moves on when its time has come."""
        step = self._step_due()
        if self.param.lr_policy == "plateau":
            loss = float(self.smoothed_loss)
            step += self.plateau.due(self.param, self.iter, loss, self.current_step)
        if step != self.current_step:
            self.current_step = step
            self.tell(StepPassed(self.iter, self.current_step, self.param.lr_policy))
        return self.next_rate()

    def next_rate(self) -> float:
        """The learning rate of this iteration, before anybody is told."""
        return learning_rate(self.param, self.iter, self._step_due())

    def _step_due(self) -> int:
        p = self.param
        if p.lr_policy != "multistep" or self.current_step >= len(p.stepvalue):
            return self.current_step
        return self.current_step + (self.iter >= p.stepvalue[self.current_step])

    def apply_update(self) -> None:
        """Clip, normalise, regularise, update; the iteration is counted here."""
        self.stepper.apply_update()

    def next_step(self) -> UpdateStep:
        """The update of this iteration, before anybody is told."""
        return update.step_of(self.param, self.rule, self.iter, self.next_rate())

    def begin_update(self) -> UpdateStep:
        """Choose the learning rate of this iteration, and tell it; the update that follows."""
        step = update.step_of(self.param, self.rule, self.iter, self.lr)
        if self.param.display and self.iter % self.param.display == 0:
            self.tell(RateChosen(self.iter, step.rate))
        return step

    def clip_gradients(self, step: UpdateStep) -> Loss:
        """Limit the norm of all gradients; what they were multiplied by."""
        limit = step.clip
        if limit < 0:
            return 1.0
        clipped = update.clip(self.net.params.learnable, limit, self.context.engine)
        if clipped and self.may_look(clipped[0]) and clipped[0] > limit:
            norm, scale = map(float, clipped)
            self.tell(Clipped(self.iter, norm, limit, scale))
        return clipped[1] if clipped else 1.0

    def update_params(self, numbers: Sequence[int], step: UpdateStep) -> None:
        """Normalise and regularise the gradients of parameters, and apply the rule."""
        params = [self.net.params.learnable[i] for i in numbers]
        update.apply(params, map(self.history.of, numbers), self.rule, step, self.context.engine)

    def end_update(self, step: UpdateStep) -> None:
        self.iter += 1
        if isinstance(self.last_loss, float):
            self._seen_loss = self.last_loss
        self.tell(Updated(self.iter, self._seen_loss, step.rate))

    # -- testing -----------------------------------------------------------------------------

    def test_all(self) -> None:
        self.settle()
        for i in range(len(self.test_nets)):
            if not self.stopped_early:
                self.test(i)

    def test(self, index: int) -> None:
        """Run a test net over its batches and tell the means of its outputs."""
        testing.test(self, index)

    def obey(self) -> None:
        """Act between two batches of a test; several ranks act together, when it is over."""
        while self.ranks.size == 1 and (action := self.requested_action()) is not Action.NONE:
            if action is Action.SNAPSHOT:
                self.snapshot()
            else:
                self.stopped_early = True
                return

    # -- snapshots ---------------------------------------------------------------------------

    def snapshot_stem(self) -> str:
        return f"{self.param.snapshot_prefix}_iter_{self.iter}"

    def snapshot(self) -> None:
        """Write weights and state under Caffe's names."""
        self.settle()
        snapshots.write(self)

    def restore(self, path: str) -> None:
        """Resume from a state file, Caffe's or ours."""
        snapshots.restore(self, path)
