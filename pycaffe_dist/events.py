"""What happens during training, told to whoever subscribes: logs, progress, metrics, charts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Output:
    """One number that a net puts out: element ``index`` of all outputs, and its loss weight."""

    index: int
    name: str
    value: float
    loss_weight: float = 0.0


@dataclass(frozen=True)
class Event:
    """Something that happened at an iteration."""

    iteration: int


@dataclass(frozen=True)
class SolveBegins(Event):
    net_name: str
    policy: str
    max_iter: int


@dataclass(frozen=True)
class Displayed(Event):
    """An iteration whose loss is shown."""

    loss: float  # smoothed over average_loss iterations
    per_second: float
    seconds: float  # since the last display
    display: int
    outputs: list[Output] = field(default_factory=list)


@dataclass(frozen=True)
class RateChosen(Event):
    """The learning rate of a displayed iteration."""

    rate: float


@dataclass(frozen=True)
class StepPassed(Event):
    """The multistep or plateau policy reached its next step."""

    step: int
    policy: str = "multistep"


@dataclass(frozen=True)
class Clipped(Event):
    norm: float
    limit: float
    scale: float


@dataclass(frozen=True)
class Updated(Event):
    """An iteration is over, its weights are updated."""

    loss: float
    rate: float


@dataclass(frozen=True)
class TestBegins(Event):
    net: int


@dataclass(frozen=True)
class Tested(Event):
    net: int
    outputs: list[Output]
    loss: float | None = None  # with test_compute_loss


@dataclass(frozen=True)
class TestInterrupted(Event):
    net: int


@dataclass(frozen=True)
class Snapshotting(Event):
    """A file is about to be written: "weights", "state", or "memory" for a snapshot kept there."""

    what: str
    format: str
    path: str


@dataclass(frozen=True)
class Snapshotted(Event):
    """A snapshot is whole on disk."""

    weights: str
    state: str


@dataclass(frozen=True)
class Restored(Event):
    path: str


@dataclass(frozen=True)
class LastLoss(Event):
    """The loss of one more forward pass, after the last update."""

    loss: float


@dataclass(frozen=True)
class SolveEnds(Event):
    early: bool


Subscriber = Callable[[Event], object]
