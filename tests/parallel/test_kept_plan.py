"""The plan of a run: kept in its snapshots, used again, and the same every time if asked for."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from cases import LINKS, Case, build

from pycaffe_dist.parallel.cluster import distribute
from pycaffe_dist.parallel.exchange.way import Way
from pycaffe_dist.parallel.plan.links import AlphaBeta, Links
from pycaffe_dist.parallel.plan.plan import Plan
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.parallel.transport.communicator import Communicator
from pycaffe_dist.solvers import snapshots
from pycaffe_dist.testing.ranks import run_ranks

FAST = replace(LINKS, between=AlphaBeta(1e-7, 1e-12), gemm_flops=1e6)  # bytes cost nothing
SLOW = replace(LINKS, between=AlphaBeta(1e-7, 1e-5), gemm_flops=1e13)  # and here, computing


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[Links]:
    """What the links of the next runs are found to be, of any number."""
    found: list[Links] = []
    monkeypatch.setattr(Way, "links", lambda self, communicator: found[0])
    return found


def plans(settings: ClusterSettings, folder: Path, ranks: int = 2, resume: str = "") -> list[Plan]:
    """The plans by which ranks train, and which their snapshot has."""

    def work(communicator: Communicator) -> Plan:
        solver = build(Case("conv"), [communicator.rank], communicator.size, f"{folder}/run")
        if resume and communicator.rank == 0:
            solver.notes = snapshots.read_notes(resume)
        with distribute(solver, settings, communicator) as cluster:
            if resume:
                solver.restore(resume)
            solver.step(1)
            solver.snapshot()
            return cluster.plan

    return run_ranks(ranks, work, 20)


def schemes(plan: Plan) -> list[str]:
    return [entry.scheme for entry in plan.entries]


def test_a_run_that_goes_on_keeps_its_plan(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, measured: list[Links]
) -> None:
    measured[:] = [FAST]
    first = plans(ClusterSettings(), tmp_path)[0]
    measured[:] = [SLOW]
    other = plans(ClusterSettings(), tmp_path_factory.mktemp("other"))[0]
    assert schemes(other) != schemes(first)  # or nothing would be tested here
    state = f"{tmp_path}/run_iter_1.solverstate"
    for iteration in (2, 3):  # a snapshot of a run that has gone on has it, too
        assert plans(ClusterSettings(), tmp_path, resume=state) == [first, first]
        state = f"{tmp_path}/run_iter_{iteration}.solverstate"


@pytest.mark.parametrize(
    ("settings", "ranks"),
    [(ClusterSettings(overlap=False), 2), (ClusterSettings(), 3)],
    ids=["flags", "ranks"],
)
def test_a_run_that_goes_on_otherwise_is_planned_anew(
    tmp_path: Path, measured: list[Links], settings: ClusterSettings, ranks: int
) -> None:
    measured[:] = [FAST]
    first = plans(ClusterSettings(), tmp_path)[0]
    measured[:] = [SLOW]
    state = f"{tmp_path}/run_iter_1.solverstate"
    again = plans(settings, tmp_path, ranks, state)[0]
    assert schemes(again) != schemes(first)
    notes = snapshots.read_notes(f"{tmp_path}/run_iter_2.solverstate")
    assert notes["plan"]["plan"]["ranks"] == ranks


def test_a_deterministic_run_measures_nothing(tmp_path: Path, measured: list[Links]) -> None:
    settings = ClusterSettings(deterministic=True)
    assert measured == []
    assert plans(settings, tmp_path) == plans(settings, tmp_path)


def test_a_plan_is_a_note_that_json_can_hold(tmp_path: Path, measured: list[Links]) -> None:
    measured[:] = [LINKS]
    plans(ClusterSettings(), tmp_path)
    notes = snapshots.read_notes(f"{tmp_path}/run_iter_1.solverstate")
    assert json.loads(json.dumps(notes)) == notes
    assert snapshots.read_notes(f"{tmp_path}/of_caffe.solverstate") == {}
