"""Verbs given the wrong kind of file, files that are missing, and modules that users write."""

import json
import re
import subprocess
import sys

import pytest

from pycaffe_dist.registry import LAYERS

NET = """name: "small"
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 4 dim: 3 } } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip"
        inner_product_param { num_output: 2 } }
"""
LOSS = 'layer { name: "l" type: "EuclideanLoss" bottom: "ip" bottom: "p" top: "l" }\n'
PYTHON = """layer { name: "p" type: "Python" bottom: "ip" top: "p"
        python_param { module: "leaves_a_file" layer: "Mine" } }
"""
SOLVER = """net: "net.prototxt" base_lr: 0.1 lr_policy: "fixed" max_iter: 1
snapshot_after_train: 0 snapshot_prefix: "s" """
MODULE = """import caffe
open("ran", "w").close()
class Mine(caffe.Layer):
    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].shape)
"""
REGISTERS = """from pycaffe_dist.layers.relu import ReLU
from pycaffe_dist.layer import register
@register("Mine")
class Mine(ReLU):
    pass
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path[:])
    (tmp_path / "net.prototxt").write_text(NET + PYTHON + LOSS)
    (tmp_path / "solver.prototxt").write_text(SOLVER)
    (tmp_path / "leaves_a_file.py").write_text(MODULE)
    yield tmp_path
    for name in ("leaves_a_file", "my_layers"):
        sys.modules.pop(name, None)
    LAYERS.pop("Mine", None)


# -- Python layers ---------------------------------------------------------------------------------

LOOKING = {
    "check": ["check", "net.prototxt"],
    "check a solver": ["check", "solver.prototxt"],
    "summary": ["summary", "net.prototxt"],
    "plan": ["plan", "--solver", "solver.prototxt", "--ranks", "2", "--gflops", "1"],
}


@pytest.mark.parametrize("args", LOOKING.values(), ids=LOOKING)
def test_who_only_looks_imports_nothing(call, here, args):
    done = call(*args)
    assert done.returncode == 0, done.stderr
    assert (
        'layer "p" (Python, Mine of module leaves_a_file) is not run' in done.stdout + done.stderr
    )
    assert "--allow-python" in done.stdout + done.stderr
    assert not (here / "ran").exists()


@pytest.mark.parametrize("args", LOOKING.values(), ids=LOOKING)
def test_who_asks_for_it_has_it_imported(call, here, args):
    done = call(*args, "--allow-python")
    assert done.returncode == 0, done.stderr
    assert "not run" not in done.stdout + done.stderr
    assert (here / "ran").exists()


def test_drawing_imports_nothing(call, here):
    assert call("draw", "net.prototxt", "net.svg", "--own").returncode == 0
    assert not (here / "ran").exists()
    assert "Python" in (here / "net.svg").read_text()


def test_a_summary_as_json_says_what_is_unknown(call):
    whole = json.loads(call("summary", "net.prototxt", "--json").stdout)
    notes = {layer["name"]: layer["note"] for layer in whole["layers"]}
    assert (notes["ip"], notes["p"], notes["l"]) == ("", "not run", "unknown")
    assert whole["not_run"] == ['layer "p" (Python, Mine of module leaves_a_file)']


def test_a_wrong_class_is_one_line(call, here):
    (here / "leaves_a_file.py").write_text(MODULE.replace("bottom[0].shape", "bottom[9].shape"))
    done = call("check", "--allow-python", "net.prototxt")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert re.match(
        r'error: net.prototxt:5: layer "p" \(Python\): .*py:5: IndexError: ', done.stderr
    )


# -- layers of one's own ---------------------------------------------------------------------------

OWN = NET + 'layer { name: "m" type: "Mine" bottom: "ip" top: "m" }'
BUILDING = {
    "check": ["check", "net.prototxt"],
    "summary": ["summary", "net.prototxt"],
    "plan": LOOKING["plan"],
    "time": ["time", "--model", "net.prototxt", "--iterations", "1"],
    "train": ["train", "--solver", "solver.prototxt"],
}


@pytest.mark.parametrize("args", BUILDING.values(), ids=BUILDING)
def test_import(call, here, args):
    (here / "net.prototxt").write_text(OWN)
    (here / "my_layers.py").write_text(REGISTERS)
    done = call(*args)
    assert done.returncode == 1
    assert 'layer "m": type "Mine" is not known' in done.stdout + done.stderr
    done = call(*args, "--import", "my_layers.py")
    assert done.returncode == 0, done.stderr
    LAYERS.pop("Mine")
    del sys.modules["my_layers"]
    done = call(*args, "--import=my_layers")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "verb",
    ["check", "summary", "plan", "time", "test", "train", "predict", "extract_features"],
)
def test_every_verb_that_builds_nets_takes_imports(call, verb):
    assert "--import MODULE" in call(verb, "--help").stdout


def test_an_import_that_fails(call, here):
    (here / "my_layers.py").write_text("1 / 0")
    done = call("summary", "net.prototxt", "--import", "my_layers")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(
        f"pcd summary: --import my_layers: {here}/my_layers.py:1: ZeroDivisionE"
    )


# -- a solver for a net ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args",
    [
        ["summary", "solver.prototxt"],
        ["draw", "solver.prototxt", "a.svg"],
        ["time", "-model", "solver.prototxt"],
        ["test", "-model", "solver.prototxt", "-weights", "w"],
        ["predict", "a.png", "-model", "solver.prototxt", "-weights", "w"],
        ["classify", "a.png", "a.npy", "--model_def", "solver.prototxt"],
        ["extract_features", "w", "solver.prototxt", "ip", "db", "1", "lmdb"],
        ["upgrade_net_proto_text", "solver.prototxt", "out"],
    ],
    ids=lambda args: args[0],
)
def test_a_solver_where_a_net_belongs(call, here, args):
    (here / "w").touch()
    done = call(*args)
    assert done.returncode == (2 if args[0].startswith("upgrade") else 1)
    assert "solver.prototxt: this is a solver; its net is net.prototxt\n" in done.stderr


@pytest.mark.parametrize(
    "args",
    [
        ["train", "-solver", "net.prototxt"],
        ["plan", "-solver", "net.prototxt", "-ranks", "2"],
        ["upgrade_solver_proto_text", "net.prototxt", "out"],
    ],
    ids=lambda args: args[0],
)
def test_a_net_where_a_solver_belongs(call, args):
    done = call(*args)
    assert done.returncode == (2 if args[0].startswith("upgrade") else 1)
    assert done.stderr.endswith("net.prototxt: this is a net; its solver is solver.prototxt\n")


# -- what is missing -------------------------------------------------------------------------------

MISSING = NET.replace('type: "Input"', 'type: "Data"').replace(
    "input_param { shape { dim: 4 dim: 3 } }", 'data_param { source: "gone" }'
)


@pytest.mark.parametrize(
    "args",
    [
        ["train", "-solver", "solver.prototxt"],
        ["test", "-model", "net.prototxt", "-weights", "w"],
        ["time", "-model", "net.prototxt"],
        ["extract_features", "w", "net.prototxt", "ip", "db", "1", "lmdb"],
    ],
    ids=lambda args: args[0],
)
def test_a_missing_database_is_found_before_a_net_is_built(call, here, args):
    (here / "net.prototxt").write_text(MISSING)
    (here / "w").touch()
    done = call(*args)
    assert done.returncode == 1
    assert (
        'net.prototxt:2: layer "data" (Data): its source "gone" is not there, seen' in done.stderr
    )
    assert "Initializing net" not in done.stderr
    assert len(done.stderr.splitlines()) == 2


@pytest.mark.parametrize(
    "args",
    [
        ["train", "-solver", "solver.prototxt", "-weights", "gone.caffemodel"],
        ["test", "-model", "net.prototxt", "-weights", "gone.caffemodel"],
        ["extract_features", "gone.caffemodel", "net.prototxt", "ip", "db", "1", "lmdb"],
    ],
    ids=lambda args: args[0],
)
def test_missing_weights_are_found_before_a_net_is_built(call, here, args):
    (here / "net.prototxt").write_text(NET)
    done = call(*args)
    assert done.returncode == 1
    assert done.stderr.startswith(
        f'pcd {args[0]}: the weights file "gone.caffemodel" is not there, seen from'
    )
    assert len(done.stderr.splitlines()) == 1


# -- layers that write -----------------------------------------------------------------------------

WRITES = """layer { name: "x" type: "DummyData" top: "x" top: "t"
        dummy_data_param { shape { dim: 2 dim: 3 } shape { dim: 2 dim: 1 } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip"
        inner_product_param { num_output: 1 } }
layer { name: "l" type: "EuclideanLoss" bottom: "ip" bottom: "t" top: "l" }
layer { name: "out" type: "HDF5Output" bottom: "ip" bottom: "t"
        hdf5_output_param { file_name: "precious" } }
"""
TRYING = {
    "check": ["check", "net.prototxt"],
    "summary": ["summary", "net.prototxt"],
    "time": ["time", "-model", "net.prototxt", "-iterations", "2"],
    "tune": ["tune", "net.prototxt"],
    "a dry run": ["train", "-solver", "solver.prototxt", "-dry_run", "2"],
    "a dry run with tests": ["train", "-solver", "tests.prototxt", "-dry_run", "2"],
}


@pytest.mark.parametrize("args", TRYING.values(), ids=TRYING)
def test_a_net_that_is_only_tried_writes_nothing(call, here, args):
    (here / "net.prototxt").write_text(WRITES)
    (here / "tests.prototxt").write_text(f"{SOLVER} test_iter: 2 test_interval: 1")
    (here / "precious").write_text("precious")
    done = call(*args)
    # Without oneDNN there is nothing to tune.
    assert done.returncode == 0 or "nothing to measure" in done.stderr, done.stderr
    assert (here / "precious").read_text() == "precious"


def test_a_net_that_is_tested_writes(call, here):
    (here / "net.prototxt").write_text(WRITES)
    args = ("train", "-solver", "solver.prototxt", "--set", "snapshot_after_train=1")
    assert call(*args).returncode == 0
    (here / "precious").unlink()
    args = ("test", "-model", "net.prototxt", "-weights", "s_iter_1.caffemodel", "-iterations", "1")
    assert call(*args).returncode == 0
    assert (here / "precious").read_bytes().startswith(b"\x89HDF")


def test_a_package_that_lies_in_the_working_folder_brings_no_layers(tmp_path):
    """`python -m` puts the working folder, which may be a stranger's, in front of its path."""
    info = tmp_path / "planted-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: planted\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[pycaffe_dist.layers]\nx = leaves_a_file\n")
    (tmp_path / "leaves_a_file.py").write_text(MODULE)
    (tmp_path / "unknown.prototxt").write_text(
        NET + 'layer { name: "x" type: "Mine" bottom: "ip" }'
    )
    command = [sys.executable, "-m", "pycaffe_dist", "check", "unknown.prototxt"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert said.returncode == 1 and "Mine" in said.stderr
    assert not (tmp_path / "ran").exists()
