import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

SHAPE = (2, 3, 4, 5)
# settings, the operand's shape, and the same as NumPy would spread it
SPREADS = [
    ("", (3,), (3, 1, 1)),
    ("axis: 1 num_axes: 2", (3, 4), (3, 4, 1)),
    ("axis: 2 num_axes: -1", (4, 5), (4, 5)),
    ("axis: -1", (5,), (5,)),
    ("axis: 3 num_axes: 0", (), ()),
]
# those whose gradient is not added to; see test_gradient_of_a_parameter_is_overwritten
OVERWRITTEN = [
    ("axis: 0", (2,), (2, 1, 1, 1)),
    ("axis: 0 num_axes: 2", (2, 3), (2, 3, 1, 1)),
    ("axis: 0 num_axes: -1", SHAPE, SHAPE),
]
BIAS = ' bias_term: true bias_filler { type: "gaussian" }'


def layer(settings):
    return f'type: "Scale" scale_param {{ {settings} }}'


def values(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize(("settings", "shape", "spread"), SPREADS)
def test_parameter(settings, shape, spread):
    s = values(shape)
    case = LayerCase(layer(settings), [SHAPE], fill=[s], in_place=True)
    case.ignores_propagate_down = True
    case.reference = lambda x: x * s.reshape(spread)
    check_layer(case)
    assert [blob.shape for blob in LayerRun(case).layer.blobs] == [shape]


@pytest.mark.parametrize(("settings", "shape", "spread"), SPREADS)
def test_parameter_and_bias(settings, shape, spread):
    s, b = values(shape), values(shape, 1)
    case = LayerCase(layer(settings + BIAS), [SHAPE], fill=[s, b], in_place=True)
    case.ignores_propagate_down = True
    case.reference = lambda x: x * s.reshape(spread) + b.reshape(spread)
    check_layer(case)
    assert [blob.shape for blob in LayerRun(case).layer.blobs] == [shape, shape]


@pytest.mark.parametrize(("settings", "shape", "spread"), SPREADS + OVERWRITTEN)
@pytest.mark.parametrize("bias", [False, True])
def test_second_bottom(settings, shape, spread, bias):
    axis = settings.partition("num_axes")[0]
    b = values(shape, 1) if bias else np.zeros(shape)
    case = LayerCase(layer(axis + BIAS * bias), [SHAPE, shape], fill=[b], in_place=True)
    case.reference = lambda x, s: x * s.reshape(spread) + b.reshape(spread)
    check_layer(case)
    assert [blob.shape for blob in LayerRun(case).layer.blobs] == [shape] * bias


@pytest.mark.parametrize(
    ("settings", "bottom", "overwritten"),
    [
        ("", (1, 3, 2), True),  # a batch of one item
        ("", (1, 3), True),
        ("axis: 0", (2, 3), True),  # nothing before the axis
        ("axis: 0 num_axes: -1", (2, 3), True),  # as many factors as values
        ("num_axes: -1", (1, 3, 2), True),
        ("", (1, 1), True),
        ("axis: 0 num_axes: 0", (1, 1), True),
        ("", (2, 3, 2), False),
        ("", (1, 1, 2), False),  # one factor is a sum over everything
        ("", (2, 1, 2), False),
        ("axis: 0 num_axes: 0", (1, 2), False),
    ],
)
@pytest.mark.parametrize("in_place", [False, True])
def test_gradient_of_a_parameter_is_overwritten(settings, bottom, overwritten, in_place):
    """Where Caffe has no outer sum to make, it forgets to add."""
    run = LayerRun(LayerCase(layer(settings + BIAS), [bottom]), in_place=in_place)
    seen = []
    for _ in range(2):
        run.forward()
        run.backward([np.ones(bottom)], [True])
        seen.append([blob.diff.copy() for blob in run.layer.blobs])
    (once_s, once_b), (twice_s, twice_b) = seen
    shape = once_s.shape
    start = 1 if not settings or settings.startswith("num_axes") else 0
    axes = tuple(i for i in range(len(bottom)) if not start <= i < start + len(shape))
    np.testing.assert_allclose(once_s, run.inputs[0].sum(axes))
    np.testing.assert_allclose(twice_s, once_s * (1 if overwritten else 2))
    np.testing.assert_allclose(twice_b, once_b * 2)  # the bias does add up


def test_gradient_of_a_bottom_is_overwritten():
    run = LayerRun(LayerCase(layer(""), [SHAPE, (3,)]))
    run.bottom[1].blob.diff[...] = 100
    run.forward()
    run.backward([np.ones(SHAPE)], [False, True])
    np.testing.assert_allclose(run.bottom[1].blob.diff, run.inputs[0].sum((0, 2, 3)))


def test_one_gradient_without_the_others():
    run = LayerRun(LayerCase(layer(BIAS), [SHAPE]))
    run.layer.param_propagate_down = [False, True]
    run.forward()
    run.backward([np.ones(SHAPE)], [True])
    assert not run.layer.blobs[0].diff.any()
    np.testing.assert_allclose(run.layer.blobs[1].diff, [40, 40, 40])
    run.layer.param_propagate_down = [True, False]
    run.backward([np.ones(SHAPE)], [True])
    assert run.layer.blobs[0].diff.all()
    np.testing.assert_allclose(run.layer.blobs[1].diff, [40, 40, 40])


def test_changes_nothing_by_default():
    run = LayerRun(LayerCase(layer("bias_term: true"), [SHAPE]))
    np.testing.assert_array_equal(run.layer.blobs[0].data, [1, 1, 1])
    np.testing.assert_array_equal(run.layer.blobs[1].data, [0, 0, 0])
    filled = LayerCase(
        layer("filler { value: 3 } bias_term: true bias_filler { value: 2 }"), [SHAPE]
    )
    np.testing.assert_array_equal(LayerRun(filled).layer.blobs[0].data, [3, 3, 3])
    np.testing.assert_array_equal(LayerRun(filled).layer.blobs[1].data, [2, 2, 2])


def test_flops():
    for settings, each in ("", 1), (BIAS, 2):
        run = LayerRun(LayerCase(layer(settings), [SHAPE]))
        assert run.layer.flops(run.bottom, run.top) == each * 120


@pytest.mark.parametrize(
    ("settings", "inputs", "message"),
    [
        ("num_axes: -2", [SHAPE], "num_axes must be at least -1, not -2"),
        ("axis: 3 num_axes: 2", [SHAPE], r"2 axes from axis 3 on go past .* \(2, 3, 4, 5\)"),
        (
            "",
            [SHAPE, (4,)],
            r"the shape \(4,\) does not fit the bottom's \(2, 3, 4, 5\) from axis 1",
        ),
    ],
)
def test_refuses(settings, inputs, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(layer(settings), inputs))


def test_refuses_other_channels_later():
    run = LayerRun(LayerCase(layer(""), [SHAPE]))
    run.bottom[0].reshape(2, 4, 4, 5)
    with pytest.raises(
        NetError, match=r"the shape \(3,\) does not fit the bottom's \(2, 4, 4, 5\)"
    ):
        run.layer.reshape(run.bottom, run.top)


def test_the_bias_must_go_on_fitting():
    run = LayerRun(LayerCase(layer(BIAS), [(2, 3), (3,)]))
    run.bottom[0].reshape(2, 1)
    run.bottom[1].reshape(1)
    with pytest.raises(NetError, match=r"the shape \(3,\) does not fit the bottom's \(2, 1\)"):
        run.layer.reshape(run.bottom, run.top)


def test_products_are_left_where_caffe_leaves_them():
    """Caffe sums ∂y·x in the bottom's diff, also when nobody asked for the bottom's gradient."""
    x = np.arange(6.0).reshape(2, 3)
    run = LayerRun(LayerCase('type: "Scale"', [x]))
    run.forward()
    run.backward([np.full((2, 3), 2.0)], [False])
    np.testing.assert_array_equal(run.bottom[0].blob.diff, 2 * x)
