"""pcd weights: stats, diff, edit, dump and load of small files."""

import numpy as np
import pytest

from pycaffe_dist.loading import load_weights
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.proto.weights import read_weights, write_weights

CONV = np.arange(24, dtype=np.float32).reshape(2, 3, 2, 2) - 10
BIAS = np.array([0.5, -0.5], np.float32)
SCORE = np.random.default_rng(1).normal(2, 3, (4, 50)).astype(np.float32)


def write(path, **layers):
    net = NetParameter(name="small")
    net.layer.extend(LayerParameter(name=name, type="Convolution") for name in layers)
    write_weights(path, net, list(layers.values()))


def read(path):
    return {la.name: [b.data for b in la.blobs] for la in read_weights(path).layers}


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "a.caffemodel", conv=[CONV, BIAS], score=[SCORE, np.ones(4, np.float32)])
    return tmp_path


def test_stats(call, folder):
    done = call("weights", "stats", "a.caffemodel")
    assert done.returncode == 0
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[1] == ["conv/0", "2x3x2x2", "-10", "13", "1.5", f"{CONV.std():.4g}", "4", "%"]
    assert lines[4] == ["score/1", "4", "1", "1", "1", "0", "0", "%"]
    assert done.stdout.endswith("2 layers, 230 values\n")


def test_nan_is_found_and_the_code_is_1(call, folder):
    bad = CONV.copy()
    bad.reshape(-1)[:3] = np.nan, np.inf, -np.inf
    write(folder / "bad.caffemodel", conv=[bad])
    done = call("weights", "stats", "bad.caffemodel")
    assert done.returncode == 1
    assert done.stdout.splitlines()[1].split()[-1] == "3"
    assert done.stderr == "bad.caffemodel: 3 values are NaN or infinite\n"


def test_histogram(call, folder):
    done = call("weights", "stats", "a.caffemodel", "--only", "score", "--histogram", "conv/1")
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["score/0", "score/1"]
    bars = lines[lines.index("conv/1: 2 values") + 1 :]
    assert len(bars) == 20
    assert [bar.count("#") for bar in bars] == [40, *[0] * 18, 40]
    assert bars[0].split()[0] == "-0.5"


def test_diff(call, folder):
    other = CONV.copy()
    other[0, 0, 0, 0] -= 0.5
    write(folder / "b.caffemodel", conv=[other, BIAS], last=[BIAS])
    done = call("weights", "diff", "a.caffemodel", "b.caffemodel")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[:2] == [
        'layer "score" is in the first only',
        'layer "last" is in the second only',
    ]
    assert lines[3].split() == ["conv/0", "2x3x2x2", "0.5", "0.038", "1", "of", "24"]
    assert len(lines) == 4


def test_diff_of_the_same_and_of_nearly_the_same(call, folder):
    assert call("weights", "diff", "a.caffemodel", "a.caffemodel").stdout == "no difference\n"
    near = [CONV * np.float32(1 + 1e-6), BIAS]
    write(folder / "b.caffemodel", conv=near, score=[SCORE, np.ones(4, np.float32)])
    assert call("weights", "diff", "a.caffemodel", "b.caffemodel").returncode == 1
    done = call("weights", "diff", "a.caffemodel", "b.caffemodel", "--tolerance", "1e-5")
    assert (done.returncode, done.stdout) == (0, "no difference above 1e-05\n")


def test_a_difference_of_just_the_tolerance_does_not_count(call, folder):
    write(folder / "one.caffemodel", last=[np.float32([1, 2])])
    write(folder / "two.caffemodel", last=[np.float32([1, 2.5])])  # a quarter of 2 apart
    for tolerance, code in (("0.25", 0), ("0.2", 1)):
        given = ("one.caffemodel", "two.caffemodel", "--tolerance", tolerance)
        assert call("weights", "diff", *given).returncode == code


def test_diff_of_other_shapes(call, folder):
    write(folder / "b.caffemodel", conv=[CONV[:1], BIAS], score=[SCORE, np.ones(4, np.float32)])
    done = call("weights", "diff", "a.caffemodel", "b.caffemodel")
    assert done.stdout == 'layer "conv" has (2, 3, 2, 2), (2,) and (1, 3, 2, 2), (2,)\n'


