import numpy as np
import pytest

from pycaffe_dist.blob import Blob, View
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.layers.loss import class_numbers, places
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.testing import LayerCase, LayerRun, as_host

LABELS = np.array([2.0, 0, 1])
LOSSES = {
    "ContrastiveLoss": [(3, 4), (3, 4), np.array([1.0, 0, 1])],
    "EuclideanLoss": [(3, 4), (3, 4)],
    "HingeLoss": [(3, 4), LABELS],
    "InfogainLoss": [(3, 4), LABELS, (4, 4)],
    "MultinomialLogisticLoss": [np.full((3, 4), 0.25), LABELS],
    "SigmoidCrossEntropyLoss": [(3, 4), np.full((3, 4), 0.5)],
    "SoftmaxWithLoss": [(3, 4), LABELS],
}
CLASSES = ["HingeLoss", "InfogainLoss", "MultinomialLogisticLoss", "SoftmaxWithLoss"]


def make(name, settings="", dtype=np.float64, inputs=None):
    return LayerRun(LayerCase(f'type: "{name}" {settings}', inputs or LOSSES[name]), dtype)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("weight", [3.7, -2.5, 0])
def test_weight(name, weight):
    plain, weighted = make(name), make(name, f"loss_weight: {weight}")
    plain.forward()
    weighted.load()
    total = weighted.layer.run_forward(weighted.bottom, weighted.top)
    loss = float(plain.top[0].blob.data)
    assert plain.top[0].shape == ()
    assert loss != 0
    np.testing.assert_allclose(weighted.top[0].blob.data, loss)
    np.testing.assert_allclose(float(total), np.float32(weight) * loss)
    flags = [i == 0 for i in range(len(plain.bottom))]
    plain.layer.backward(plain.top, flags, plain.bottom)
    weighted.layer.backward(weighted.top, flags, weighted.bottom)
    gradient = plain.bottom[0].blob.diff
    assert (gradient != 0).any()
    np.testing.assert_allclose(weighted.bottom[0].blob.diff, np.float32(weight) * gradient)


@pytest.mark.parametrize("name", LOSSES)
def test_the_weight_is_what_the_diff_holds(name):
    run = make(name)
    run.forward()
    assert run.top[0].blob.diff == 1
    run.backward([np.array(1.0)], [i == 0 for i in range(len(run.bottom))])
    once = run.bottom[0].blob.diff.copy()
    run.forward()
    run.backward([np.array(-4.0)], [i == 0 for i in range(len(run.bottom))])
    np.testing.assert_allclose(run.bottom[0].blob.diff, -4 * once)


@pytest.mark.parametrize("name", LOSSES)
def test_float32_is_close_to_float64(name):
    runs = [make(name, dtype=dtype) for dtype in (np.float32, np.float64)]
    for run in runs:
        run.forward()
        run.backward([np.array(1.0)], [i == 0 for i in range(len(run.bottom))])
    for part in ("data", "diff"):
        a, b = (getattr((run.top if part == "data" else run.bottom)[0].blob, part) for run in runs)
        assert a.dtype == np.float32
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", LOSSES)
def test_the_batch_may_grow_and_be_empty(name):
    run = make(name)
    for num in (5, 0, 3):
        inputs = []
        for i, (view, given) in enumerate(zip(run.bottom, LOSSES[name], strict=True)):
            shape = given if isinstance(given, tuple) else given.shape
            gains = name == "InfogainLoss" and view is run.bottom[2]
            view.reshape(num if not gains else 4, *shape[1:])
            inputs.append(np.full(view.shape, 0.5 / (i + 1)))
        run.inputs = inputs
        loss = run.forward()[0]
        run.backward([np.array(1.0)], [i == 0 for i in range(len(run.bottom))])
        assert np.isfinite(loss)
        assert (loss == 0) == (num == 0)


@pytest.mark.parametrize("name", LOSSES)
def test_lengths_must_agree(name):
    inputs = [np.zeros((2, 4)), *LOSSES[name][1:]]
    with pytest.raises(NetError, match=r"different lengths: \(2, 4\) and \(3,"):
        make(name, inputs=inputs)
    with pytest.raises(NetError, match="need an axis for the items"):
        make(name, inputs=[np.zeros(()), *LOSSES[name][1:]])


