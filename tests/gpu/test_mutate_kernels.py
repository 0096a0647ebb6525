"""Changed kernels are caught: all of two files here, those of all files by make mutate-kernels."""

import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from pycaffe_dist.engines.cupy.kernels import KERNELS

NAMES = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "mutate_kernels.py"))
FILES = ("sums.cu", "softmax.cu")
mutants, sample, trial = NAMES["mutants"], NAMES["sample"], NAMES["trial"]
KNOWN = NAMES["equivalents"]()


def of(file):
    return [mutant for mutant in mutants(file) if mutant.key not in KNOWN]


def test_every_kernel_has_mutants_of_every_kind():
    everything = mutants()
    assert {name for mutant in everything for name in mutant.kernels} == set(KERNELS)
    assert {m.kind for m in everything} == {"barrier", "guard", "index", "bound", "atomic", "fence"}
    assert sum(len(of(file)) for file in FILES) >= 60


@pytest.mark.parametrize("file", FILES)
def test_all_mutants_of_a_file_are_caught(file):
    chosen = of(file)
    assert {"barrier", "index", "bound"} <= {mutant.kind for mutant in chosen}
    survived = [str(m) for m, tried in sample(chosen, len(chosen), seed=1) if not trial(m, tried)]
    assert not survived, "\n".join(survived)


def test_races_are_told_as_such():
    said = {m.kind: trial(m, m.kernels[:1]) for m in of("sums.cu") if m.function == "block_sum"}
    assert said["barrier"].startswith("access: ") and "no barrier is between" in said["barrier"]


def test_where_nothing_is_changed_nothing_is_caught():
    mutant = replace(of("softmax.cu")[0], number=0)
    assert trial(mutant, mutant.kernels) == ""


def test_a_seed_is_a_sample():
    everything = mutants("softmax.cu")
    assert sample(everything, 5, seed=3) == sample(everything, 5, seed=3)
    assert sample(everything, 5, seed=3) != sample(everything, 5, seed=4)


def test_what_is_listed_as_equivalent_is_a_mutant_and_has_a_reason():
    assert set(KNOWN) <= {mutant.key for mutant in mutants()}
    assert all(KNOWN.values())
