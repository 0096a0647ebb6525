import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

SHAPE = (2, 3, 4, 5)
# settings, the operand's shape, and the same as NumPy would spread it
SPREADS = [
    ("", (3,), (3, 1, 1)),
    ("axis: 0", (2,), (2, 1, 1, 1)),
    ("axis: 0 num_axes: 2", (2, 3), (2, 3, 1, 1)),
    ("axis: 1 num_axes: 2", (3, 4), (3, 4, 1)),
    ("axis: 2 num_axes: -1", (4, 5), (4, 5)),
    ("axis: -1", (5,), (5,)),
    ("axis: 0 num_axes: -1", SHAPE, SHAPE),
    ("axis: 3 num_axes: 0", (), ()),
]
FILLER = 'filler { type: "gaussian" }'


def layer(settings):
    return f'type: "Bias" bias_param {{ {settings} }}'


@pytest.mark.parametrize(("settings", "shape", "spread"), SPREADS)
def test_parameter(settings, shape, spread):
    bias = np.random.default_rng(0).standard_normal(shape)
    case = LayerCase(layer(settings), [SHAPE], fill=[bias], in_place=True)
    case.reference = lambda x: x + bias.reshape(spread)
    check_layer(case)
    assert LayerRun(case).layer.blobs[0].shape == shape


@pytest.mark.parametrize(("settings", "shape", "spread"), SPREADS)
def test_second_bottom(settings, shape, spread):
    axis = settings.partition("num_axes")[0]
    case = LayerCase(layer(axis), [SHAPE, shape], in_place=True)
    case.reference = lambda x, b: x + b.reshape(spread)
    check_layer(case)
    assert not LayerRun(case).layer.blobs


def test_is_zero_by_default():
    assert not LayerRun(LayerCase(layer(""), [SHAPE])).layer.blobs[0].data.any()
    assert LayerRun(LayerCase(layer(FILLER), [SHAPE])).layer.blobs[0].data.all()


def test_gradient_of_a_parameter_adds_up_even_for_one_item():
    run = LayerRun(LayerCase(layer(""), [(1, 3, 2)]))
    for _ in range(2):
        run.forward()
        run.backward([np.ones((1, 3, 2))], [True])
    np.testing.assert_array_equal(run.layer.blobs[0].diff, [4, 4, 4])


def test_frozen_bias_gets_no_gradient():
    run = LayerRun(LayerCase(layer(""), [SHAPE]))
    run.layer.param_propagate_down = [False]
    run.forward()
    run.backward([np.ones(SHAPE)], [True])
    assert not run.layer.blobs[0].diff.any()


@pytest.mark.parametrize(
    ("settings", "inputs", "message"),
    [
        ("num_axes: -2", [SHAPE], "num_axes must be at least -1, not -2"),
        ("axis: 3 num_axes: 2", [SHAPE], r"2 axes from axis 3 on go past .* \(2, 3, 4, 5\)"),
        ("axis: 4", [SHAPE], "axis 4 is out of range"),
        (
            "",
            [SHAPE, (4,)],
            r"the shape \(4,\) does not fit the bottom's \(2, 3, 4, 5\) from axis 1",
        ),
        ("axis: 3", [SHAPE, (5, 1)], r"the shape \(5, 1\) does not fit"),
    ],
)
def test_refuses(settings, inputs, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(layer(settings), inputs))
