"""NaN, infinities and zeros through element-wise layers: what Caffe's own expressions give."""

import numpy as np
import pytest

from pycaffe_dist.testing import LayerCase, LayerRun

NAN, INF = np.nan, np.inf
X = np.array([NAN, INF, -INF, 0, -0.0, 1e-40, -1e-40, 0.5, -0.5, 3, -3, 60, -60, 1e30, -1e30])
X = X.astype(np.float32)
GY = np.linspace(-1.5, 2, X.size).astype(np.float32)


def larger(a, b):
    """C++'s std::max."""
    return np.where(a < b, b, a)


def smaller(a, b):
    """C++'s std::min."""
    return np.where(b < a, b, a)


def sigmoid(x):
    return 0.5 * np.tanh(0.5 * x) + 0.5


def relu(slope):
    return (
        f'type: "ReLU" relu_param {{ negative_slope: {slope} }}',
        lambda x: larger(x, 0) + np.float32(slope) * smaller(x, 0),
        lambda x, y: (x > 0) + np.float32(slope) * (x <= 0),
    )


def elu(alpha):
    return (
        f'type: "ELU" elu_param {{ alpha: {alpha} }}',
        lambda x: larger(x, 0) + np.float32(alpha) * (np.exp(smaller(x, 0)) - 1),
        lambda x, y: (x > 0) + (np.float32(alpha) + y) * (x <= 0),
    )


def bnll_slope(x, y):
    e = np.exp(smaller(x, np.float32(50)))
    return e / (e + 1)


CASES = {
    "relu": relu(0),
    "leaky": relu(0.1),
    "mirrored": relu(-0.5),
    "elu": elu(1),
    "elu 0.5": elu(0.5),
    "bnll": (
        'type: "BNLL"',
        lambda x: np.where(x > 0, x + np.log1p(np.exp(-x)), np.log1p(np.exp(x))),
        bnll_slope,
    ),
    "absval": ('type: "AbsVal"', np.abs, lambda x, y: (x > 0).astype("f4") - (x < 0)),
    "clip": (
        'type: "Clip" clip_param { min: -0.25 max: 4 }',
        lambda x: larger(np.float32(-0.25), smaller(x, np.float32(4))),
        lambda x, y: (x >= -0.25) & (x <= 4),
    ),
    "clip of positive ones": (
        'type: "Clip" clip_param { min: 0.25 max: 4 }',
        lambda x: larger(np.float32(0.25), smaller(x, np.float32(4))),
        lambda x, y: (x >= 0.25) & (x <= 4),
    ),
    "clip the wrong way round": (
        'type: "Clip" clip_param { min: 2 max: -2 }',
        lambda x: larger(np.float32(2), smaller(x, np.float32(-2))),
        lambda x, y: (x >= 2) & (x <= -2),
    ),
    "exp": ('type: "Exp"', np.exp, lambda x, y: y),
    "exp of a smaller scale": (
        'type: "Exp" exp_param { base: 2 scale: 0.5 shift: 1 }',
        lambda x: 2 * np.exp(x * np.float32(np.log(2) * 0.5)),
        lambda x, y: y * np.float32(np.log(2) * 0.5),
    ),
    "exp downwards": (
        'type: "Exp" exp_param { scale: -1 }',
        lambda x: np.exp(-x),
        lambda x, y: -y,
    ),
    "log": (
        'type: "Log" log_param { scale: 2 shift: 1 }',
        lambda x: np.log(2 * x + 1),
        lambda x, y: 2 / (2 * x + 1),
    ),
    "sigmoid": ('type: "Sigmoid"', sigmoid, lambda x, y: y * (1 - y)),
    "tanh": ('type: "TanH"', np.tanh, lambda x, y: 1 - y * y),
    "swish": (
        'type: "Swish"',
        lambda x: x * sigmoid(x),
        lambda x, y: y * (1 - sigmoid(x)) + sigmoid(x),
    ),
    "line": (
        'type: "Power" power_param { scale: -2 shift: 1 }',
        lambda x: -2 * x + 1,
        lambda x, y: np.full_like(x, -2),
    ),
    "square": (
        'type: "Power" power_param { power: 2 scale: 0.5 shift: 1 }',
        lambda x: (0.5 * x + 1) ** 2,
        lambda x, y: 0.5 * x + 1,
    ),
    "root": (
        'type: "Power" power_param { power: 0.5 scale: 0.5 shift: 1 }',
        lambda x: np.where(x == -INF, INF, np.sqrt(0.5 * x + 1)),
        lambda x, y: y / (0.5 * x + 1) * np.float32(0.25),
    ),
    "inverse": (
        'type: "Power" power_param { power: -1 scale: 0.5 shift: 1 }',
        lambda x: 1 / (0.5 * x + 1),
        lambda x, y: y / (0.5 * x + 1) * np.float32(-0.5),
    ),
    "power": (
        'type: "Power" power_param { power: 1.5 scale: 0.5 shift: 1 }',
        lambda x: np.power(0.5 * x + 1, np.float32(1.5)),
        lambda x, y: y / (0.5 * x + 1) * np.float32(0.75),
    ),
    "threshold": ('type: "Threshold"', lambda x: x > 0, None),
}


