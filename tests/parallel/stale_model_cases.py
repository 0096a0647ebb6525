"""Stale training in every order in which messages can come: see stale_model.py."""

import json
from dataclasses import asdict

import pytest
from stale_model import Event, Model

from pycaffe_dist.errors import PcdError
from pycaffe_dist.memory import Array
from pycaffe_dist.parallel.board import Board
from pycaffe_dist.parallel.job.watchdog import blame
from pycaffe_dist.parallel.ssp.clocks import Clocks
from pycaffe_dist.parallel.ssp.ssp import Ssp
from pycaffe_dist.parallel.ssp.stale_board import StaleBoard

KINDS = ["stop", "snapshot", "nan", "late", "crash"]


def expected(event: Event, staleness: int, steps: int) -> list[str]:
    """What all ranks decide, but for the exchanges on the way."""
    # Iterations are done when a board is acted on.
    acts = event.at + (staleness + 2 if staleness else 1)
    if event.kind in ("stop", "late"):
        return [f"end {acts} True" if acts <= steps else f"end {steps} False"]
    if event.kind == "snapshot":
        return [f"snapshot {acts}"] * (acts <= steps) + [f"end {steps} False"]
    stops = min(acts - 1, steps)
    written = [f"snapshot {stops}"] if event.on_nan == "snapshot" else []
    words = f"iteration {event.at}: the loss of rank {event.rank}"
    return [*written, f"error {stops} {words}"]


def decisions(model: Model) -> list[str]:
    words = ("end", "snapshot", "error")
    return [text for text in model.ends()[0].decided if text.startswith(words)]


def check(model: Model) -> None:
    model.explore()
    if model.event.kind == "crash":
        stalls = model.stalls()
        assert stalls, "nobody misses a rank that is no more"
        reports = [json.dumps(asdict(stall)) for stall in stalls]
        assert blame(reports, model.ranks).startswith(f"rank {model.event.rank} did not answer")
    elif model.event.kind:
        assert decisions(model) == expected(model.event, model.staleness, model.steps)


@pytest.mark.parametrize("staleness", [0, 1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_two_ranks(kind: str, staleness: int) -> None:
    steps = staleness + 4
    for at, rank in ((0, 1), (1, 0), (steps - 1, 1)):
        check(Model(2, staleness, Event(kind, rank, at), steps))


@pytest.mark.parametrize("staleness", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_three_ranks(kind: str, staleness: int) -> None:
    check(Model(3, staleness, Event(kind, 1, 0), 3))


def test_three_ranks_two_apart() -> None:
    check(Model(3, 2, Event("nan", 2, 1, on_nan="snapshot"), 4))


@pytest.mark.parametrize("kind", ["stop", "snapshot", "nan"])
def test_tests_and_snapshots_on_the_way(kind: str) -> None:
    """Where ranks settle they know all boards at once; what they decide then is the same, too."""
    for at in (0, 1, 2):
        Model(2, 2, Event(kind, 1, at), 6, snapshot=2).explore()
        Model(2, 2, Event(kind, 0, at), 6, test=3).explore()


def test_a_snapshot_after_a_loss_that_is_no_number_is_of_numbers() -> None:
    for at in (0, 2):
        check(Model(2, 1, Event("nan", 1, at, on_nan="snapshot"), 5))


# -- faults that the model must find ---------------------------------------------------------------


def own_row_first(ssp: Ssp, settling: bool) -> list[tuple[int, Array]]:
    """As long as there is no board of all, a rank takes its own row for one."""
    board = ssp._mail.board
    if not settling and board.written <= ssp.staleness + 1:
        return [(0, board._rows[board.written - 1][ssp.rank][None])]
    return READ(ssp, settling)


READ = Ssp._boards


@pytest.mark.parametrize("kind", ["stop", "snapshot", "nan"])
def test_a_rank_that_acts_on_its_own_row_is_found(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Ssp, "_boards", own_row_first)
    with pytest.raises(AssertionError, match=r"deadlock|one rank is in|does"):
        check(Model(2, 1, Event(kind, 1, 0), 5))


@pytest.mark.parametrize("kind", ["stop", "nan"])
def test_a_board_that_is_not_waited_for_is_found(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Board, "offered", lambda board: board._numbers)
    with pytest.raises(AssertionError, match=r"deadlock|one rank is in|does|with more messages"):
        check(Model(2, 0, Event(kind, 1, 1), 4))


def test_a_board_that_is_read_when_it_happens_to_be_there_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    due = StaleBoard.due

    def eager(board: StaleBoard, settling: bool) -> range:
        there = range(board.read, board.written)
        return due(board, settling) if board.missing(there) else there

    monkeypatch.setattr(StaleBoard, "due", eager)
    with pytest.raises(AssertionError, match="with more messages"):
        check(Model(2, 1, Event("stop", 1, 1), 5))


def test_a_bound_that_is_exceeded_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = Clocks.missing
    monkeypatch.setattr(Clocks, "missing", lambda self, items, c: missing(self, items, c - 1))
    with pytest.raises((AssertionError, PcdError), match="iterations ahead"):
        check(Model(2, 1, Event(), 4))


def test_an_update_that_is_not_held_back_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ssp, "bad_alone", lambda self: False)
    with pytest.raises(AssertionError, match=r"of no numbers|with more messages"):
        check(Model(2, 1, Event("nan", 1, 1, on_nan="snapshot"), 5))