@pytest.mark.parametrize(
    "name", [n for n in LOSSES if n not in ("EuclideanLoss", "ContrastiveLoss")]
)
def test_labels_have_no_gradient(name):
    run = make(name)
    run.forward()
    flags = [True] * 2 + [False] * (len(run.bottom) - 2)
    with pytest.raises(NetError, match="cannot give its labels a gradient"):
        run.backward([np.array(1.0)], flags)


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("label", [4, -1, 255, np.nan])
def test_labels_out_of_range(name, label):
    inputs = [LOSSES[name][0], np.array([0, label, 5]), *LOSSES[name][2:]]
    message = rf'layer "case" \({name}\): label {label:g} at \(1,\) is none of the 4 classes'
    with pytest.raises(NetError, match=message):
        make(name, inputs=inputs).forward()


def test_an_unnamed_top_is_made_and_is_no_output():
    text = """
    layer { name: "x" type: "Input" top: "x" top: "y" input_param { shape { dim: 2 dim: 3 } } }
    layer { name: "L" type: "EuclideanLoss" bottom: "x" bottom: "y" }
    """
    net = Net(parse_text(text, NetParameter()).message)
    net.blobs[0].data[...] = 2
    assert net.forward() == 6
    assert net.output_ids == []


def test_places_point_at_the_scores_of_the_labels():
    folded = (2, 3, 4)
    scores = np.arange(24).reshape(folded)
    labels = np.random.default_rng(0).integers(0, 3, (2, 4))
    at = places(np, labels, folded)
    for i, j in np.ndindex(2, 4):
        assert scores.reshape(-1)[at[i, j]] == scores[i, labels[i, j], j]


def test_class_numbers():
    layer = make("SoftmaxWithLoss").layer
    blob = Blob((2, 1, 3), np.float32)
    blob.data[...] = [[[0, 2.9, -0.9]], [[255, 1, 255.5]]]
    view = View(blob, layer.context.home)
    numbers, counted = class_numbers(layer, view, (2, 3, 3), 255)
    np.testing.assert_array_equal(as_host(numbers), [[0, 2, 0], [0, 1, 0]])
    np.testing.assert_array_equal(as_host(counted), [[True] * 3, [False, True, False]])
    message = r"label 255 at \(1, 0, 0\) is none of the 3 classes \(0 to 2\), nor ignore_label -1"
    with pytest.raises(NetError, match=message):
        class_numbers(layer, view, (2, 3, 3), -1)


def test_a_dry_net_takes_no_memory(monkeypatch):
    def refuse(*_):
        raise AssertionError("values are touched")

    monkeypatch.setattr("pycaffe_dist.memory.Host.allocate", refuse)
    text = """
    layer { name: "x" type: "Input" top: "x" top: "y" input_param { shape { dim: 4 dim: 8 } } }
    layer { name: "l" type: "Input" top: "l" input_param { shape { dim: 4 } } }
    layer { name: "s" type: "Softmax" bottom: "x" top: "s" }
    layer { name: "e" type: "Eltwise" bottom: "s" bottom: "y" top: "e"
            eltwise_param { operation: MAX } }
    layer { name: "f" type: "Filter" bottom: "e" bottom: "l" top: "f" }
    layer { name: "r" type: "Reshape" bottom: "f" top: "r"
            reshape_param { shape { dim: -1 dim: 4 } } }
    layer { name: "t" type: "Flatten" bottom: "r" top: "t" }
    layer { name: "1" type: "SoftmaxWithLoss" bottom: "x" bottom: "l" top: "1" top: "p" }
    layer { name: "2" type: "InfogainLoss" bottom: "x" bottom: "l" top: "2"
            infogain_loss_param { source: "/none" } }
    layer { name: "3" type: "HingeLoss" bottom: "x" bottom: "l" top: "3" }
    layer { name: "4" type: "EuclideanLoss" bottom: "x" bottom: "y" top: "4" }
    layer { name: "5" type: "SigmoidCrossEntropyLoss" bottom: "x" bottom: "y" top: "5" }
    layer { name: "6" type: "ContrastiveLoss" bottom: "x" bottom: "y" bottom: "l" top: "6" }
    layer { name: "a" type: "Accuracy" bottom: "x" bottom: "l" top: "a" }
    layer { name: "m" type: "ArgMax" bottom: "x" top: "m" }
    layer { name: "b" type: "BatchReindex" bottom: "x" bottom: "l" top: "b" }
    """
    net = Net(parse_text(text, NetParameter()).message, Context(dry=True))
    net.reshape()
    assert net.blobs[net.blob_ids["t"]].shape == (8, 4)
    assert net.blobs[net.blob_ids["p"]].shape == (4, 8)
