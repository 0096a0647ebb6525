"""Layers of nets for phones, and the activations that forks added."""

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

SHAPE = 'kernel_size: 3 pad: 1 stride: 2 weight_filler { type: "gaussian" }'


SCALE, ALPHA = np.float32([1.050700987, 1.67326324]).astype(float)


def softplus(x):
    return np.log1p(np.exp(x))


CURVES = {
    "Mish": lambda x: x * np.tanh(softplus(x)),
    "HardSigmoid": lambda x: np.clip(np.float32(0.2) * x + 0.5, 0, 1),
    "HardSwish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "SeLU": lambda x: SCALE * np.where(x > 0, x, ALPHA * (np.exp(np.minimum(x, 0)) - 1)),
    "Softplus": softplus,
    "Softsign": lambda x: x / (1 + abs(x)),
    "ScaledTanH": np.tanh,
    "Cosine": np.cos,
    "ReLU6": lambda x: np.clip(x, 0, 6),
}


@pytest.mark.parametrize("name", CURVES)
def test_curves(name):
    x = np.linspace(-7.93, 7.91, 40).reshape(4, 10)

    def reference(x):
        return CURVES[name](x)

    check_layer(LayerCase(f'type: "{name}"', [x], reference=reference, in_place=True))


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        ('type: "HardSigmoid" hard_sigmoid_param { alpha: 0.5 beta: 0.25 }', [0, 0.25, 1]),
        ('type: "ScaledTanH" scaled_tanh_param { alpha: 3 beta: 0.5 }', 3 * np.tanh([-1, 0, 2])),
        ('type: "SeLu" selu_param { lambda: 2 alpha: 1 }', [2 * np.exp(-2) - 2, 0, 8]),
        ('type: "ReLU6" relu6_param { negative_slope: 0.5 }', [-1, 0, 4]),
    ],
)
def test_curves_with_parameters(layer, expected):
    x = np.array([-2.0, 0.0, 4.0])
    np.testing.assert_allclose(LayerRun(LayerCase(layer, [x])).forward()[0], expected)
    x = np.array([-2.2, -0.1, 0.3, 1.2, 4.0, 7.0])
    check_layer(LayerCase(layer, [x], in_place=True))


@pytest.mark.parametrize("name", ["Mish", "Softplus", "SeLU", "HardSwish"])
def test_curves_do_not_overflow(name):
    x = np.array([-1e4, 1e4])
    run = LayerRun(LayerCase(f'type: "{name}"', [x]), np.float32)
    y = run.forward()[0]
    run.backward([np.ones(2)], [True])
    assert np.isfinite(y).all()
    assert np.isfinite(run.bottom[0].blob.diff).all()


def test_relu6_has_no_slope_at_its_ends():
    run = LayerRun(LayerCase('type: "ReLU6"', [np.array([-1.0, 0.0, 3.0, 6.0, 7.0])]))
    run.forward()
    run.backward([np.ones(5)], [True])
    np.testing.assert_array_equal(run.bottom[0].blob.diff, [0, 0, 1, 0, 0])


@pytest.mark.parametrize(
    "layer",
    [
        f'type: "DepthwiseConvolution" convolution_param {{ num_output: 4 group: 4 {SHAPE} }}',
        f'type: "ConvolutionDepthwise" convolution_param {{ {SHAPE} }}',
        f'type: "ConvolutionDepthwise" convolution_param {{ num_output: 8 group: 2 {SHAPE} }}',
    ],
)
def test_depthwise_is_a_convolution_with_groups(layer):
    plain = f'type: "Convolution" convolution_param {{ num_output: 4 group: 4 {SHAPE} }}'
    x = np.random.default_rng(3).standard_normal((2, 4, 6, 5))
    weights = [np.random.default_rng(4).standard_normal((4, 1, 3, 3)), np.arange(4.0)]
    runs = [LayerRun(LayerCase(one, [x], fill=weights)) for one in (layer, plain)]
    ours, theirs = (run.forward()[0] for run in runs)
    np.testing.assert_allclose(ours, theirs)
    check_layer(LayerCase(layer, [x], fill=weights))