@pytest.mark.parametrize("name", CASES)
def test_as_caffe_writes_it(name):
    layer, value, slope = CASES[name]
    run = LayerRun(LayerCase(layer, [X]), np.float32)
    x = X
    if run.layer.context.engine.name == "cupy":  # compiled with -ftz=true: subnormals are zeros
        x = np.where(abs(X) < np.finfo(np.float32).tiny, np.float32(0), X)
    with np.errstate(all="ignore"):
        (y,) = run.forward()
        want = value(x).astype(np.float32)
        same(y, want)
        if slope is not None:
            run.backward([GY], [True])
            same(run.bottom[0].blob.diff, (GY * slope(x, want)).astype(np.float32))


def same(got, want):
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-20)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("in_place", [False, True])
def test_prelu(in_place, shared):
    """∂a = Σ ∂y·x·[x ≤ 0]: NaN, not 0, where an x is NaN or infinite."""
    x = np.array([[[1, -2, NAN], [INF, 1, -1], [-INF, 1, 1], [2, -3, 0]]], np.float32)
    gy = np.arange(1, 13, dtype=np.float32).reshape(x.shape)
    slopes = np.float32(0.5) if shared else np.array([0.5, 0.25, -1, 2], np.float32)
    a = slopes if shared else slopes[:, None]
    text = f'type: "PReLU" prelu_param {{ channel_shared: {str(shared).lower()} }}'
    run = LayerRun(LayerCase(text, [x], fill=[slopes]), np.float32, in_place)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run.forward()[0], larger(x, 0) + a * smaller(x, 0))
        run.backward([gy], [True])
        down, gradient = gy * ((x > 0) + a * (x <= 0)), (gy * x * (x <= 0)).sum((0, 2))
    np.testing.assert_array_equal(run.bottom[0].blob.diff, down)
    got = run.layer.blobs[0].diff
    np.testing.assert_array_equal(got, gradient.sum() if shared else gradient)
    assert np.isnan(got).any()


@pytest.mark.parametrize("operation, slope", [("ASUM", np.sign), ("SUM", np.ones_like)])
def test_reduction(operation, slope):
    x = np.array([1, NAN, -2, 0, INF], np.float32)
    text = f'type: "Reduction" reduction_param {{ operation: {operation} }}'
    run = LayerRun(LayerCase(text, [x]), np.float32)
    run.forward()
    run.backward([np.float32(3)], [True])
    want = 3 * np.nan_to_num(slope(x), nan=0.0)
    np.testing.assert_array_equal(run.bottom[0].blob.diff, want)


@pytest.mark.parametrize("bottoms", [2, 3])
def test_the_largest(bottoms):
    """Caffe takes a where a > b, else b; a third only where it is larger than that."""
    a = np.array([NAN, NAN, 1, INF, NAN, 2, -INF, 0], np.float32)
    b = np.array([1, NAN, NAN, 1, -INF, 2, -INF, 5], np.float32)
    c = np.array([0, 3, 9, NAN, NAN, 7, INF, 5], np.float32)
    xs = [a, b, c][:bottoms]
    run = LayerRun(LayerCase('type: "Eltwise" eltwise_param { operation: MAX }', xs), np.float32)
    y, winner = np.where(a > b, a, b), np.where(a > b, 0, 1)
    if bottoms == 3:
        y, winner = np.where(c > y, c, y), np.where(c > y, 2, winner)
    np.testing.assert_array_equal(run.forward()[0], y)
    gy = np.arange(1, 9, dtype=np.float32)
    run.backward([gy], [True] * bottoms)
    for i, view in enumerate(run.bottom):
        np.testing.assert_array_equal(view.blob.diff, gy * (winner == i))


def test_a_window_without_numbers_has_the_least_one():
    """MAX takes what is larger than −FLT_MAX: neither NaN nor −∞."""
    x = np.array([[[[NAN, -INF, NAN, 2, 5, -INF]]]], np.float32)
    text = 'type: "Pooling" pooling_param { kernel_h: 1 kernel_w: 2 stride_w: 2 stride_h: 1 }'
    (y,) = LayerRun(LayerCase(text, [x]), np.float32).forward()
    np.testing.assert_array_equal(y.reshape(-1), np.float32([np.finfo(np.float32).min, 2, 5]))
