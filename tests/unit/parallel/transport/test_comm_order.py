"""The order in which communication threads begin exchanges: all interleavings, on all ranks.

Every rank hands over the same exchanges in the same order, and waits for them at the same points.
An exchange is over on a rank when it is under way, or over, on all of them.  A state says how far
the main thread of each rank is, and which exchanges are under way and over there; which of them
begin is decided by our own thread, whose queues are those of the state.
"""

from collections.abc import Callable, Iterator
from functools import cache

import pytest

from pycaffe_dist.parallel.transport import comm_thread
from pycaffe_dist.parallel.transport.comm_thread import CommThread, Submitted
from pycaffe_dist.parallel.transport.solo import SoloCommunicator

PARCELS = ["a", "b", "c", "d"]
# An iteration: losses, then gradients as backward goes; losses are waited for first.  Then a test.
PROGRAM = [
    ("urgent", "losses"),
    *(("submit", name) for name in PARCELS),
    ("wait", "losses"),
    *(("wait", name) for name in PARCELS),
    ("urgent", "scores"),
    ("wait", "scores"),
]
Rank = tuple[int, frozenset[str], frozenset[str]]  # lines done, exchanges under way, and over
State = tuple[Rank, ...]


def next_jobs(line: int, under_way: frozenset[str], over: frozenset[str]) -> frozenset[str]:
    """What our thread begins in this state."""
    thread = CommThread(SoloCommunicator())
    for kind, name in PROGRAM[:line]:
        if kind != "wait" and name not in under_way | over:
            thread.submit(iter(()), name, urgent=kind == "urgent")
    return frozenset(job.name for job in thread._next(len(under_way)))


def following(state: State, begins: Callable[..., frozenset[str]]) -> Iterator[State]:
    for r, (line, under_way, over) in enumerate(state):

        def rank(*new: object, r: int = r) -> State:
            return (*state[:r], new, *state[r + 1 :])

        if line < len(PROGRAM) and (PROGRAM[line][0] != "wait" or PROGRAM[line][1] in over):
            yield rank(line + 1, under_way, over)
        if begun := begins(line, under_way, over):
            yield rank(line, under_way | begun, over)
        for job in under_way:
            if all(job in at or job in done for _, at, done in state):
                yield rank(line, under_way - {job}, over | {job})


def stuck(ranks: int) -> list[State]:
    """The states in which nothing can happen any more, but for the one at the end."""
    start: State = ((0, frozenset(), frozenset()),) * ranks
    seen, todo, found = {start}, [start], []
    begins = cache(next_jobs)
    while todo:
        state = todo.pop()
        after = set(following(state, begins))
        if not after and any(line < len(PROGRAM) for line, _, _ in state):
            found.append(state)
        todo += after - seen
        seen |= after
    return found


@pytest.mark.parametrize("most", [1, 2])
def test_two_ranks_never_wait_in_a_circle(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comm_thread, "MOST_UNDER_WAY", most)
    assert stuck(2) == []


def test_a_thread_that_begins_with_the_newest_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comm_thread, "MOST_UNDER_WAY", 1)
    oldest_first: Callable[[CommThread, int], list[Submitted[None]]] = CommThread._next

    def newest_first(self: CommThread, under_way: int) -> list[Submitted[None]]:
        self._waiting.reverse()
        return oldest_first(self, under_way)

    monkeypatch.setattr(CommThread, "_next", newest_first)
    assert stuck(2)
