"""Forty seeds of fuzz_cluster.py, and that it would notice what it looks for."""

import sys
from pathlib import Path

import numpy as np
import pytest

from pycaffe_dist.data import prefetch
from pycaffe_dist.parallel import comm_thread, dwbp, factors, parcel, plan, ssp_items, streams

sys.path.append(str(Path(__file__).parents[2] / "scripts"))

from cluster_fuzz.case import KINDS, draw
from cluster_fuzz.judge import judge

SEEDS = range(1, 41)


@pytest.fixture(autouse=True)
def as_before(monkeypatch):
    """What a case sets for the process is set back."""
    for module, names in {
        comm_thread: ["go_before"],
        plan: ["BUCKETS", "USUAL_BUCKET", "SHARDED_FROM"],
        streams: ["CHUNK"],
        ssp_items: ["CHUNK"],
        parcel: ["BLOCK"],
        factors: ["BLOCK"],
    }.items():
        for name in names:
            monkeypatch.setattr(module, name, getattr(module, name))
    yield
    prefetch.set_shuffle(False)


@pytest.mark.timeout(180)  # on a busy machine
@pytest.mark.parametrize("seed", SEEDS)
def test_ranks_do_what_one_rank_with_the_joint_batch_does(seed, tmp_path):
    verdict, words, _ = judge(draw(seed, via="threads"), tmp_path)
    assert verdict in ("agrees", "skipped"), words


def test_seeds_are_of_all_kinds():
    cases = [draw(seed) for seed in SEEDS]
    assert {case.kind for case in cases} == set(KINDS)
    assert vars(draw(7)) == vars(cases[6])
    assert len({case.net for case in cases}) == len(cases)


def test_a_gradient_that_stays_on_its_rank_is_noticed(monkeypatch, tmp_path):
    case = draw(3, "exact", "threads")
    monkeypatch.setattr(dwbp.Dwbp, "_receive", _forgetful(dwbp.Dwbp._receive))
    verdict, words, _ = judge(case, tmp_path)
    assert verdict == "DIFFERS", words


def _forgetful(receive):
    """What came back from the others is lost, but for the first of it."""

    def received(self, parcel):
        receive(self, parcel)
        if parcel is not self.parcels[0]:
            for param in parcel.learnable:
                param.blob.diff[...] = np.float32(0)

    return received
