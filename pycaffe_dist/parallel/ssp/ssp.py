"""SSP: stale synchronous parallel training, with managed communication.

Every rank trains on its own: its gradient becomes an update by its own history, and goes into its
weights at once (divided by P, unless updates are summed).  What others need of it is put into
outboxes, which the communication thread empties; what has come from others goes into the weights
when forward reaches the layer.  Dense updates travel by the nodes' leaders and hubs (routes.py);
of inner products the factors of the gradient may travel instead (SFB).

A clock belongs to every item and rank: how many iterations of that rank are in what was received.
The c-th iteration may begin a layer's forward only if all clocks of its items are c − s or more,
so that no rank is ever more than s iterations ahead of what it has seen of the slowest.

Updates add up: what could not be sent in time is joined by the next one and travels as one.  So a
budget of bandwidth does not stop training, it makes it stale, within the bound.  What is at the
bound goes first, then the largest updates.

What the main and the communication thread share, and the states of an outbox, is told in mail.py;
here everything runs in the main thread.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Blob
from pycaffe_dist.errors import PcdError
from pycaffe_dist.learnable import Param
from pycaffe_dist.parallel.decisions import LOSS, OUTPUTS
from pycaffe_dist.parallel.plan.plan import Entry, together
from pycaffe_dist.parallel.schemes.scheme import schemes
from pycaffe_dist.parallel.ssp.items import Block, FactoredWeights, Item, cut
from pycaffe_dist.parallel.ssp.mail import Mail
from pycaffe_dist.parallel.ssp.messenger import Messenger
from pycaffe_dist.parallel.stepper import ClusterStepper, Joint
from pycaffe_dist.parallel.transport.collectives import broadcast, mean
from pycaffe_dist.parallel.transport.comm_thread import CommThread
from pycaffe_dist.parallel.transport.streams import Port
from pycaffe_dist.parallel.transport.tags import VALUES
from pycaffe_dist.solvers import update
from pycaffe_dist.solvers.testing import outputs_of
from pycaffe_dist.update_step import ParamValues, UpdateStep


class Ssp(ClusterStepper):
    """Trains a rank within a bound of staleness.

    Attributes:
        items: what is exchanged.
        worst: the largest distance to a clock at which a forward has begun.
    """

    counts_labels = False

    def __init__(self, joint: Joint) -> None:
        super().__init__(joint)
        self.staleness, self.scale = joint.settings.staleness, joint.fabric.scale
        self.rank, self.size = self.communicator.rank, self.communicator.size
        self.worst = 0
        self._others = [r for r in range(self.size) if r != self.rank]
        self._settled = 0  # the iteration in which all ranks had taken in everything
        self._updates: dict[int, UpdateStep] = {}  # by clock
        self._blocks: list[Block] = []
        self._products: list[FactoredWeights] = []
        self.items: list[Item] = []
        for group in together(joint.plan.entries):
            self._add_items(group)
        self._mail = Mail(joint.fabric, self.items, self.staleness)
        self._by_layer = sorted(self.items, key=lambda item: item.layer)  # as forward asks
        self._index()
        self._seen: set[int] = set()
        self._pass = 0
        self._steps = False  # whether the solver is taking a step, or somebody else uses its net
        self._hooks = [
            (self.solver.net.before_forward, self._before_forward),
            (self.solver.net.after_backward, self._after_backward),
        ]

    def _add_items(self, group: Sequence[Entry]) -> None:
        """What an entry that travels as factors, or the entries of a bucket, is cut into."""
        solver, first, nodes = self.solver, group[0], self.communicator.nodes
        if schemes()[first.scheme].factored:
            number = len(self.items)
            product = FactoredWeights(number, solver, first.params, first.layer, nodes, self.rank)
            self._products.append(product)
            self.items.append(product)
            return
        learnable = solver.net.params.learnable
        counts = [(p, learnable[p].blob.count) for entry in group for p in entry.params]
        for cuts in cut(counts):
            block = Block(len(self.items), solver, cuts, nodes, self.rank)
            self._blocks.append(block)
            self.items.append(block)

    def _index(self) -> None:
        """What there is of each parameter, and which parameters each layer uses."""
        params = self.solver.net.params
        self._of_param: dict[int, list[Item]] = {}
        self._blocks_of: dict[int, list[Block]] = {}
        self._products_of: dict[int, list[FactoredWeights]] = {}
        for item in self.items:
            for p in item.params:
                self._of_param.setdefault(p, []).append(item)
        for block in self._blocks:
            for p in block.params:
                self._blocks_of.setdefault(p, []).append(block)
        for product in self._products:
            for p in product.params:
                self._products_of.setdefault(p, []).append(product)
        self._fixed = [p for p in range(len(params.learnable)) if p not in self._of_param]
        self._uses = [
            list(dict.fromkeys(p for p in ids if p in self._of_param)) for ids in params.ids
        ]

    def start(self, thread: CommThread) -> None:
        self._mail.recorder = thread.recorder
        for hook, function in self._hooks:
            hook.append(function)
        largest = max((item.largest for item in self.items), default=0)
        self._messenger = Messenger(
            self.communicator, thread, largest, self._mail.write, self._mail.read
        )
        super().start(thread)

    def close(self) -> None:
        self._finish_all()
        for hook, function in self._hooks:
            hook.remove(function)
        self._messenger.close()
        super().close()

    # -- an iteration ------------------------------------------------------------------------

    def _clear(self) -> None:
        self.solver.net.clear_param_diffs()
        self._seen.clear()
        self._pass = 0
        self._steps = True

    def _before_forward(self, layer: int) -> None:
        for p in self._uses[layer]:
            if p not in self._seen:
                self._seen.add(p)
                self._wait_for(p, self._mail.done - self.staleness)
                self._take_in(p)

    def _after_backward(self, layer: int) -> None:
        if not self._steps:
            return
        for item in self._products:
            if item.layer == layer and self._others:
                item.collect(self._pass)
        if layer == 0:
            self._pass += 1

    def _wait_for(self, p: int, clock: int) -> None:
        """Until all others' updates of a parameter, up to ``clock``, are here."""
        items = [item.number for item in self._of_param[p]]
        name = self.solver.net.layer_names[self.solver.net.params.learnable[p].owner[0]]

        def missing() -> list[int]:
            return self._mail.clocks.missing(items, clock)

        self.thread.wait_until(lambda: not missing(), f"{name} (staleness)", missing)
        ahead = self.ahead(self._of_param[p])
        self.worst = max(self.worst, ahead)
        if ahead > self.staleness:
            raise PcdError(f"layer {name}: {ahead} iterations ahead, allowed are {self.staleness}")

    def ahead(self, items: Sequence[Item]) -> int:
        """How many iterations of this rank the slowest of the others' clocks is behind."""
        return self._mail.clocks.ahead([item.number for item in items], self._mail.done)

    def _take_in(self, p: int) -> None:
        """What has come from others goes into the weights."""
        for block in self._blocks_of.get(p, ()):
            with self._mail.lock:
                block.take_in(p)
        for product in self._products_of.get(p, ()):
            self._take_product(product)

    def _take_product(self, item: FactoredWeights) -> None:
        """Iteration by iteration, as far as all others, and this rank, have got."""
        if not self._others:
            return
        clock = min(self._mail.done, self._mail.clocks.slowest([item.number]))
        while item.taken < clock:
            gradients = item.mean_gradient()
            step, factor = self._updates[item.taken], self.scale * len(self._others)
            for p, g, past in zip(item.params, gradients, item.history, strict=True):
                param = self.solver.net.params.learnable[p]
                values = ParamValues(param.blob.data.reshape(-1), g, past)
                for at in item.slices(p):
                    self._subtract(param, values[at], step, factor)

    def _subtract(self, param: Param, values: ParamValues, step: UpdateStep, factor: float) -> None:
        """Take the update that the gradients make, times ``factor``, off the weights.

        The gradients become what was taken off.
        """
        copy = replace(values, data=values.data.copy())
        update.apply_to(param, copy, self.solver.rule, step)
        values.diff[...] *= values.diff.dtype.type(factor)
        values.data[...] -= values.diff

    def _apply(self) -> None:
        """Make this rank's update of an iteration, and let it go out.

        If the verdict is against it, it is nothing: the clocks advance, and no weight changes.
        """
        solver, mail, self._steps = self.solver, self._mail, False
        held_back = self.verdict.update is False
        step = solver.begin_update()
        clipped = 0.0 if held_back else solver.clip_gradients(step)
        self._updates[mail.done + 1] = step
        self._updates.pop(mail.done - self.staleness - 1, None)
        if not held_back:
            self._update_all(step)
        mail.done += 1
        with mail.lock:
            for block in self._blocks:
                block.made(mail.done)
            if self._others:
                for product in self._products:
                    product.made(mail.done, clipped)
            for item in self._by_layer:
                mail.queue(item)
        solver.end_update(step)

    def _update_all(self, step: UpdateStep) -> None:
        self.solver.update_params(self._fixed, step)
        for p in self._of_param:
            self._update(p, step)

    def _update(self, p: int, step: UpdateStep) -> None:
        """The own update: into the weights at once, and to those who will send it."""
        param = self.solver.net.params.learnable[p]
        diff = param.blob.diff.reshape(-1)
        past = {slot: h.data.reshape(-1) for slot, h in self.solver.history.of(p).items()}
        values = ParamValues(param.blob.data.reshape(-1), diff, past)
        for item in self._of_param[p]:
            for at in item.slices(p):
                self._subtract(param, values[at], step, self.scale)
        for block in self._blocks_of.get(p, ()):
            (at,) = block.slices(p)
            with self._mail.lock:
                block.add(p, diff[at])
        if self.joint.fabric.port.pace:
            for product in self._products_of.get(p, ()):
                product.magnitude = float(np.abs(diff).mean())

    def discard_update(self) -> None:
        self.verdict.decide(False)

    def _finish_all(self) -> None:
        """All ranks, who stand at the same iteration, take in everything."""
        if self._settled == self._mail.done:
            return
        for p in self._of_param:
            self._wait_for(p, self._mail.done)
            self._take_in(p)
        self.thread.wait_until(lambda: self._mail.empty, "the last updates", lambda: self._others)
        # Sums were made in another order on every rank: rounding is evened out.
        for p in self._of_param:
            data = self.solver.net.params.learnable[p].blob.data.reshape(-1)
            steps = broadcast(Port(self.communicator), self.size, data, VALUES)
            self.thread.do(steps, "settling")
        self._settled = self._mail.done

    # -- snapshots ---------------------------------------------------------------------------

    def take_history(self) -> None:
        for product in self._products:
            product.take_history(self.solver)

    def gather_history(self) -> None:
        """Every rank keeps a history of its own."""

    @contextmanager
    def whole_history(self) -> Iterator[Iterable[Blob]]:
        self.compare_weights()  # a snapshot speaks for all ranks
        yield self._mean_history()

    def _mean_history(self) -> list[Blob]:
        """The mean over ranks of their histories."""
        means = []
        for blob in self.solver.history:
            means.append(Blob(blob.shape, blob.dtype))
            means[-1].data[...] = blob.data
            steps = mean(Port(self.communicator), means[-1].data.reshape(-1))
            self.thread.do(steps, "history")
        return means

    # -- losses and requests -----------------------------------------------------------------

    def _outputs(self) -> list[float]:
        return [output.value for output in outputs_of(self.solver.net)]

    def shown(self, values: list[float]) -> list[float]:
        means: list[float] = self._to_show()[:, OUTPUTS].mean(axis=0).tolist()
        return means

    def bad_alone(self) -> bool:
        return not math.isfinite(self._row[LOSS])

    def known_losses(self) -> Array | None:
        """Other ranks may be in other iterations."""
        return None

    def _tell(self, row: Sequence[float]) -> None:
        self._mail.post_row(row)

    def _boards(self, settling: bool) -> list[tuple[int, Array]]:
        """The boards that are due, when all their rows are here."""
        board = self._mail.board
        due = board.due(settling)

        def missing() -> list[int]:
            return board.missing(due)

        self.thread.wait_until(lambda: not missing(), "losses (staleness)", missing)
        with self._mail.lock:
            return board.take(due)
