"""What all ranks do next, by the boards that all of them have read."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.solver import Action
from pycaffe_dist.solvers.stepper import BadLoss, bad_loss

ACTIONS = (Action.NONE, Action.SNAPSHOT, Action.STOP)  # by urgency: the last asked for wins
LOSS, ASKED, OUTPUTS = 0, 1, slice(2, None)  # the columns of a board


class Decisions:
    """A function of the boards that were read: what is the same on all ranks is all it knows."""

    def __init__(self) -> None:
        self._urgency = 0
        self._bad: BadLoss | None = None

    def read(self, iteration: int, board: Array) -> None:
        """All ranks have read the board of an iteration."""
        self._urgency = max(self._urgency, int(board[:, ASKED].max()))
        self._bad = self._bad or bad_loss(iteration, board[:, LOSS].tolist())

    def take_action(self) -> Action:
        """The most urgent of what was asked for and not done yet."""
        urgency, self._urgency = self._urgency, 0
        return ACTIONS[urgency]

    def take_bad(self) -> BadLoss | None:
        """The oldest loss that is NaN or infinite, of those that nobody has taken yet."""
        bad, self._bad = self._bad, None
        return bad
