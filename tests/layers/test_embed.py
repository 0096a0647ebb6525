import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

FILLERS = 'weight_filler { type: "gaussian" } bias_filler { type: "gaussian" }'


def layer(settings="num_output: 3 input_dim: 5"):
    return f'type: "Embed" embed_param {{ {settings} {FILLERS} }}'


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(4,), (4, 1, 1, 1), (3, 2), ()])
def test_values_and_gradient(bias, shape):
    x = np.random.default_rng(0).integers(0, 5, shape).astype(float)
    w, b = np.arange(15.0).reshape(5, 3), np.array([10.0, 20.0, 30.0])
    case = LayerCase(
        layer(f"num_output: 3 input_dim: 5 bias_term: {str(bias).lower()}"),
        [x],
        fill=[w, b],
        bottoms=[],
        reference=lambda x: np.eye(5)[x.astype(int)] @ w + b * bias,
    )
    check_layer(case)
    assert [blob.shape for blob in LayerRun(case).layer.blobs] == [(5, 3), (3,)][: 1 + bias]


def test_the_same_row_twice_adds_up():
    run = LayerRun(LayerCase(layer(), [np.array([2.0, 0.0, 2.0])]))
    run.forward()
    run.backward([np.array([[1.0, 2, 3], [10, 20, 30], [100, 200, 300]])], [False])
    want = np.zeros((5, 3))
    want[0], want[2] = [10, 20, 30], [101, 202, 303]
    np.testing.assert_array_equal(run.layer.blobs[0].diff, want)
    np.testing.assert_array_equal(run.layer.blobs[1].diff, [111, 222, 333])


def test_broken_numbers_are_cut():
    run = LayerRun(LayerCase(layer(), [np.array([2.9, -0.5])]))
    y, (w, b) = run.forward()[0], (blob.data for blob in run.layer.blobs)
    np.testing.assert_array_equal(y, w[[2, 0]] + b)


def test_frozen_parameters_get_no_gradient():
    run = LayerRun(LayerCase(layer(), [np.array([2.0])]))
    run.layer.param_propagate_down = [False, False]
    run.forward()
    run.backward([np.ones((1, 3))], [False])
    assert not any(blob.diff.any() for blob in run.layer.blobs)


@pytest.mark.parametrize("index", [5.0, -1.0, np.nan])
def test_refuses_unknown_rows(index):
    run = LayerRun(LayerCase(layer(), [np.array([1.0, index])]))
    with pytest.raises(NetError, match=f"the index {index:g} is not one of 0 to 4"):
        run.forward()


@pytest.mark.parametrize(
    ("settings", "missing"), [("num_output: 3", "input_dim"), ("input_dim: 3", "num_output")]
)
def test_needs_both_sizes(settings, missing):
    with pytest.raises(NetError, match=f"{missing} must be above 0"):
        LayerRun(LayerCase(layer(settings), [(2,)]))


def test_force_backward_fails_when_it_runs():
    text = f"""
        force_backward: true
        layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ dim: 4 }} }} }}
        layer {{ name: "embed" bottom: "x" top: "y" {layer()} }}
    """
    net = Net(parse_text(text, NetParameter()).message)
    net.forward()
    with pytest.raises(NetError, match=r'layer "embed" \(Embed\): cannot give its indices'):
        net.backward()