@pytest.mark.parametrize("form", ["npz", "safetensors"])
def test_out_and_back(call, folder, form):
    assert call("weights", "dump", "a.caffemodel", "-o", f"a.{form}").returncode == 0
    assert call("weights", "load", f"a.{form}", "-o", "b.caffemodel").returncode == 0
    assert call("weights", "diff", "a.caffemodel", "b.caffemodel").returncode == 0
    if form == "npz":
        with np.load("a.npz") as arrays:
            np.testing.assert_array_equal(arrays["conv/0"], CONV)
    else:  # which keeps what else there is
        assert (folder / "b.caffemodel").read_bytes() == (folder / "a.caffemodel").read_bytes()


def test_edit(call, folder):
    done = call(
        *("weights", "edit", "a.caffemodel", "-o", "b.caffemodel"),
        *("--rename", "score=conv", "--rename", "conv=first", "--classes", "score=6"),
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = read("b.caffemodel")
    assert list(found) == ["first", "conv"]
    weight, bias = found["conv"]
    np.testing.assert_array_equal(weight[:4], SCORE)
    np.testing.assert_array_equal(bias, np.ones(6))
    assert abs(weight[4:].mean() - 2) < 1
    assert abs(weight[4:].std() - 3) < 1


def test_fewer_classes_and_pruned_layers(call, folder):
    args = "weights", "edit", "a.caffemodel", "-o", "b.caffemodel"
    call(*args, "--classes", "score=3", "--prune", "co*")
    found = read("b.caffemodel")
    assert list(found) == ["score"]
    np.testing.assert_array_equal(found["score"][0], SCORE[:3])


def test_what_was_edited_is_loaded(call, folder):
    call("weights", "edit", "a.caffemodel", "-o", "b.caffemodel", "--classes", "score=7")
    net = parse_text(
        'layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 50 } } } '
        'layer { name: "score" type: "InnerProduct" bottom: "data" top: "score" '
        "inner_product_param { num_output: 7 } }",
        NetParameter(),
    ).message
    built = Net(net)
    load_weights(built, "b.caffemodel", strict=False)
    np.testing.assert_array_equal(built.layers[-1].blobs[0].data[:4], SCORE)


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (
            ["edit", "a.caffemodel", "-o", "b", "--rename", "conf=x"],
            1,
            '"conf"; did you mean "conv"',
        ),
        (["edit", "a.caffemodel", "-o", "b", "--rename", "conv=score"], 1, "two layers would be"),
        (["edit", "a.caffemodel", "-o", "b", "--prune", "fc*"], 1, 'matches "fc*"'),
        (["edit", "a.caffemodel", "-o", "b", "--classes", "conv=0"], 1, "cannot have 0 outputs"),
        (["edit", "a.caffemodel", "-o", "b", "--classes", "conv=x"], 2, "'conv=x'"),
        (["edit", "a.caffemodel", "-o", "b", "--rename", "conv"], 2, "'conv' is not"),
        (["edit", "a.caffemodel", "-o", "b"], 2, "needs --rename"),
        (["edit", "a.caffemodel"], 2, "needs -o FILE"),
        (["stats", "a.caffemodel", "-o", "b"], 2, "writes no file"),
        (["diff", "a.caffemodel"], 2, "takes 2 files, found 1"),
        (["dump", "a.caffemodel", "-o", "b.txt"], 2, ".npz or .safetensors"),
        (["load", "a.caffemodel", "-o", "b"], 2, "load takes .npz"),
        (["stats", "none.npz"], 1, "none.npz"),
    ],
)
def test_what_is_wrong_is_told(call, folder, args, code, message):
    done = call("weights", *args)
    assert done.returncode == code
    assert message in done.stderr
    assert not (folder / "b").exists()


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"conv": CONV}, "'conv' is not LAYER/NUMBER"),
        ({"conv/1": CONV}, r'layer "conv" has the blobs [1] only'),
    ],
)
def test_arrays_that_are_no_weights_are_told(call, folder, arrays, message):
    np.savez(folder / "x.npz", **arrays)
    done = call("weights", "load", "x.npz", "-o", "b.caffemodel")
    assert done.returncode == 1
    assert message in done.stderr
