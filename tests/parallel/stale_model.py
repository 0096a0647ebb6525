"""Training on several ranks as a state machine: all orders in which messages can come, without MPI.

What a rank does is a function of what has come to it.  ``Model.run`` computes that function with
our own solver, cluster, boards, clocks and guard, from the start up to the point where the rank
would wait; only the communication thread is another one, which knows what it is given and no more.

Messages of one rank come in the order in which they were sent, so how many have come from each
other rank says all.  Whatever the order is in which messages of all ranks come to a rank, it is a
path through the grid of these counts.  ``Model.explore`` looks at every point of every rank's grid:

- one more message lets a rank go on, perhaps, but what it has done and sent before is the same: so
  nothing depends on what has come by chance, or sooner on one rank than on another;
- no forward pass has begun more than s iterations ahead of what has come.

Then all orders lead to the same end, and one of them is enough to see that end: all ranks are
through, and have decided the same: exchanges of all, snapshots, stops and errors, in this order and
at the same iterations.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from cases import LINKS

from pycaffe_dist.parallel import cluster as cluster_module
from pycaffe_dist.parallel.cluster import Cluster
from pycaffe_dist.parallel.dwbp import Dwbp
from pycaffe_dist.parallel.exchange.way import Way
from pycaffe_dist.parallel.job.watchdog import Stall, Watchdog
from pycaffe_dist.parallel.observe.trace import Recorder
from pycaffe_dist.parallel.plan.plan import Plan, make_plan
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.parallel.ssp import messenger
from pycaffe_dist.parallel.ssp.ssp import Ssp
from pycaffe_dist.parallel.transport.communicator import Communicator, Nodes, Steps
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.solver import Action, Solver
from pycaffe_dist.tools.guards import LossGuard, TrainingError

MEETING = -3  # the number of messages that say: I am in this exchange of all ranks
LOSSES, GRADIENTS = -4, 0  # of a step in which ranks wait for each other: s = 0
# With a rate of 0 losses do not depend on what has come; NaN would get into weights all the same.
SOLVER = """
base_lr: 0 lr_policy: "fixed" snapshot_after_train: false snapshot_prefix: "model" net_param {
layer { name: "data" type: "Input" top: "x" input_param { shape { dim: 1 dim: 1 } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "loss" loss_weight: 1
  inner_product_param { num_output: 1 bias_term: false } } }
"""


@dataclass(frozen=True)
class Event:
    """What befalls one rank, or all of them, in an iteration.

    Attributes:
        kind: "stop", "snapshot", "nan", "crash", or "late": asked to stop from then on, as by
            --max-time, rank r in iteration at + r.
    """

    kind: str = ""
    rank: int = 0
    at: int = 0
    on_nan: str = "stop"

    def action(self, rank: int, iteration: int) -> Action:
        if self.kind == "late":
            return Action.STOP if iteration >= self.at + rank else Action.NONE
        asked = {"stop": Action.STOP, "snapshot": Action.SNAPSHOT}.get(self.kind, Action.NONE)
        return asked if (rank, iteration) == (self.rank, self.at) else Action.NONE

    def befalls(self, kind: str, rank: int, iteration: int) -> bool:
        return (self.kind, self.rank, self.at) == (kind, rank, iteration)


@dataclass(frozen=True)
class Message:
    """To all other ranks: a message's number, clock and content, or the name of an exchange."""

    number: int
    clock: int
    content: bytes


@dataclass
class Past:
    """All that a rank has done, and what it waits for now.

    Attributes:
        sent: in this order, to every other rank.
        decided: what all ranks must do alike.
        forward: the last iteration that has used weights.
        waits: for want of these ranks; None: it is through.
    """

    sent: list[Message] = field(default_factory=list)
    decided: list[str] = field(default_factory=list)
    forward: int = -1
    waits: list[int] | None = None
    what: str = ""

    def uses(self, layer: int, iteration: int) -> None:
        self.forward = max(self.forward, iteration) if layer else self.forward


class Waits(BaseException):
    """A rank has got as far as it gets."""


class Crashed(BaseException):
    """A rank is no more."""


class Here(Communicator):
    """A rank of a node of some; nothing travels by it."""

    def __init__(self, rank: int, size: int) -> None:
        super().__init__(rank, size, Nodes.by_host(["here"] * size))

    def _isend(self, *_: Any) -> Any:
        raise AssertionError("everything goes by the model's thread")

    _irecv = abort = _isend

    def share(self, count: int, dtype: Any) -> Any:
        return np.zeros(count, dtype)

    def close(self) -> None:
        pass


@dataclass
class Exchange:
    """The job of an exchange without staleness: done when all ranks have sent their parts."""

    number: int
    count: int  # of those before it
    thread: Thread

    def missing(self) -> list[int]:
        return [r for r in range(self.thread.communicator.size) if self.part(r) is None]

    def part(self, rank: int) -> bytes | None:
        thread = self.thread
        sent = thread.past.sent if rank == thread.communicator.rank else thread.come[rank]
        of_kind = [m.content for m in sent if m.number == self.number]
        return of_kind[self.count] if self.count < len(of_kind) else None

    @property
    def done(self) -> bool:
        if self.missing():
            return False
        if self.number == LOSSES:
            for rank, row in enumerate(self.thread.board._numbers):
                row[...] = np.frombuffer(self.part(rank))
        return True


class Thread:
    """In the place of the communication thread: what has come is here, and nothing else comes."""

    def __init__(
        self, past: Past, come: Sequence[Sequence[Message]], communicator: Communicator
    ) -> None:
        self.past, self.come, self.communicator = past, come, communicator
        self.recorder = Recorder(0)
        self.ssp: Any = None
        self.board: Any = None
        self._meetings = 0
        self._exchanges = {LOSSES: 0, GRADIENTS: 0}

    def start(self) -> Thread:
        return self

    def serve(self, steps: Steps[Any]) -> None:
        steps.close()

    def submit(self, steps: Steps[Any], name: str, *_: Any, **__: Any) -> Exchange:
        """An exchange of a step in which all ranks wait for each other; it is waited for later."""
        steps.close()
        number = LOSSES if name == "losses" else GRADIENTS
        count = self._exchanges[number]
        self._exchanges[number] += 1
        row = self.board._numbers[self.communicator.rank].tobytes() if number == LOSSES else b""
        self.past.sent.append(Message(number, count + 1, row))
        return Exchange(number, count, self)

    def wait(self, job: Exchange, meanwhile: Any = None) -> None:
        self.wait_until(lambda: job.done, "a step", job.missing)

    def deliver(self, stepper: Ssp | Dwbp) -> None:
        if isinstance(stepper, Dwbp):
            self.board = stepper._notes
            return
        self.ssp = ssp = stepper
        for source, messages in enumerate(self.come):
            for message in messages:
                if message.number != MEETING:
                    clocks = np.zeros(ssp.size, np.int64)
                    clocks[source] = message.clock
                    ssp._mail.read(
                        source, message.number, clocks, np.frombuffer(message.content, "u1")
                    )

    def send(self) -> None:
        """All that waits in outboxes."""
        while self.ssp is not None and (message := self.ssp._mail.write()) is not None:
            self.past.sent.append(_message(message, self.ssp.rank))

    def wait_until(
        self, condition: Callable[[], bool], name: str, missing: Callable[[], list[int]]
    ) -> None:
        self.send()
        if not condition():
            self.past.waits, self.past.what = missing(), name
            raise Waits

    def do(self, steps: Steps[Any], name: str, scheme: str = "") -> None:
        """An exchange in which all ranks wait for each other."""
        steps.close()
        self.send()
        self.past.decided.append(name)
        self.past.sent.append(Message(MEETING, self._meetings, name.encode()))
        there = [
            [m for m in messages if m.number == MEETING][self._meetings : self._meetings + 1]
            for messages in self.come
        ]
        missing = [r for r, met in enumerate(there) if not met and r != self.communicator.rank]
        self.wait_until(lambda: not missing, name, lambda: missing)
        names = {m.content.decode() for met in there for m in met}
        assert names == {name}, f"one rank is in the exchange of {name}, others of {names}"
        self._meetings += 1


def _message(message: messenger.Message, rank: int) -> Message:
    content = message.content.reshape(-1).view(np.uint8)
    return Message(message.number, int(message.clocks[rank]), content.tobytes())


class ModelCluster(Cluster):
    """Exchanges of objects are meetings; nobody needs what others have."""

    def _take_from_rank_0(self, do: Callable[[Steps[Any]], Any]) -> None:
        do(self._nothing())

    def _nothing(self) -> Steps[None]:
        yield from ()

    def _meet(self, name: str) -> None:
        self.thread.do(self._nothing(), f"{name} in {self.solver.iter}")

    def gather(self, state: Any) -> list[Any]:
        """What the guard gives is a rank's name and a place; of a snapshot's nobody asks."""
        self._meet("states")
        return [(f"rank {r}", "") for r in range(self.size)] if self.rank == 0 else []

    def mean(self, values: list[float]) -> list[float]:
        self._meet("mean")
        return values


class ModelSolver(Solver):
    """Notes what it would write."""

    past: Past

    def snapshot(self) -> None:
        self.settle()
        self.ranks.gather(None)
        finite = all(np.isfinite(p.blob.data).all() for p in self.net.params.learnable)
        self.past.decided.append(f"snapshot {self.iter}{'' if finite else ' of no numbers'}")

    def test_all(self) -> None:
        self.settle()
        self.ranks.mean([0.0])

    def again(self, past: Past) -> None:
        """Begin anew."""
        self.past, self.iter, self.stopped_early = past, 0, False
        for found in (self.on_start, self.on_gradients_ready, self.on_settled, self.subscribers):
            found.clear()
        self.net.before_forward.clear()
        self.net.after_backward.clear()
        for param in self.net.params.learnable:
            param.blob.data[...] = param.blob.diff[...] = 0


@cache
def solver_of(rank: int) -> ModelSolver:
    return ModelSolver(parse_text(SOLVER, SolverParameter()).message)


@cache
def _plan(staleness: int, ranks: int) -> Plan:
    solver, settings = solver_of(0), ClusterSettings(staleness=staleness, comm="dense")
    return make_plan(solver.net, settings, ranks, 1, LINKS, solver.param)


class Model:
    """So many ranks, a bound, an event; and what was found to happen.

    Args:
        steps: iterations that ranks would do.
        snapshot, test: every so many iterations; 0: never.
    """

    def __init__(
        self,
        ranks: int,
        staleness: int,
        event: Event,
        steps: int,
        snapshot: int = 0,
        test: int = 0,
    ) -> None:
        self.ranks, self.staleness, self.event, self.steps = ranks, staleness, event, steps
        self.snapshot, self.test = snapshot, test
        self.settings = ClusterSettings(staleness=staleness, comm="dense")
        self.sent: list[list[Message]] = [[] for _ in range(ranks)]
        self._pasts: dict[tuple[int, tuple[int, ...]], Past] = {}

    # -- a rank --------------------------------------------------------------------------------

    def past(self, rank: int, come: tuple[int, ...]) -> Past:
        """What a rank has done when so many messages of each rank have come to it."""
        found = self._pasts.get((rank, come))
        if found is None:
            found = self._pasts[rank, come] = self.run(rank, come)
            self.sent[rank] = max(self.sent[rank], found.sent, key=len)
            self._check_bound(rank, come, found)
        return found

    def run(self, rank: int, come: tuple[int, ...]) -> Past:
        past = Past()
        place = Here(rank, self.ranks)
        thread = Thread(past, [m[:n] for m, n in zip(self.sent, come, strict=True)], place)
        solver = solver_of(rank)
        solver.again(past)
        solver.param.snapshot, solver.param.test_interval = self.snapshot, self.test
        solver.requested_action = lambda: self.event.action(rank, solver.iter)
        solver.on_start.append(lambda: self._begin(solver, rank))
        with replaced(cluster_module, "CommThread", lambda *_: thread), contextlib.suppress(Waits):
            cluster = self._cluster(solver, rank, place)
            thread.deliver(cluster.stepper)
            solver.net.before_forward.append(lambda layer: past.uses(layer, solver.iter))
            LossGuard(solver, self.event.on_nan, lambda text: None)
            try:
                solver.step(self.steps)
                past.decided.append(f"end {solver.iter} {solver.stopped_early}")
            except TrainingError as e:
                past.decided.append(f"error {solver.iter} {str(e).split(' is nan')[0]}")
            except Crashed:
                past.waits = []
        thread.send()
        return past

    def _cluster(self, solver: ModelSolver, rank: int, place: Here) -> ModelCluster:
        plan = _plan(self.settings.staleness, self.ranks)
        recorder, watchdog = Recorder(rank), Watchdog(0)
        return ModelCluster(solver, self.settings, place, plan, recorder, watchdog, Way())

    def _begin(self, solver: ModelSolver, rank: int) -> None:
        if self.event.befalls("crash", rank, solver.iter):
            raise Crashed
        spoilt = self.event.befalls("nan", rank, solver.iter)
        solver.net.blobs[0].data[...] = np.nan if spoilt else 1.0

    def _check_bound(self, rank: int, come: tuple[int, ...], past: Past) -> None:
        for source, count in enumerate(come):
            updates = [m.clock for m in self.sent[source][:count] if m.number >= 0]
            ahead = past.forward - max(updates, default=0)
            near = source == rank or ahead <= self.staleness
            assert near, f"rank {rank} is {ahead} iterations ahead of rank {source}"

    # -- all ranks -----------------------------------------------------------------------------

    def explore(self) -> int:
        """Look at everything that can happen; how many points there were to look at."""
        self._check_end(self.ends())
        counts = [range(len(messages) + 1) for messages in self.sent]
        for rank in range(self.ranks):
            grid = [range(1) if r == rank else count for r, count in enumerate(counts)]
            for come in itertools.product(*grid):
                self._check_point(rank, come, [len(g) - 1 for g in grid])
        return len(self._pasts)

    def ends(self) -> list[Past]:
        """What all ranks have done in the end; all messages come at once, as often as there are."""
        before = None
        while before != (before := [len(messages) for messages in self.sent]):
            pasts = [
                self.past(rank, tuple(0 if r == rank else n for r, n in enumerate(before)))
                for rank in range(self.ranks)
            ]
        return pasts

    def _check_point(self, rank: int, come: tuple[int, ...], most: Sequence[int]) -> None:
        past = self.past(rank, come)
        for source in range(self.ranks):
            if come[source] < most[source]:
                more = self.past(rank, (*come[:source], come[source] + 1, *come[source + 1 :]))
                begun = more.decided[: len(past.decided)]
                assert begun == past.decided, f"{past.decided}, but with more messages {begun}"
                sent = more.sent[: len(past.sent)]
                assert sent == past.sent, f"{past.sent}, but with more messages {sent}"

    def _check_end(self, pasts: Sequence[Past]) -> None:
        if self.event.kind == "crash":
            return
        waiting = {r: (p.what, p.waits) for r, p in enumerate(pasts) if p.waits is not None}
        assert not waiting, f"a deadlock: {waiting}"
        for rank, past in enumerate(pasts):
            same = past.decided == pasts[0].decided
            assert same, f"rank {rank} does {past.decided}, rank 0 {pasts[0].decided}"

    def stalls(self) -> list[Stall]:
        """What ranks would tell that wait in the end."""
        return [
            Stall(rank, {r: f"rank {r}" for r in past.waits}, past.what, 1.0)
            for rank, past in enumerate(self.ends())
            if past.waits
        ]


@contextlib.contextmanager
def replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    original = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, original)
