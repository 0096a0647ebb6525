"""Kernels of element-wise layers give what the generic layers give."""

import numpy as np
import pytest

from pycaffe_dist.testing.kernels import layer_numbers, numbers_of

X = np.random.default_rng(1).standard_normal((3, 4, 5, 2)) * 3
X.flat[:4] = 0, 0.5, -1, 2  # where slopes and thresholds change
ODD = np.array([0.0, -0.0, 1.0, -1.0, 60.0, -60.0, np.inf, -np.inf, np.nan, 1e-30])


def values(run, x):
    return run.array(x), run.empty(*x.shape), run.empty(*x.shape)


# layer, its kernels, the numbers before the arrays of forward, of backward, the arrays of backward
PLAIN = [
    ("ReLU", "", "relu", [0.0], [0.0], "x"),
    ("ReLU", "relu_param { negative_slope: 0.375 }", "relu", [0.375], [0.375], "x"),
    ("ELU", "elu_param { alpha: 0.625 }", "elu", [0.625], [0.625], "xy"),
    ("Sigmoid", "", "sigmoid", [], [], "y"),
    ("TanH", "", "tanh", [], [], "y"),
    ("AbsVal", "", "absval", [], [], "x"),
    ("BNLL", "", "bnll", [], [], "x"),
    ("Clip", "clip_param { min: -1 max: 2 }", "clip", [-1.0, 2.0], [-1.0, 2.0], "x"),
    (
        "Power",
        "power_param { power: 3 scale: 0.5 shift: 4 }",
        "power",
        [3, 0.5, 4],
        [3, 0.5, 4],
        "xy",
    ),
    (
        "Power",
        "power_param { power: 2 scale: 0.5 shift: 4 }",
        "power",
        [2, 0.5, 4],
        [2, 0.5, 4],
        "xy",
    ),
    ("Power", "power_param { scale: 0.5 shift: 4 }", "power", [1, 0.5, 4], [1, 0.5, 4], "xy"),
    (
        "Power",
        "power_param { power: 0.5 scale: 0 shift: 4 }",
        "power",
        [0.5, 0, 4],
        [0.5, 0, 4],
        "xy",
    ),
    ("Power", "power_param { power: 0 shift: 4 }", "power", [0, 1, 4], [0, 1, 4], "xy"),
    ("Exp", "exp_param { scale: 0.5 shift: 1 }", "exp", [0.5, np.e], [0.5], "y"),
    ("Exp", "exp_param { base: 2 }", "exp", [np.log(2), 1], [np.log(2)], "y"),
    (
        "Log",
        "log_param { base: 10 scale: 0.125 shift: 5 }",
        "log",
        [1 / np.log(10), 0.125, 5],
        [0.125 / np.log(10), 0.125, 5],
        "x",
    ),
]


@numbers_of(
    *("relu_forward", "relu_backward", "elu_forward", "elu_backward", "sigmoid_forward"),
    *("sigmoid_backward", "tanh_forward", "tanh_backward", "absval_forward", "absval_backward"),
    *("bnll_forward", "bnll_backward", "clip_forward", "clip_backward", "power_forward"),
    *("power_backward", "exp_forward", "exp_backward", "log_forward", "log_backward"),
)
def test_layers_without_parameters(run):
    for layer, param, kernel, ahead, back, needs in PLAIN:
        want = layer_numbers(f'type: "{layer}" {param}', X)
        x, y, gx = values(run, X)
        run(f"{kernel}_forward", x.size, *ahead, x, y)
        run.close(y, want.tops[0])
        gy = run.array(want.top_diffs[0])
        arrays = [{"x": x, "y": y}[name] for name in needs]
        run(f"{kernel}_backward", x.size, *back, *arrays, gy, gx)
        run.close(gx, want.bottom_diffs[0])


@pytest.mark.parametrize(
    ("layer", "kernel", "scalars"),
    [
        ('type: "ReLU"', "relu", [0.0]),
        ('type: "ELU"', "elu", [1.0]),
        ('type: "Sigmoid"', "sigmoid", []),
        ('type: "TanH"', "tanh", []),
        ('type: "AbsVal"', "absval", []),
        ('type: "BNLL"', "bnll", []),
        ('type: "Clip" clip_param { min: -1 max: 2 }', "clip", [-1.0, 2.0]),
    ],
)
def test_zeros_infinities_and_nan(run, layer, kernel, scalars):
    x, y, _ = values(run, ODD)
    run(f"{kernel}_forward", x.size, *scalars, x, y)
    run.close(y, layer_numbers(layer, ODD).tops[0])


@numbers_of("threshold_forward")
def test_threshold(run):
    x, y, _ = values(run, X)
    run("threshold_forward", x.size, 0.5, x, y)
    want = layer_numbers('type: "Threshold" threshold_param { threshold: 0.5 }', X, down=())
    run.close(y, want.tops[0])


@numbers_of("swish_forward", "swish_backward")
def test_swish(run):
    want = layer_numbers('type: "Swish" swish_param { beta: 0.75 }', X)
    x, y, gx = values(run, X)
    gate = run.empty(*X.shape)
    run("swish_forward", x.size, 0.75, x, gate, y)
    run.close(y, want.tops[0])
    run("swish_backward", x.size, 0.75, gate, y, run.array(want.top_diffs[0]), gx)
    run.close(gx, want.bottom_diffs[0])


@pytest.mark.parametrize("shared", [False, True])
@numbers_of("prelu_forward", "prelu_backward", "prelu_slope_sums")
def test_prelu(run, shared):
    slopes = np.array(0.3) if shared else np.linspace(-0.5, 1, 4)
    layer = f'type: "PReLU" prelu_param {{ channel_shared: {str(shared).lower()} }}'
    want = layer_numbers(layer, X, fill=[slopes])
    x, y, gx = values(run, X)
    outer, channels, inner = (1, 1, X.size) if shared else (3, 4, 10)
    a, gy = run.array(slopes.reshape(-1)), run.array(want.top_diffs[0])
    run("prelu_forward", x.size, channels, inner, a, x, y)
    run.close(y, want.tops[0])
    run("prelu_backward", x.size, channels, inner, a, x, gy, gx)
    run.close(gx, want.bottom_diffs[0])
    for splits in (1, 3):
        ga, shape = run.array([0.5] * channels), (outer, channels, inner)
        run.sums("prelu_slope_sums", shape, x, gy, out=ga, splits=splits, keep=1)
        run.close(ga, 0.5 + want.param_diffs[0].reshape(-1))


def test_in_place_is_the_same(run):
    x = run.array(X)
    y = run.empty(*X.shape)
    run("sigmoid_forward", x.size, x, y)
    run("sigmoid_forward", x.size, x, x)
    np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize(
    ("kernel", "back", "slope"),
    [("power", [3, 0.5, 4], lambda x, y: y / (0.5 * x + 4) * 1.5), ("log", [2, 0.5, 4], None)],
)
def test_powers_and_logarithms_in_place_square_what_they_wrote_as_caffe_does(
    run, kernel, back, slope
):
    x, gx = run.array(X), run.array(np.ones(X.shape))
    arrays = [x, x] if slope else [x]
    run(f"{kernel}_backward", x.size, *back, *arrays, gx, gx)
    once = slope(X, X) if slope else 2 / (0.5 * X + 4)
    run.close(gx, once**2)
