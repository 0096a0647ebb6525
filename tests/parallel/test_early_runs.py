"""A few of the cases of scripts/early_faults.py: real ranks, real signals, early iterations."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("mpi4py")

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

from early_faults import EARLY, LAST, SCHEMES, Case, judge, numbers


@pytest.mark.parametrize(
    "case",
    [
        Case(2, "auto", 1, False, "2", 1, 0, "batch", "stop"),
        Case(2, "sfb", 2, True, "15", 1, 5, "backward", "stop"),
        Case(2, "allreduce", 3, False, "nan", 0, 1, "batch", "snapshot"),
    ],
    ids=["int", "term-after-a-resume", "nan"],
)
def test_what_befalls_one_rank_early_ends_as_promised(case, tmp_path):
    assert judge(case, tmp_path) == []


def test_a_number_decides_everything():
    drawn = [Case.draw(number) for number in numbers("1-200")]
    assert drawn[16:17] == [Case.draw(number) for number in numbers("17")]
    assert {case.scheme for case in drawn} == set(SCHEMES)
    assert {case.staleness for case in drawn} == {0, 1, 2, 3}
    assert {case.rank for case in drawn} == {0, 1, 2}
    assert {case.step - 4 * case.resumes for case in drawn} == set(range(EARLY))
    assert all(max(case.heard()) < LAST for case in drawn)  # or a run would end before