@pytest.mark.parametrize("name", ["DepthwiseConvolution", "ConvolutionDepthwise"])
def test_what_is_fast_for_a_convolution_is_so_for_these(name):
    convolution = f"convolution_param {{ num_output: 2 group: 2 {SHAPE} }}"
    ours, plain = (
        type(LayerRun(LayerCase(f'type: "{type_}" {convolution}', [(1, 2, 3, 3)])).layer)
        for type_ in (name, "Convolution")
    )
    assert issubclass(ours, plain)


@pytest.mark.parametrize("group", [1, 2, 3])
def test_shuffle_channel(group):
    def reference(x):
        n, c, h, w = x.shape
        parts = x.reshape(n, group, c // group, h, w)
        return parts.transpose(0, 2, 1, 3, 4).reshape(n, c, h, w)

    layer = f'type: "ShuffleChannel" shuffle_channel_param {{ group: {group} }}'
    check_layer(LayerCase(layer, [(2, 6, 3, 2)], reference=reference))


def test_shuffle_channel_needs_whole_groups():
    with pytest.raises(NetError, match="must be a multiple of group 4"):
        LayerRun(
            LayerCase('type: "ShuffleChannel" shuffle_channel_param { group: 4 }', [(2, 6, 3, 2)])
        )


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 1, 1)])
def test_axpy(shape):
    def reference(a, x, b):
        return a.reshape(2, 3, 1, 1) * x + b

    layer = 'type: "Axpy"'
    check_layer(LayerCase(layer, [shape, (2, 3, 4, 2), (2, 3, 4, 2)], reference=reference))


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ([(2, 1), (2, 3, 4), (2, 3, 4)], "a value for each channel"),
        ([(2, 3), (2, 3, 4), (2, 3, 5)], "must have one shape"),
    ],
)
def test_axpy_refuses_other_shapes(shapes, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase('type: "Axpy"', shapes))


def dropout(ratio, more="", name="Dropout"):
    return f'type: "{name}" dropout_param {{ dropout_ratio: {ratio} {more} }}'


@pytest.mark.parametrize("phase", ["TRAIN", "TEST"])
def test_spatial_dropout_drops_channels(phase):
    layer = dropout(0.5, name="SpatialDropout")
    check_layer(LayerCase(layer, [(4, 8, 2, 3)], phase=phase, in_place=True))
    y = LayerRun(LayerCase(layer, [np.ones((40, 50, 2, 3))], phase=phase)).forward()[0]
    assert (y == y[:, :, :1, :1]).all()
    if phase == "TRAIN":
        assert set(np.unique(y)) == {0, 2}
        assert 0.4 < (y == 0).mean() < 0.6
    else:
        assert (y == 1).all()


@pytest.mark.parametrize("field", ["sample_weights_test", "test_enabled"])
def test_dropout_may_draw_in_test_too(field):
    layer = dropout(0.5, f"{field}: true")
    y = LayerRun(LayerCase(layer, [np.ones(1000)], phase="TEST")).forward()[0]
    assert set(np.unique(y)) == {0, 2}
    check_layer(LayerCase(layer, [(3, 4)], phase="TEST", in_place=True))


@pytest.mark.parametrize(("phase", "values"), [("TRAIN", {0, 1}), ("TEST", {0.75})])
def test_dropout_may_scale_in_test_instead(phase, values):
    layer = dropout(0.25, "scale_train: false")
    y = LayerRun(LayerCase(layer, [np.ones(1000)], phase=phase)).forward()[0]
    assert set(np.unique(y)) == values
    check_layer(LayerCase(layer, [(3, 4)], phase=phase, in_place=True))


def test_dropout_may_scale_by_the_root():
    layer = dropout(0.75, "sqrt_scale: true")
    y = LayerRun(LayerCase(layer, [np.ones(1000)])).forward()[0]
    assert set(np.unique(y)) == {0, 2}
