"""Requests and losses that are no numbers in the first iterations: all ranks do the same."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from cases import Case, build, identical, plan_for, weights

from pycaffe_dist.parallel.cluster import distribute
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.parallel.transport.communicator import Communicator
from pycaffe_dist.solver import Action, Solver
from pycaffe_dist.testing.ranks import run_ranks
from pycaffe_dist.tools.guards import LossGuard, TrainingError

STEPS = 8


@dataclass
class Seen:
    """What became of a rank."""

    iteration: int
    early: bool
    weights: list[np.ndarray]
    words: str = ""


def ranks_with(
    case: Case,
    rank: int,
    at: int,
    action: Action = Action.NONE,
    on_nan: str = "stop",
    prefix: str = "",
    steps: int = STEPS,
    hosts: str = "abc",
) -> list[Seen]:
    """All ranks train; one is asked for an action, or gets a batch without numbers, in ``at``."""

    def spoil(solver: Solver, layer: int) -> None:
        if layer == 1 and solver.iter == at and action is Action.NONE:
            solver.net.blobs[0].data[...] = float("nan")

    def work(communicator: Communicator) -> Seen:
        solver = build(case, [communicator.rank], communicator.size, prefix)
        if communicator.rank == rank:
            solver.requested_action = lambda: action if solver.iter == at else Action.NONE
            solver.net.before_forward.append(lambda layer: spoil(solver, layer))
        LossGuard(solver, on_nan, lambda text: None)
        words = ""
        with distribute(solver, case.settings, communicator, plan_for(case, solver, communicator)):
            try:
                solver.step(steps)
            except TrainingError as e:
                words = str(e)
        return Seen(solver.iter, solver.stopped_early, weights(solver), words)

    return run_ranks(list(hosts), work, 60)


def stale(staleness: int, comm: str = "dense") -> Case:
    return Case("conv", "SGD", "", ClusterSettings(staleness=staleness, comm=comm))


@pytest.mark.parametrize("staleness", [1, 3])
@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("rank", [0, 2])
def test_a_stop_asked_of_one_rank_stops_all(staleness: int, at: int, rank: int) -> None:
    everybody = ranks_with(stale(staleness), rank, at, Action.STOP)
    assert [seen.iteration for seen in everybody] == [at + staleness + 2] * 3
    assert all(seen.early for seen in everybody)
    assert identical([seen.weights for seen in everybody])


def test_a_snapshot_asked_of_one_rank_is_made_once(tmp_path: Path) -> None:
    everybody = ranks_with(stale(2), 1, 0, Action.SNAPSHOT, prefix=f"{tmp_path}/run")
    assert [seen.iteration for seen in everybody] == [STEPS] * 3
    assert [path.name for path in tmp_path.glob("*.pcdstate")] == ["run_iter_4.pcdstate"]


@pytest.mark.parametrize("comm", ["dense", "sfb"])
@pytest.mark.parametrize("at", [0, 2, STEPS - 1])
@pytest.mark.parametrize("rank", [0, 1])
def test_an_update_without_numbers_is_in_nobodys_weights(
    tmp_path: Path, comm: str, at: int, rank: int
) -> None:
    """Also in the last iterations, whose losses are known to all only when they settle."""
    everybody = ranks_with(stale(1, comm), rank, at, on_nan="snapshot", prefix=f"{tmp_path}/run")
    end = min(at + 2, STEPS)
    stem = f"{tmp_path}/run_iter_{end}"
    for number, seen in enumerate(everybody):
        assert seen.words.startswith(f"iteration {at}: the loss of rank {rank}")
        place = ' is nan; first seen in layer "data" (Input), top "data"' in seen.words
        assert place == (number == 0)  # who speaks for all
        assert f"the weights are in {stem}" in seen.words
        assert all(np.isfinite(w).all() for w in seen.weights)
    assert identical([seen.weights for seen in everybody])
    assert [str(path) for path in tmp_path.glob("*.pcdstate")] == [f"{stem}.pcdstate"]


def test_an_update_without_numbers_is_made_where_training_goes_on() -> None:
    everybody = ranks_with(stale(1), 1, 2, on_nan="continue")
    assert [seen.iteration for seen in everybody] == [STEPS] * 3
    assert any(np.isnan(w).any() for w in everybody[0].weights)


def test_a_snapshot_is_not_made_of_what_a_bad_loss_has_touched(tmp_path: Path) -> None:
    """The ranks settle for a snapshot, and know the loss before anything is written."""
    case = Case("conv", "SGD", "snapshot: 3", ClusterSettings(staleness=3))
    everybody = ranks_with(case, 1, 2, prefix=f"{tmp_path}/run")
    assert all("iteration 2: the loss of rank 1" in seen.words for seen in everybody)
    assert [seen.iteration for seen in everybody] == [3] * 3
    assert list(tmp_path.glob("*.pcdstate")) == []
