"""Every file of the zoo: nets and solvers of other people, as they published them."""

import json
import re
from functools import cache
from pathlib import Path

import pytest

from pycaffe_dist.errors import FileError, NetError, PrototxtError, UpgradeError
from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN, NetState
from pycaffe_dist.proto.nets import read_net, read_solver
from pycaffe_dist.proto.splits import insert_splits
from pycaffe_dist.proto.state import filter_net
from pycaffe_dist.proto.upgrade import net_needs_upgrade, upgrade_net
from pycaffe_dist.proto.weights import read_weights

ZOO = Path(__file__).resolve().parents[3] / "shared" / "zoo"
pytestmark = pytest.mark.skipif(not ZOO.exists(), reason="no ../shared/zoo beside the repository")

INDEX = json.loads((ZOO / "index.json").read_text()) if ZOO.exists() else {}
ANSWERS = json.loads((ZOO / "answers.json").read_text()) if ZOO.exists() else {}
EMPTY = "BeloborodovDS+MobilenetSSDFace/models/empty.caffemodel"


def files(kind):
    return pytest.mark.parametrize("name", INDEX.get(kind, ["no zoo"]))


def built(net, phase):
    """The names of the layers as a Net would have them."""
    return [layer.name for layer in insert_splits(filter_net(net, NetState(phase=phase))).layer]


def assert_built_or_refused(net):
    """Some files are pieces, or need stages, or are wrong: then a bottom is missing."""
    for phase in (TRAIN, TEST):
        try:
            assert len(built(net, phase)) <= 3 * len(net.layer)
        except NetError as e:
            assert str(e).startswith("Unknown bottom blob")


@cache
def read_fork(name):
    """A net of a fork, or why it is refused."""
    try:
        return read_net(ZOO / "nets" / name).net
    except (PrototxtError, UpgradeError) as e:
        return e


def read(name):
    """A net, upgraded once and for all, every layer of which knows its line."""
    file = read_net(ZOO / "nets" / name)
    assert not file.net.layers
    assert not file.net.input
    again = type(file.net)()
    again.CopyFrom(file.net)
    assert upgrade_net(again)
    assert again == file.net
    made = [la.type == "Input" and la.name == "input" for la in file.net.layer]
    lines = file.lines_of(file.net)
    assert all(line or first for line, first in zip(lines, made, strict=True))
    known = [line for line in lines if line]
    assert known == sorted(known)
    return file.net


@files("deploy")
def test_deploy_net(name):
    net = read(name)
    if answer := ANSWERS.get(name):
        assert built(net, TEST) == answer["layers"]


@files("train")
def test_training_net(name):
    net = read(name)
    assert net.layer
    assert not net_needs_upgrade(net) or any(la.type == "BatchNorm" for la in net.layer)
    assert_built_or_refused(net)


@files("solver")
def test_solver(name):
    solver = read_solver(ZOO / "nets" / name).message
    assert solver.HasField("snapshot_prefix")
    assert not solver.HasField("solver_type")


@files("fork")
def test_net_of_a_fork(name):
    """It is read, or every line that is not BVLC's is named."""
    path = ZOO / "nets" / name
    net = read_fork(name)
    if isinstance(net, PrototxtError):
        lines = path.read_bytes().decode("utf-8", "replace").split("\n")
        for problem in net.problems:
            assert problem.path == str(path)
            quoted = re.search(r'has no field "(\w+)"|cannot be (\w+)', problem.message)
            if quoted:
                word = quoted[1] or quoted[2]
                assert lines[problem.line - 1][problem.column - 1 :].startswith(word)
        places = [(p.line, p.column) for p in net.problems]
        assert places == sorted(places)
    elif isinstance(net, UpgradeError):
        assert str(net).startswith(f"{path}: ")
    else:
        assert_built_or_refused(net)


def test_nearly_all_nets_of_forks_are_read():
    """The others are templates, or broken in themselves: a value twice, both formats mixed."""
    refused = [e for e in map(read_fork, INDEX["fork"]) if isinstance(e, PrototxtError)]
    assert len(INDEX["fork"]) == 190
    assert len(refused) <= 8


@files("weights")
def test_weights(name):
    path = ZOO / "nets" / name
    if name == EMPTY:
        with pytest.raises(FileError) as e:
            read_weights(path)
        assert str(e.value) == f"{path}: is empty; weights (.caffemodel) was expected here"
        return
    layers = read_weights(path).layers
    blobs = [b for layer in layers for b in layer.blobs]
    assert blobs
    assert len({layer.name for layer in layers}) > 1
    assert all(b.data.dtype == "f4" and b.data.size for b in blobs)
    assert any(b.data.any() for b in blobs)
