import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

SHAPES = [(5, 3), (5, 3, 4), (5, 3, 2, 2), (1, 3, 4, 2), (4, 3, 2, 1, 2)]


def layer(settings="", params=""):
    return f'type: "BatchNorm" {params} batch_norm_param {{ {settings} }}'


def statistics(x):
    """Mean and biased variance of each channel, spread over x, and how many values it has."""
    axes = tuple(i for i in range(x.ndim) if i != 1)
    return x.mean(axes, keepdims=True), x.var(axes, keepdims=True), x.size // x.shape[1]


def normalised(x, eps=1e-5):
    mean, variance, _ = statistics(x)
    return (x - mean) / np.sqrt(variance + np.float32(eps))


@pytest.mark.parametrize("shape", SHAPES)
def test_batch_statistics(shape):
    check_layer(
        LayerCase(
            layer(), [shape], reference=normalised, in_place=True, ignores_propagate_down=True
        )
    )


def test_eps():
    case = LayerCase(layer("eps: 0.5"), [(5, 3, 4)], reference=lambda x: normalised(x, 0.5))
    case.ignores_propagate_down = True
    check_layer(case)


@pytest.mark.parametrize("shape", SHAPES)
def test_stored_statistics(shape):
    sums, factor = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, 0.5]]), 4.0
    mean, variance = (sums / factor).reshape(2, 1, 3, *[1] * (len(shape) - 2))
    check_layer(
        LayerCase(
            layer(),
            [shape],
            phase="TEST",
            reference=lambda x: (x - mean) / np.sqrt(variance + np.float32(1e-5)),
            fill=[sums[0], sums[1], np.array([factor])],
            params=False,
            in_place=True,
            ignores_propagate_down=True,
        )
    )


def test_running_sums():
    run = LayerRun(LayerCase(layer("moving_average_fraction: 0.75"), [(4, 3, 5)]))
    start = [np.array([8.0, 0.0, -4.0]), np.array([1.0, 2.0, 3.0]), np.array([2.0])]
    for blob, values in zip(run.layer.blobs, start, strict=True):
        blob.data[...] = values
    mean, variance, m = statistics(run.inputs[0])
    new = [mean.ravel(), variance.ravel() * m / (m - 1), 1]
    want = start
    for _ in range(3):
        run.forward()
        want = [0.75 * a + b for a, b in zip(want, new, strict=True)]
    for blob, values in zip(run.layer.blobs, want, strict=True):
        np.testing.assert_allclose(blob.data, values)


def test_running_sums_of_single_values():
    run = LayerRun(LayerCase(layer(), [np.array([[3.0, -4.0]])]))
    np.testing.assert_array_equal(run.forward()[0], [[0, 0]])
    np.testing.assert_array_equal(run.layer.blobs[0].data, [3, -4])
    np.testing.assert_array_equal(run.layer.blobs[1].data, [0, 0])
    np.testing.assert_array_equal(run.layer.blobs[2].data, [1])


def test_never_trained():
    sums = [np.ones(3), np.ones(3), np.zeros(1)]  # of weight 0, so they do not count
    run = LayerRun(LayerCase(layer(), [(4, 3)], phase="TEST", fill=sums))
    np.testing.assert_allclose(run.forward()[0], run.inputs[0] / np.sqrt(np.float32(1e-5)))


@pytest.mark.parametrize("phase", ["TRAIN", "TEST"])
@pytest.mark.parametrize("settings", ["", "use_global_stats: true", "use_global_stats: false"])
def test_which_statistics(phase, settings):
    run = LayerRun(LayerCase(layer(settings), [(4, 3)], phase=phase))
    run.forward()
    stored = "true" in settings or (phase == "TEST" and not settings)
    assert run.layer.blobs[2].data[0] == (0 if stored else 1)


def test_gradient_does_not_need_the_top():
    case = LayerCase(layer(), [(4, 3, 2)])
    plain, changed = LayerRun(case), LayerRun(case)
    gy = np.random.default_rng(0).standard_normal((4, 3, 2))
    for run in plain, changed:
        run.forward()
        if run is changed:
            run.top[0].blob.data[...] = 99  # as layers in place behind it do
        run.backward([gy], [True])
    np.testing.assert_array_equal(plain.bottom[0].blob.diff, changed.bottom[0].blob.diff)


@pytest.mark.parametrize("phase", ["TRAIN", "TEST"])
def test_gradient_is_written_even_when_nobody_asks(phase):
    run = LayerRun(LayerCase(layer(), [(4, 3)], phase=phase))
    run.forward()
    run.bottom[0].blob.diff[...] = 7
    run.backward([np.random.default_rng(0).standard_normal((4, 3))], [False])
    assert (run.bottom[0].blob.diff != 7).all()


def test_a_large_mean_costs_no_precision():
    rng = np.random.default_rng(0)
    x = (1000 + rng.standard_normal((8, 2, 30))).astype(np.float32)
    y = LayerRun(LayerCase(layer(), [x]), np.float32).forward()[0]
    np.testing.assert_allclose(y, normalised(x.astype(np.float64)), atol=2e-4)


def test_other_batch_sizes_later():
    run = LayerRun(LayerCase(layer(), [(4, 3, 2)]))
    for n in (4, 2, 6):
        run.inputs = [np.random.default_rng(n).standard_normal((n, 3, 2))]
        run.bottom[0].reshape(n, 3, 2)
        np.testing.assert_allclose(run.forward()[0], normalised(run.inputs[0]))
        run.backward([run.inputs[0]], [True])
        assert abs(run.bottom[0].blob.diff).max() < 1e-4  # along x, only eps lets y change


@pytest.mark.parametrize("given", ["", "param { lr_mult: 0 }", "param { lr_mult: 0 } " * 3])
def test_adds_what_keeps_solvers_away(given):
    specs = LayerRun(LayerCase(layer(params=given), [(4, 3)])).layer.layer_param.param
    assert [(spec.lr_mult, spec.decay_mult) for spec in specs] == [(0, 1)] * 3


@pytest.mark.parametrize(
    ("given", "which"), [("param { }", 0), ("param { lr_mult: 0 } param { lr_mult: 2 }", 1)]
)
def test_refuses_to_be_learned(given, which):
    with pytest.raises(NetError, match=f"param {which} has lr_mult [12]; statistics are not learn"):
        LayerRun(LayerCase(layer(params=given), [(4, 3)]))


@pytest.mark.parametrize(("params", "needs"), [("", True), ("param { lr_mult: 0 } " * 3, False)])
def test_in_a_net_the_file_decides_whether_backward_runs(params, needs):
    text = f"""
        layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ dim: 4 dim: 3 }} }} }}
        layer {{ name: "bn" bottom: "x" top: "y" {layer(params=params)} }}
        layer {{ name: "ip" type: "Sigmoid" bottom: "y" top: "z" loss_weight: 1 }}
    """
    net = Net(parse_text(text, NetParameter()).message)
    assert net.layer_need_backward == [False, needs, needs]
    assert [p.lr_mult for p in net.params.learnable] == [0, 0, 0]


@pytest.mark.parametrize("shape", [(), (5,)])
def test_needs_channels(shape):
    with pytest.raises(NetError, match="needs 2 axes or more"):
        LayerRun(LayerCase(layer(), [np.ones(shape)]))


def test_refuses_other_channels_later():
    run = LayerRun(LayerCase(layer(), [(4, 3)]))
    run.bottom[0].reshape(4, 5)
    with pytest.raises(NetError, match=r"of 3 channels, the bottom is \(4, 5\)"):
        run.layer.reshape(run.bottom, run.top)
