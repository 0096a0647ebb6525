"""How much is loaded by whoever uses little: modules are counted, no time is measured."""

import json
import shlex
import subprocess
import sys

import numpy as np
import pytest

from pycaffe_dist.data.database import write_database
from pycaffe_dist.data.lmdb_writer import image_record
from pycaffe_dist.proto.hdf5 import write_layers

NET = (
    "input: 'x' input_shape { dim: 1 dim: 3 } layer { name: 'r' type: 'ReLU' bottom: 'x' top: 'y' }"
)
LOADED = "\nimport json, sys\nprint(json.dumps(sorted(sys.modules)), file=sys.stderr)"
CLI = "from pycaffe_dist.cli import main\nassert main({}) == 0"


def loaded_by(text, folder):
    command = [sys.executable, "-c", text + LOADED]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr.splitlines()[-1]))


def ours(modules):
    return {name for name in modules if name.partition(".")[0] == "pycaffe_dist"}


def test_errors_load_themselves_alone(tmp_path):
    assert ours(loaded_by("import pycaffe_dist.errors", tmp_path)) == {
        "pycaffe_dist",
        "pycaffe_dist.errors",
        "pycaffe_dist.pycaffe",
        "pycaffe_dist.version",
    }


def test_help_loads_no_verb_and_no_library(tmp_path):
    modules = loaded_by(CLI.format(["--help"]), tmp_path)
    assert not {"numpy", "google.protobuf", "argparse"} & modules
    assert ours(modules) == {
        "pycaffe_dist",
        "pycaffe_dist.cli",
        "pycaffe_dist.errors",
        "pycaffe_dist.pycaffe",
        "pycaffe_dist.version",
    }


def test_checking_a_net_loads_its_layers_only(tmp_path):
    (tmp_path / "net.prototxt").write_text(NET)
    modules = loaded_by(CLI.format(["check", "net.prototxt"]), tmp_path)
    unneeded = {"h5py", "lmdb", "PIL", "cramjam", "crc32c", "fissix", "mpi4py", "cupy", "llvmlite"}
    unneeded |= {"numpy.random", "importlib.metadata", "tempfile", "pycaffe_dist.solver"}
    assert not unneeded & modules
    # Those of BVLC and of forks whose type it is, and what they share.
    found = {name for name in modules if name.startswith("pycaffe_dist.layers.")}
    assert found == {f"pycaffe_dist.layers.{name}" for name in ("input", "relu", "neuron", "work")}
    assert len(ours(modules)) < 85


REGISTERED = """
import pkgutil, sys
from collections import defaultdict
from importlib import import_module
from pycaffe_dist import layers, registry
found = {name: set(modules) for name, modules in registry._modules().items()}
for module in pkgutil.walk_packages(layers.__path__, layers.__name__ + "."):
    import_module(module.name)
really = defaultdict(set)
for name, cls in registry.LAYERS.items():
    really[name].add(cls.__module__)
for name, readings in registry.READINGS.items():
    really[name].update(one.cls.__module__ for one in readings)
wrong = {name for name in found.keys() | really if found.get(name) != really.get(name)}
sys.exit(str(wrong) if wrong or len(found) < 150 else 0)
"""


def test_the_register_finds_every_module_by_its_text():
    """In a process of its own: tests register layers, too."""
    command = [sys.executable, "-c", REGISTERED]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


WITHOUT = """
import sys
for name in {missing}:
    sys.modules[name] = None
from pycaffe_dist.cli import main
codes = [main(["--help"]), main(["check", "net.prototxt"]), main(["db", "lmdb"])]
codes += [main(["db", "leveldb"]), main(["check", "w.caffemodel.h5"])]
sys.exit(str(codes))
"""


@pytest.mark.parametrize(
    ("missing", "codes", "told"),
    [
        (
            ["h5py"],
            [0, 0, 0, 0, 1],
            "HDF5 files needs the Python module 'h5py'",
        ),
        (["lmdb", "PIL"], [0, 0, 1, 0, 0], "Reading and writing LMDBs needs the Python module 'lm"),
        (["crc32c", "cramjam"], [0, 0, 0, 1, 1], "needs the Python module 'crc32c'"),
    ],
    ids=["h5py", "lmdb", "crc32c"],
)
def test_a_missing_package_is_told_by_who_needs_it(tmp_path, missing, codes, told):
    records = [image_record("0", np.zeros((1, 2, 2), np.uint8), 0)]
    for kind in ("lmdb", "leveldb"):
        write_database(tmp_path / kind, kind, records)
    write_layers(tmp_path / "w.caffemodel.h5", ["ip"], [[np.zeros(2)]])
    (tmp_path / "net.prototxt").write_text(NET)
    command = [sys.executable, "-c", WITHOUT.format(missing=missing)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.stderr.splitlines()[-1] == str(codes), done.stderr
    assert told in done.stderr
    assert f"Install it with: {shlex.quote(sys.executable)} -m pip install" in done.stderr
    assert "Traceback" not in done.stderr


def test_pycaffe_s_messages_are_there_after_the_import(tmp_path):
    code = "import pycaffe_dist as caffe\nassert caffe.proto.caffe_pb2.Datum().label == 0"
    assert "pycaffe_dist.proto.caffe_pb2" in loaded_by(code, tmp_path)
    assert "pycaffe_dist.proto.caffe_pb2" not in loaded_by("import pycaffe_dist.proto", tmp_path)
