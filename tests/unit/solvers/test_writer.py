"""Snapshots that are written while training goes on, and what their arrays' checksums find."""

import os
import threading
from dataclasses import replace

import numpy as np
import pytest

from pycaffe_dist import sidecar
from pycaffe_dist.errors import FileError
from pycaffe_dist.events import Snapshotted
from pycaffe_dist.loading import NetWeights
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.seal import checksum_of
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.solver import Solver
from pycaffe_dist.solvers import snapshots
from pycaffe_dist.solvers.capture import Capture, Copies, RankState, array_checksums
from pycaffe_dist.solvers.writer import Writer

pytestmark = pytest.mark.host  # the engine has no part in it
SOLVER = """
base_lr: 0.05 momentum: 0.9 lr_policy: "fixed" max_iter: 9 random_seed: 1
net_param {
layer { name: "x" type: "DummyData" top: "x" top: "t"
  dummy_data_param { shape { dim: 2 dim: 4 } shape { dim: 2 dim: 3 }
    data_filler { type: "gaussian" } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip"
  inner_product_param { num_output: 3 weight_filler { type: "gaussian" std: 0.1 } } }
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "t" top: "loss" } }
"""


@pytest.fixture
def make(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def solver(more="", writes_beside=True, prefix="run"):
        param = parse_text(SOLVER + more, SolverParameter()).message
        param.snapshot_prefix = prefix
        made = Solver(param)
        if writes_beside:
            made.writer = Writer()
            made.subscribers.append(made.writer)
        return made

    return solver


def files(folder):
    ends = ("caffemodel", "solverstate", "h5", "pcdstate")
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.name.endswith(ends)}


@pytest.fixture
def gate(monkeypatch):
    """Nothing is written before it opens."""
    gate, write = threading.Event(), Capture.write

    def late(capture, stem):
        assert gate.wait(50)
        write(capture, stem)

    monkeypatch.setattr(Capture, "write", late)
    return gate


@pytest.mark.parametrize("form", ["BINARYPROTO", "HDF5"])
def test_training_goes_on_and_the_snapshot_is_of_its_iteration(make, gate, form, tmp_path):
    told = []
    more = f"snapshot_format: {form} ema_decay: 0.9 snapshot_diff: true"
    beside = make(more)
    beside.subscribers.append(
        lambda event: told.append(event.iteration) if isinstance(event, Snapshotted) else None
    )
    beside.step(2)
    beside.snapshot()
    beside.step(3)
    assert not told
    assert not files(tmp_path)
    gate.set()
    beside.writer.wait()
    assert told == [2]
    found = files(tmp_path)
    (tmp_path / "at once").mkdir()
    alone = make(more, writes_beside=False, prefix="at once/run")
    alone.step(2)
    alone.snapshot()
    at_once = files(tmp_path / "at once")
    assert len(found) == 4
    for name in found.keys() - {"run_iter_2.solverstate", "run_iter_2.solverstate.h5"}:
        if not name.endswith("pcdstate"):  # these have the name of the weights in them
            assert found[name] == at_once[name], name
    states = [make(more, writes_beside=False) for _ in range(2)]
    for state, folder in zip(states, ("run", "at once/run"), strict=True):
        state.restore(snapshots.find(folder)[0].state)
        state.step(4)
    assert weights(states[0]) == weights(states[1])


def weights(solver):
    return b"".join(p.blob.data.tobytes() for p in solver.net.params.learnable)


def test_the_end_of_training_waits_for_what_is_written(make, tmp_path):
    run = make("snapshot: 3")
    run.solve()
    assert [s.iteration for s in snapshots.find("run")] == [3, 6, 9]
    assert len(files(tmp_path)) == 9


def test_an_error_of_the_writer_is_one_of_training(make, monkeypatch):
    def full(*_):
        raise FileError("run_iter_2.caffemodel: no space left")

    monkeypatch.setattr(NetWeights, "write", full)
    run = make()
    run.step(2)
    run.snapshot()
    with pytest.raises(FileError, match="no space left"):
        run.solve()


