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
pytestmark = pytest.mark.skipif(not ZOO.exists(), reason="no ../shared beside the repository")

CAPTCHA = "LiJianfei06+caffe-project-VggNet-ResNet-DenseNet/ljf_captcha_4_ResNet-20_hdf5"
COUNTS = {"deploy": 129, "train": 107, "solver": 154, "fork": 190, "weights": 9}
INDEX = json.loads((ZOO / "index.json").read_text()) if ZOO.exists() else {}
ANSWERS = json.loads((ZOO / "answers.json").read_text()) if ZOO.exists() else {}
# Training nets that lack a bottom, and in which phases: tr(a)in, t(e)st.
REFUSED = {
    "345ishaan+Digit-Recognizer/lenet_train_test.prototxt": "a",
    f"{CAPTCHA}/test_ResNet_20.prototxt": "a",
    f"{CAPTCHA}/train_ResNet_20.prototxt": "e",
    "NVIDIA+DIGITS/digits/standard-networks/caffe/alexnet.prototxt": "ae",
    "NVIDIA+DIGITS/digits/standard-networks/caffe/googlenet.prototxt": "ae",
    "NVIDIA+DIGITS/digits/standard-networks/caffe/lenet.prototxt": "ae",
    "WolfeTyler+DeepLearning-MNIST-Handwritting/original.prototxt": "ae",
    "ZhitingHu+NN/examples/mnist/mnist_autoencoder.prototxt": "e",
    "happynear+caffe-windows@master/examples/pycaffe/Inception_ResNet_v2.prototxt": "a",
    "intel+caffe/examples/LRCN_activity_recognition/train_test_singleFrame_RGB.prototxt": "e",
    "intel+caffe/models/bvlc_alexnet/train_val_client.prototxt": "e",
    "jwcom79+caffe@pushin_1/examples/cifar10/test/cifar10_full_train_test.prototxt": "ae",
}
EMPTY = "BeloborodovDS+MobilenetSSDFace/models/empty.caffemodel"


def files(kind):
    """Each in a test of its own, which is skipped and counted where they are not."""
    return pytest.mark.parametrize("name", INDEX.get(kind, range(COUNTS[kind])))


def test_index_is_the_one_the_figures_are_for():
    assert {kind: len(names) for kind, names in INDEX.items()} == COUNTS


def built(net, phase):
    """The names of the layers as a Net would have them."""
    return [layer.name for layer in insert_splits(filter_net(net, NetState(phase=phase))).layer]


def refused(net):
    """The phases in which a net is not built, for want of a bottom that no layer before it makes.

    Some files are pieces, or need stages, or are wrong.
    """
    phases = ""
    for phase, letter in ((TRAIN, "a"), (TEST, "e")):  # of train and test
        try:
            assert len(built(net, phase)) <= 3 * len(net.layer)
        except NetError as e:
            found = re.match(
                r"Unknown bottom blob '(.*)' \(layer '(.*)', bottom index (\d+)\)", str(e)
            )
            blob, name, index = found.groups()
            layers = filter_net(net, NetState(phase=phase)).layer
            at = [layer.name for layer in layers].index(name)
            assert layers[at].bottom[int(index)] == blob
            assert not any(blob in layer.top for layer in layers[:at])
            phases += letter
    return phases


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
    assert refused(net) == REFUSED.get(name, "")


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
        refused(net)


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
