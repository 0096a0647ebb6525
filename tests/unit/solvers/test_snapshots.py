"""Snapshots: names, exact resuming, damage, space, and what a kill leaves behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from pycaffe_dist import sidecar
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.proto.caffe_pb2 import NetParameter, SolverParameter, SolverState
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.solver import Solver
from pycaffe_dist.solvers import snapshots
from pycaffe_dist.solvers.capture import Capture
from pycaffe_dist.solvers.run_lock import only_run

NET = """
name: "drops"
layer { name: "x" type: "DummyData" top: "x" top: "t"
  dummy_data_param { shape { dim: 8 dim: 20 } shape { dim: 8 dim: 5 }
    data_filler { type: "gaussian" } data_filler { type: "gaussian" } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip"
  inner_product_param { num_output: 5 weight_filler { type: "gaussian" std: 0.1 } } }
layer { name: "drop" type: "Dropout" bottom: "ip" top: "ip" }
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "t" top: "loss" }
"""


@pytest.fixture
def make(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.prototxt").write_text(NET)

    def solver(settings="", seed=1):
        text = (
            f'net: "net.prototxt" base_lr: 0.05 momentum: 0.9 lr_policy: "fixed" max_iter: 20 '
            f'random_seed: {seed} snapshot_prefix: "run" {settings}'
        )
        return Solver(parse_text(text, SolverParameter()).message)

    return solver


def weights(solver):
    return np.concatenate([p.blob.data.ravel() for p in solver.net.params.learnable])


@pytest.mark.parametrize("form", ["BINARYPROTO", "HDF5"])
@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_going_on_is_exact(make, form, kind):
    """2N iterations are N, a snapshot, and N more in a new solver: bit for bit, dropout and all."""
    settings = f'snapshot_format: {form} type: "{kind}"'
    whole = make(settings)
    whole.step(20)
    half = make(settings)
    half.step(10)
    half.snapshot()
    (snapshot,) = snapshots.find("run")
    resumed = make(settings, seed=77)
    resumed.restore(snapshot.state)
    assert resumed.iter == 10
    resumed.step(10)
    np.testing.assert_array_equal(weights(resumed), weights(whole))


COUNTING = """
import numpy as np
import pycaffe_dist as caffe

class Counting(caffe.Layer):
    def setup(self, bottom, top):
        self.passes = 0
    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].data.shape)
    def forward(self, bottom, top):
        self.passes += 1
        top[0].data[...] = bottom[0].data / self.passes
    def backward(self, top, propagate_down, bottom):
        bottom[0].diff[...] = top[0].diff / self.passes
    def get_state(self):
        return {"in all: passes": np.int64(self.passes)}
    def set_state(self, state):
        self.passes = state["in all: passes"]
