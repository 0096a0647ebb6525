"""Forty seeds of fuzz_cluster.py, and that it would notice what it looks for."""

import sys
from pathlib import Path

import pytest

from pycaffe_dist.parallel import dwbp
from pycaffe_dist.parallel.exchange import parcel
from pycaffe_dist.parallel.plan import plan
from pycaffe_dist.parallel.schemes import sf_push
from pycaffe_dist.parallel.schemes.sharded import SHARDED
from pycaffe_dist.parallel.ssp import items as ssp_items
from pycaffe_dist.parallel.transport import comm_thread, streams

sys.path.append(str(Path(__file__).parents[2] / "scripts"))

from cluster_fuzz import run
from cluster_fuzz.case import KINDS, draw
from cluster_fuzz.judge import judge

SEEDS = range(1, 41)


@pytest.fixture(autouse=True)
def as_before(monkeypatch):
    """What a case sets for the process is set back."""
    for module, names in {
        comm_thread: ["go_before"],
        plan: ["BUCKETS", "USUAL_BUCKET"],
        streams: ["CHUNK"],
        ssp_items: ["CHUNK"],
        parcel: ["BLOCK"],
        sf_push: ["BLOCK"],
        SHARDED: ["least_bytes"],
    }.items():
        for name in names:
            monkeypatch.setattr(module, name, getattr(module, name))


@pytest.mark.timeout(180)  # on a busy machine
@pytest.mark.parametrize("seed", SEEDS)
def test_ranks_do_what_one_rank_with_the_joint_batch_does(seed, tmp_path):
    verdict, words, _ = judge(draw(seed, via="threads"), tmp_path)
    assert verdict in ("agrees", "skipped"), words


@pytest.mark.timeout(240)  # on a busy machine: processes start
def test_ranks_of_mpirun_do_so_too(tmp_path):
    """All runs of the case are by the same processes."""
    pytest.importorskip("mpi4py")
    with run.MPI_RANKS:
        verdict, words, _ = judge(draw(1, "exact", "mpi"), tmp_path)
    assert verdict == "agrees", words


def test_seeds_are_of_all_kinds():
    cases = [draw(seed) for seed in SEEDS]
    assert {case.kind for case in cases} == set(KINDS)
    assert vars(draw(7)) == vars(cases[6])
    assert len({case.net for case in cases}) == len(cases)


def test_gradients_that_get_lost_are_noticed(monkeypatch, tmp_path):
    case = next(c for seed in SEEDS if (c := draw(seed, "exact", "threads")).comparable)
    case.settings |= {"comm": "allreduce", "comm_layer": {}}
    receive = dwbp.Dwbp._receive

    def received(self, parcel):
        receive(self, parcel)
        for param in parcel.learnable:
            param.blob.diff[...] = 0

    monkeypatch.setattr(dwbp.Dwbp, "_receive", received)
    verdict, words, _ = judge(case, tmp_path)
    assert verdict == "DIFFERS", words