@pytest.mark.parametrize("form", ["BINARYPROTO", "HDF5"])
@pytest.mark.parametrize("array", ["weights/ip/0", "history/1"])
def test_a_bit_that_flips_between_memory_and_disk_is_found(make, form, array, monkeypatch):
    run = make(f"snapshot_format: {form}", writes_beside=False)
    run.step(1)
    run.snapshot()
    run.step(1)
    write, kept = Capture.write, Capture._write_sidecar

    def flipped(capture, stem):
        """The files get another bit than training had; their own checksums fit them."""
        true = capture
        data = [[a.copy() for a in blobs] for blobs in capture.weights.data]
        history = [a.copy() for a in capture.history]
        values = data[1][0] if array.startswith("weights") else history[1]
        values.view(np.uint8).reshape(-1)[5] ^= 4
        monkeypatch.setattr(Capture, "_write_sidecar", lambda _, *args: kept(true, *args))
        write(replace(capture, weights=replace(capture.weights, data=data), history=history), stem)

    monkeypatch.setattr(Capture, "write", flipped)
    run.snapshot()
    first, second = snapshots.find("run")
    again = make(f"snapshot_format: {form}")
    with pytest.raises(FileError, match=f"the array {array} of this snapshot is not the one"):
        again.restore(second.state)
    assert snapshots.newest_whole("run") == first


def test_the_thread_that_writes_leaves_the_processors_to_training(make):
    seen = []

    class Noted:
        def copied(self, copies):
            return self

        def write(self, stem):
            who = threading.get_native_id()
            seen.append((stem, os.getpriority(os.PRIO_PROCESS, who), threading.current_thread()))

    before = os.getpriority(os.PRIO_PROCESS, 0)
    with Writer() as writer:
        writer.hand_over(Noted(), "s", lambda: seen.append("told"))
        writer.wait()
        writer.wait()  # for nothing: it is told once
    assert seen[0][:2] == ("s", 19) and seen[0][2] is not threading.current_thread()
    assert seen[1:] == ["told"] and os.getpriority(os.PRIO_PROCESS, 0) == before


def test_the_size_of_a_snapshot_is_that_of_its_arrays(make):
    weights = 4 * (4 * 3 + 3)
    plain = Capture.of(made := make(writes_beside=False), [np.zeros(5, np.float32)], [])
    assert plain.size == weights + 4 * 5 + (1 << 16)
    state = replace(RankState.of(made), own={0: np.zeros(7, np.float32)})
    assert replace(plain, ranks=[state, state]).size == plain.size + 2 * 4 * 7
    diffs = Capture.of(make("snapshot_diff: true", writes_beside=False), [], [])
    assert diffs.size == 2 * weights + (1 << 16)
    assert replace(plain, averages=plain.weights).size == plain.size + weights


def test_memory_of_copies_is_used_again_and_shared_arrays_are_copied_once():
    copies, one, two = Copies(), np.ones(3, np.float32), np.ones(4, np.float32)
    first = list(copies.of([one, two, one]).values())
    one[...] = 5
    assert [list(c) for c in first] == [[1] * 3, [1] * 4]
    again = list(copies.of([one, two]).values())
    assert [a is b for a, b in zip(first, again, strict=True)] == [True, True]
    assert list(again[0]) == [5] * 3
    other = list(copies.of([two]).values())
    assert len(other) == 1 and other[0] is not again[1]


def test_checksums_are_of_the_first_of_layers_with_one_name():
    one, two = np.arange(3.0), np.arange(4, dtype=np.float32)
    found = array_checksums([("a/0", one), ("a/0", two), ("b/0", two)], [two, one])
    assert list(found) == ["weights/a/0", "weights/b/0", "history/0", "history/1"]
    assert found["weights/a/0"] == found["history/1"] != found["history/0"]
    assert found["history/1"] == checksum_of(one.astype(np.float32))


def test_leaving_waits_for_what_is_being_written(make, gate):
    solver = make()
    with solver.writer:
        solver.snapshot()
        thread = solver.writer._thread
        threading.Timer(0.05, gate.set).start()
    assert thread is not None and not thread.is_alive()


def test_a_sidecar_keeps_arrays_as_arrays_and_marks_those_of_other_ranks(make, tmp_path):
    solver = make(writes_beside=False)
    keys = np.arange(3, dtype=np.uint32)
    states = [
        RankState([f"rng{r}"], keys + r, {"0/1/a": keys * r, "0/1/n": r}, {"c": str(r)}, {2: keys})
        for r in range(2)
    ]
    Capture.of(solver, [], states).write(str(tmp_path / "s"))
    arrays, facts = sidecar.read(tmp_path / "s.pcdstate")
    assert {n: list(a) for n, a in arrays.items() if n != "facts"} == {
        "rng": [0, 1, 2],
        "0/1/a": [0, 0, 0],
        "own/2": [0, 1, 2],
        "1:rng": [1, 2, 3],
        "1:0/1/a": [0, 1, 2],
        "1:own/2": [0, 1, 2],
    }
    assert facts["layers"] == {"0/1/n": 0, "1:0/1/n": 1} and facts["ranks"] == 2
    assert (facts["rng"], facts["1:rng"]) == (["rng0"], ["rng1"])
    assert (facts["choices"], facts["1:choices"]) == ({"c": "0"}, {"c": "1"})
