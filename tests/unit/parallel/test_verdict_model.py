"""The verdict between a rank's two threads: all their interleavings, on all ranks.

The main thread of a rank offers its loss, reads those of all when they are there, and decides; its
communication thread takes an exchange forward that updates weights by itself, between a first and
a second part in which all ranks wait for each other.  A state says how far each thread is; the
verdict is ours.
"""

from collections.abc import Iterator

import numpy as np
import pytest

from pycaffe_dist.parallel.verdict import Verdict
from pycaffe_dist.solvers.stepper import bad_loss

# Steps of the main thread, and of the communication thread, in an iteration.
OFFER, DECIDE, FINISH, MAIN = range(4)
FIRST, UPDATE, SECOND, COMM = range(4)
ITERATIONS = 2


class World:
    """Ranks whose losses are given by iteration; who stops does so at a loss that is no number."""

    def __init__(self, losses: list[list[float]], stops: bool) -> None:
        self.losses, self.stops = losses, stops
        self.ranks = len(losses[0])
        self.outcomes: set[tuple[int, int, bool]] = set()

    def start(self):
        return tuple((0, 0, None) for _ in range(self.ranks))

    def known(self, state, iteration: int) -> np.ndarray | None:
        """The losses of an iteration, when all ranks have offered theirs."""
        all_there = all(main > iteration * MAIN + OFFER for main, _, _ in state)
        return np.array(self.losses[iteration]) if all_there else None

    def verdict(self, state, rank: int, iteration: int) -> Verdict:
        verdict = Verdict(lambda: self.known(state, iteration))
        decided = state[rank][2]
        if decided is not None:
            verdict.decide(decided)
        return verdict

    def following(self, state) -> Iterator[tuple]:
        for rank, (main, comm, decided) in enumerate(state):
            new = self.main(state, rank, main, comm, decided)
            if new is not None:
                yield (*state[:rank], new, *state[rank + 1 :])
            new = self.comm(state, rank, main, comm, decided)
            if new is not None:
                yield (*state[:rank], new, *state[rank + 1 :])

    def over(self, main: int) -> bool:
        iteration = main // MAIN
        stopped = self.stops and main % MAIN == OFFER and iteration and self.bad(iteration - 1)
        return iteration == ITERATIONS or bool(stopped)

    def bad(self, iteration: int) -> bool:
        return bad_loss(iteration, self.losses[iteration]) is not None

    def main(self, state, rank, main, comm, decided):
        iteration, step = divmod(main, MAIN)
        if self.over(main):
            return None
        if step == OFFER:
            verdict = self.verdict(state, rank, iteration)
            verdict.begin()
            return main + 1, comm, verdict.update
        if step == DECIDE and self.known(state, iteration) is not None:
            verdict = self.verdict(state, rank, iteration)
            verdict.decide(not (self.stops and self.bad(iteration)))
            return main + 1, comm, verdict.update
        if step == FINISH and comm == (iteration + 1) * COMM:
            return main + 1, comm, decided
        return None

    def comm(self, state, rank, main, comm, decided):
        iteration, step = divmod(comm, COMM)
        begun = main > iteration * MAIN + OFFER  # gradients are there after the loss was offered
        if iteration == ITERATIONS or not begun:
            return None
        if step == UPDATE:
            verdict = self.verdict(state, rank, iteration)
            if verdict.update is None:
                return None
            self.outcomes.add((iteration, rank, verdict.update))
            return main, comm + 1, decided
        if step == FIRST:  # takes the gradients of all, and the second part their updates
            met = all(other > iteration * MAIN + OFFER for other, _, _ in state)
        else:
            met = all(other >= comm for _, other, _ in state)
        return (main, comm + 1, decided) if met else None


@pytest.mark.parametrize("stops", [True, False])
@pytest.mark.parametrize("bad", [None, (0, 0), (1, 0), (1, 1)])
@pytest.mark.parametrize("ranks", [2, 3])
def test_all_ranks_update_or_none(ranks: int, bad: tuple[int, int] | None, stops: bool) -> None:
    losses = [[1.0] * ranks for _ in range(ITERATIONS)]
    if bad:
        losses[bad[0]][bad[1]] = float("nan")
    world = World(losses, stops)
    seen, todo = {world.start()}, [world.start()]
    while todo:
        state = todo.pop()
        following = list(world.following(state))
        if not following:
            assert all(world.over(main) for main, _, _ in state), f"a deadlock: {state}"
        todo += [s for s in following if s not in seen]
        seen.update(following)
    last = bad[0] if bad and stops else ITERATIONS - 1
    for iteration in range(last + 1):
        updated = not (stops and world.bad(iteration))
        found = {u for i, _, u in world.outcomes if i == iteration}
        assert found == {updated}
