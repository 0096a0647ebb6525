"""Forty seeds of fuzz_cluster.py, and that it would notice what it looks for."""

import sys
from pathlib import Path

import numpy as np
import pytest

from pycaffe_dist.parallel import dwbp
from pycaffe_dist.parallel.exchange import parcel
from pycaffe_dist.parallel.plan import plan
from pycaffe_dist.parallel.schemes import sf_push
from pycaffe_dist.parallel.schemes.sharded import SHARDED
from pycaffe_dist.parallel.ssp import items as ssp_items
from pycaffe_dist.parallel.transport import comm_thread, streams
from pycaffe_dist.parallel.transport.wire import WIRES, BFloat16

sys.path.append(str(Path(__file__).parents[2] / "scripts"))

from cluster_fuzz import rounding, run
from cluster_fuzz.case import KINDS, draw
from cluster_fuzz.judge import CLOSE, Difference, compare, judge, within
from cluster_fuzz.run import Result

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


# -- rounding --------------------------------------------------------------------------------------


@pytest.fixture
def sent():
    """A case in which half the bits are sent between nodes."""
    case = next(c for seed in SEEDS if (c := draw(seed, "wire", "threads")).comparable)
    case.settings |= {"comm": "allreduce", "comm_layer": {}, "wire": "bf16"}
    case.hosts = [f"h{i}" for i in range(case.ranks)]
    return case


def test_half_the_bits_are_near(sent, tmp_path):
    verdict, words, _ = judge(sent, tmp_path)
    assert verdict == "agrees", words


def test_gradients_that_are_a_tenth_too_large_are_noticed(sent, tmp_path, monkeypatch):
    """With bf16 alone: runs by which rounding is measured do not have this fault."""
    receive = dwbp.Dwbp._receive

    def received(self, parcel):
        receive(self, parcel)
        for param in parcel.learnable if WIRES["bf16"] is BFloat16 else ():
            param.blob.diff[...] *= 1.1

    monkeypatch.setattr(dwbp.Dwbp, "_receive", received)
    verdict, words, _ = judge(sent, tmp_path)
    assert (verdict, words[:6]) == ("DIFFERS", "ranks:"), words


def test_a_rank_that_is_left_out_where_numbers_are_rounded_is_noticed(sent, tmp_path, monkeypatch):
    """All wires that round have this fault, those that round at random, too."""
    take = streams.Receiving.take

    def taken(self):
        chunk = take(self)
        lost = chunk is not None and self._into is None and not self._port.wire.exact
        return chunk * 0 if lost and self._source == 0 else chunk

    monkeypatch.setattr(streams.Receiving, "take", taken)
    verdict, words, _ = judge(sent, tmp_path)
    assert verdict == "DIFFERS", words
    assert "a wire that does not round" in words


@pytest.mark.parametrize(("name", "bits"), [("bf16", 8), ("fp16", 11)])
def test_numbers_are_rounded_to_one_of_their_neighbours(name, bits):
    wire = rounding.AT_RANDOM[name]()
    values = np.random.default_rng(1).standard_normal(20000).astype(np.float32)
    rounded = wire.unpack(wire.pack(values))
    error = np.abs(rounded - values) / np.abs(values)
    assert 2.0**-bits < error.max() < 2.0 ** (1 - bits)  # to nearest it ends at the former
    assert abs(np.mean((rounded - values) / np.abs(values))) < 2.0**-bits / 50
    assert (wire.unpack(wire.pack(rounded)) == rounded).all()
    assert (wire.pack(values) == wire.pack(values)).all()


def test_no_number_becomes_larger_than_the_largest():
    wire = rounding.AT_RANDOM["fp16"]()
    assert wire.unpack(wire.pack(np.float32([1e6, 65504, -7e4, 0]))).tolist() == [
        65504.0, 65504.0, -65504.0, 0.0,
    ]  # fmt: skip


def of(*weights):
    return Result([np.array(w) for w in weights], [], [f"w{i}" for i, _ in enumerate(weights)])


def test_what_rounding_does_not_explain_differs():
    exact, other = of([1.0, 2.0], [0.0, 0.0]), of([1.0, 2.001], [1e-6, 0.0])
    assert within(of([1.0, 2.003], [0.0, 3e-6]), exact, [other], 8, "") < 0.5
    for wrong in (of([1.1, 2.2], [0.0, 0.0]), of([1.0, 2.0], [0.0, 1e-5])):
        with pytest.raises(Difference, match="rounding explains"):
            within(wrong, exact, [other], 8, "")
    with pytest.raises(Difference):
        within(of([np.nan, 2.0], [0.0, 0.0]), exact, [other], 8, "")


def test_a_sum_that_cancels_is_as_near_as_its_terms_are():
    joint, nudged, mine = of([1.0], [1e-15]), of([1.0], [-2e-14]), of([1.0], [5e-14])
    with pytest.raises(Difference, match="w1 is off"):
        compare(mine, joint, "ranks", CLOSE)
    assert compare(mine, joint, "ranks", CLOSE, nudged) < 1e-7
    with pytest.raises(Difference, match="w1 is off"):
        compare(of([1.0], [1e-12]), joint, "ranks", CLOSE, nudged)
    with pytest.raises(Difference, match="w0 is off"):  # by more than any rounding
        compare(of([1.1], [1e-15]), joint, "ranks", CLOSE, of([1.1], [1e-15]))