"""


def test_a_python_layer_goes_on_from_what_it_gave(make, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "counting_of_snapshots.py").write_text(COUNTING)
    python = 'python_param { module: "counting_of_snapshots" layer: "Counting" }'
    counting = f'layer {{ name: "count" type: "Python" bottom: "ip" top: "out" {python} }}'
    net = NET.replace('layer { name: "drop" type: "Dropout" bottom: "ip" top: "ip" }', counting)
    net = net.replace('bottom: "ip" bottom: "t"', 'bottom: "out" bottom: "t"')
    (tmp_path / "net.prototxt").write_text(net)
    whole = make("snapshot: 3")
    whole.step(6)
    resumed = make()
    resumed.restore("run_iter_3.solverstate")
    resumed.step(3)
    np.testing.assert_array_equal(weights(resumed), weights(whole))


def test_files_are_what_caffe_writes(make):
    solver = make()
    solver.step(3)
    solver.snapshot()
    state = SolverState.FromString(Path("run_iter_3.solverstate").read_bytes())
    assert (state.iter, state.learned_net) == (3, "run_iter_3.caffemodel")
    assert [list(h.shape.dim) for h in state.history] == [[5, 20], [5]]
    net = NetParameter.FromString(Path("run_iter_3.caffemodel").read_bytes())
    assert [layer.name for layer in net.layer] == ["x", "ip", "drop", "loss"]
    np.testing.assert_array_equal(list(net.layer[1].blobs[0].data), weights(solver)[:100])


def test_when_snapshots_are_made(make):
    solver = make("snapshot: 8")
    solver.solve()
    assert [s.iteration for s in snapshots.find("run")] == [8, 16, 20]


def test_weights_found_beside_a_moved_state(make, tmp_path):
    solver = make()
    solver.step(2)
    solver.snapshot()
    away = tmp_path / "away"
    away.mkdir()
    for file in tmp_path.glob("run_iter_2.*"):
        file.rename(away / file.name)
    resumed = make(seed=5)
    resumed.restore(str(away / "run_iter_2.solverstate"))
    np.testing.assert_array_equal(weights(resumed), weights(solver))


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (lambda p: p.unlink(), 4),
        (lambda p: p.write_bytes(p.read_bytes()[:-1]), 4),
        (lambda p: p.write_bytes(b""), 4),
        (lambda p: p.write_bytes(p.read_bytes()[:50] + b"\x01" + p.read_bytes()[51:]), 4),
        (lambda p: None, 8),
    ],
    ids=["gone", "short", "empty", "flipped", "whole"],
)
@pytest.mark.parametrize("end", [".caffemodel", ".solverstate"])
def test_the_newest_whole_snapshot_is_found(make, end, damage, found):
    solver = make("snapshot: 4")
    solver.step(8)
    damage(Path(f"run_iter_8{end}"))
    assert snapshots.newest_whole("run").iteration == found


@pytest.mark.parametrize("form", ["BINARYPROTO", "HDF5"])
def test_a_snapshot_whose_writer_was_ended_before_the_third_file_is_passed_over(
    make, form, monkeypatch
):
    """It has no data position: training would go on from it with other batches."""
    solver = make(f"snapshot: 4 snapshot_format: {form}")
    solver.step(4)
    monkeypatch.setattr(Capture, "_write_sidecar", lambda *_: None)
    solver.step(4)
    first, second = snapshots.find("run")
    assert (first.iteration, second.iteration) == (4, 8)
    assert snapshots.newest_whole("run") == first


def test_nothing_found_at_the_start(make):
    make()
    assert snapshots.newest_whole("run") is None


def test_a_state_of_another_solver_type_is_refused(make):
    solver = make()
    solver.step(1)
    solver.snapshot()
    with pytest.raises(NetError, match="holds 2 history blobs, a Adam solver"):
        make('type: "Adam"').restore("run_iter_1.solverstate")


def test_a_weights_file_is_no_state(make):
    solver = make()
    solver.step(1)
    solver.snapshot()
    with pytest.raises(FileError, match=r"looks like weights .* solver state"):
        make().restore("run_iter_1.caffemodel")


@pytest.mark.parametrize("owner", ["0/4", "0/40", "1/0", "1/40"])  # the net has 4 layers, no tests
@pytest.mark.parametrize("array", [True, False])
@pytest.mark.host
def test_the_state_of_another_net_is_refused(make, owner, array):
    solver = make()
    solver.snapshot()
    path = sidecar.beside("run_iter_0.solverstate")
    arrays, facts = sidecar.read(path)
    if array:
        arrays[f"{owner}/position"] = np.zeros(3)
    else:
        facts["layers"][f"{owner}/position"] = 7
    sidecar.write(path, arrays, facts)
    with pytest.raises(
        FileError, match="was written by another net; remove it to continue without"
    ):
        make().restore("run_iter_0.solverstate")


def test_unwritable_prefix_is_found_before_training(make, tmp_path):
    (tmp_path / "run_iter_0.tempfile").mkdir()
    with pytest.raises(FileError, match="snapshot_prefix"):
        make("snapshot: 5")


def test_too_little_space_leaves_nothing(make, monkeypatch):
    solver = make()
    monkeypatch.setattr(
        snapshots.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 66_300})
    )
    says = r"needs 66,376 bytes, 66,300 bytes are free; nothing was written"
    with pytest.raises(FileError, match=says):
        solver.snapshot()
    assert not list(Path().glob("run_iter_*"))


def test_one_run_at_a_time_and_leftovers_go(make, tmp_path):
    make()
    left = tmp_path / ".run_iter_7.caffemodel.abc.tmp"
    other = tmp_path / ".other_iter_7.caffemodel.abc.tmp"
    left.touch()
    other.touch()
    with only_run("run"):
        assert not left.exists()
        with pytest.raises(FileError, match="another run is writing"), only_run("run"):
            pass
    with only_run("run"):
        assert other.exists()
    assert not (tmp_path / ".run.lock").exists()


@pytest.mark.host  # the process that is killed computes on NumPy
def test_kill_at_any_moment_leaves_a_whole_snapshot(make, tmp_path):
    """SIGKILL while snapshots are written all the time; every time there is one to go on from."""
    make()
    code = (  # it has imported everything when it forks, for each line, one that is to be killed
        "import os, sys\n"
        "from tests_solver import solver\n"
        "for line in sys.stdin:\n"
        "    pid = os.fork()\n"
        "    if pid == 0:\n"
        "        s = solver(); s.step(1); s.snapshot(); print(os.getpid(), flush=True)\n"
        "        while True: s.step(1); s.snapshot()\n"
        "    os.waitpid(pid, 0); print('gone', flush=True)\n"
    )
    (tmp_path / "tests_solver.py").write_text(
        "from pycaffe_dist.proto.caffe_pb2 import SolverParameter\n"
        "from pycaffe_dist.proto.text import parse_text\n"
        "from pycaffe_dist.solver import Solver\n"
        "from pycaffe_dist.solvers import snapshots\n"
        "def solver():\n"
        '    text = \'net: "net.prototxt" base_lr: 0.05 lr_policy: "fixed" max_iter: 99999 \'\n'
        "    text += 'snapshot_prefix: \"run\"'\n"
        "    s = Solver(parse_text(text, SolverParameter()).message)\n"
        "    found = snapshots.newest_whole('run')\n"
        "    if found: s.restore(found.state)\n"
        "    return s\n"
    )
    rng = np.random.default_rng(1)
    reached = 0
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    for _ in range(5):
        print(file=process.stdin, flush=True)
        pid = int(process.stdout.readline())
        time.sleep(rng.uniform(0.02, 0.2))
        os.kill(pid, signal.SIGKILL)
        assert process.stdout.readline() == "gone\n"
        found = snapshots.newest_whole("run")
        assert found is not None
        assert found.iteration >= reached
        newest = max(int(f.name.split("_")[2].split(".")[0]) for f in tmp_path.glob("run_iter_*"))
        assert found.iteration >= newest - 1
        reached = found.iteration
        for old in snapshots.find("run")[:-2]:
            snapshots.remove(old)
    process.communicate()
    assert reached > 0
    assert os.getcwd() == str(tmp_path)
