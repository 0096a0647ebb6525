"""Columns and pooling: kernels give what the generic layers give."""

import numpy as np
import pytest

from pycaffe_dist.layers.windows import Windows
from pycaffe_dist.testing.kernels import layer_numbers, numbers_of

RNG = np.random.default_rng(2)

# kernel, stride, pad, dilation, image
PLANES = [
    ((3, 3), (1, 1), (1, 1), (1, 1), (5, 6)),
    ((2, 3), (2, 1), (0, 2), (1, 2), (7, 6)),
    ((1, 1), (2, 2), (0, 0), (1, 1), (5, 4)),
    ((5, 2), (3, 2), (4, 1), (2, 3), (9, 8)),
]
SPACES = [
    *PLANES,
    ((3,), (2,), (1,), (1,), (8,)),
    ((2, 3, 2), (1, 2, 1), (1, 0, 1), (2, 1, 1), (4, 5, 3)),
]


def columns_of(x, windows):
    """(N, C·Πkernel, Πout)"""
    seen = np.array(windows.view(np, x))
    return seen.reshape(len(x), -1, int(np.prod(windows.out)))


def laid(case):
    windows = Windows(*case[:4])
    return windows.over(case[4], windows.fitting(case[4]))


def steps(images, rows, outs, together):
    """How far apart images and rows are: images one after another, or all images in each row."""
    return (outs, images * outs) if together else (rows * outs, outs)


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("case", PLANES)
@numbers_of("im2col", "im2col_half", "im2col_bfloat", "factor_to_half", "real_to_bfloat", "col2im")
def test_columns_of_planes_and_back(run, case, together):
    w = laid(case)
    x = RNG.standard_normal((2, 3, *w.image))
    want = columns_of(x, w)
    images, rows, outs = want.shape
    sizes = (3, *w.image, *w.kernel, *w.pad, *w.stride, *w.dilation, *w.out)
    columns = run.empty(want.size)
    both = steps(images, rows, outs, together)
    run("im2col", 2 * 3 * outs, *sizes, *both, run.array(x), columns)
    shaped = want.transpose(1, 0, 2) if together else want
    run.close(columns, shaped.reshape(-1))
    for ending, cast in (("_half", "factor_to_half"), ("_bfloat", "real_to_bfloat")):
        bits, right = (np.full(want.size, 0xFFFF, np.uint16) for _ in range(2))
        large = run.array(x * 1e5)  # for halves some are infinite
        run(f"im2col{ending}", 2 * 3 * outs, *sizes, *both, large, bits)
        run("im2col", 2 * 3 * outs, *sizes, *both, large, columns)
        run(cast, want.size, columns, right)
        np.testing.assert_array_equal(bits, right)
    weights = RNG.standard_normal(want.shape)
    back = np.zeros_like(x)
    w.add_back(np, weights.reshape(2, 3, *w.kernel, *w.out), back)
    given = weights.transpose(1, 0, 2) if together else weights
    gx = run.empty(*x.shape)
    run("col2im", x.size, *sizes, *both, run.array(given), gx)
    run.close(gx, back)


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("case", SPACES)
@numbers_of("im2col_nd", "col2im_nd")
def test_columns_of_any_number_of_axes_and_back(run, case, together):
    w = laid(case)
    x = RNG.standard_normal((2, 3, *w.image))
    want = columns_of(x, w)
    images, rows, outs = want.shape
    parts = (w.image, w.kernel, w.pad, w.stride, w.dilation, w.out)
    geometry = np.array(parts, np.int32)
    both = steps(images, rows, outs, together)
    columns = run.empty(want.size)
    run("im2col_nd", 2 * 3 * outs, len(w.image), geometry, 3, *both, run.array(x), columns)
    shaped = want.transpose(1, 0, 2) if together else want
    run.close(columns, shaped.reshape(-1))
    weights = RNG.standard_normal(want.shape)
    back = np.zeros_like(x)
    w.add_back(np, weights.reshape(2, 3, *w.kernel, *w.out), back)
    given = weights.transpose(1, 0, 2) if together else weights
    gx = run.empty(*x.shape)
    run("col2im_nd", x.size, len(w.image), geometry, 3, *both, run.array(given), gx)
    run.close(gx, back)


@pytest.mark.parametrize("multiplier", [1, 3])
@pytest.mark.parametrize("case", PLANES)
@numbers_of("depthwise_forward", "depthwise_backward", "depthwise_weight_sums")
def test_depthwise_convolution(run, case, multiplier):
    w, channels, images = laid(case), 4, 2
    outputs = channels * multiplier
    axes = zip("hw", w.kernel, w.stride, w.pad, w.dilation, strict=True)
    sides = " ".join(
        f"kernel_{a}: {k} stride_{a}: {s} pad_{a}: {p} dilation: {d}" for a, k, s, p, d in axes
    )
    layer = f"""type: "Convolution" convolution_param {{
        num_output: {outputs} group: {channels} bias_term: false {sides}
        weight_filler {{ type: "gaussian" std: 1 }} }}"""
    x = RNG.standard_normal((images, channels, *w.image))
    want = layer_numbers(layer, x)
    shape = (channels, multiplier, *w.image, *w.kernel, *w.pad, *w.stride, *w.dilation, *w.out)
    weights, gy = run.array(want.params[0]), run.array(want.top_diffs[0])
    y, gx = run.empty(*want.tops[0].shape), run.empty(*x.shape)
    run("depthwise_forward", y.size, *shape, run.array(x), weights, y)
    run.close(y, want.tops[0])
    run("depthwise_backward", gx.size, *shape, gy, weights, gx)
    run.close(gx, want.bottom_diffs[0])
    for splits in (1, 3):
        partial, gw = run.empty(weights.size, splits), run.array(np.ones(weights.shape))
        sums = partial, run.tickets(gw.size), gw
        sizes = partial.size, splits, images, *shape
        run("depthwise_weight_sums", *sizes, run.array(x), gy, *sums)
        run.close(gw, want.param_diffs[0] + 1)


# what pooling_param says, kernel, pad, stride, image
POOLS = [
    ("kernel_size: 2 stride: 2", (2, 2), (0, 0), (2, 2), (5, 6)),
    ("kernel_size: 3 stride: 2", (3, 3), (0, 0), (2, 2), (6, 7)),
    ("kernel_size: 3 stride: 2 pad: 1", (3, 3), (1, 1), (2, 2), (5, 6)),
    ("kernel_h: 3 kernel_w: 2 stride_h: 1 stride_w: 3", (3, 2), (0, 0), (1, 3), (5, 7)),
    ("kernel_size: 1 stride: 3", (1, 1), (0, 0), (3, 3), (5, 5)),  # the last windows are empty
]


def pool_sizes(case, out):
    _, kernel, pad, stride, image = case
    return (*image, *kernel, *pad, *stride, *out)


def image_for(case):
    x = RNG.integers(-3, 4, (2, 3, *case[4])).astype(float)  # many equals
    x[0, 0, 0, :2] = np.nan
    return x


@pytest.mark.parametrize("case", POOLS)
@numbers_of("max_pool_forward", "choice_pool_backward", "cast_int")
def test_max_pooling(run, case):
    x = image_for(case)
    want = layer_numbers(f'type: "Pooling" pooling_param {{ {case[0]} }}', x, tops=2)
    y = run.empty(*want.tops[0].shape)
    mask, places = np.full(y.shape, 7, np.int32), run.empty(*y.shape)
    sizes = pool_sizes(case, y.shape[2:])
    run("max_pool_forward", y.size, *sizes, run.array(x), y, mask)
    run.close(y, want.tops[0])
    run("cast_int", y.size, mask, places)
    np.testing.assert_array_equal(places, want.tops[1])
    gx = run.empty(*x.shape)
    run("choice_pool_backward", x.size, *sizes, run.array(want.top_diffs[0]), mask, gx)
    run.close(gx, want.bottom_diffs[0])


@pytest.mark.parametrize("case", POOLS)
@numbers_of("ave_pool_forward", "ave_pool_backward")
def test_average_pooling(run, case):
    x = RNG.standard_normal((2, 3, *case[4]))
    want = layer_numbers(f'type: "Pooling" pooling_param {{ pool: AVE {case[0]} }}', x)
    y, gx = run.empty(*want.tops[0].shape), run.empty(*x.shape)
    sizes = pool_sizes(case, y.shape[2:])
    run("ave_pool_forward", y.size, *sizes, run.array(x), y)
    run.close(y, want.tops[0])
    run("ave_pool_backward", x.size, *sizes, run.array(want.top_diffs[0]), gx)
    run.close(gx, want.bottom_diffs[0])


@pytest.mark.parametrize("case", [c for c in POOLS if not any(c[2])])
@numbers_of("stochastic_pool_forward", "choice_pool_backward")
def test_stochastic_pooling_in_training(run, case):
    x = RNG.integers(0, 5, (2, 3, *case[4])).astype(float)
    want = layer_numbers(f'type: "Pooling" pooling_param {{ pool: STOCHASTIC {case[0]} }}', x)
    y, gx = run.empty(*want.tops[0].shape), run.empty(*x.shape)
    mask = np.full(y.shape, 7, np.int32)
    uniform = 1 - np.random.RandomState(1701).random_sample(y.shape)  # as the layer draws them
    sizes = pool_sizes(case, y.shape[2:])
    run("stochastic_pool_forward", y.size, *sizes, run.array(uniform), run.array(x), y, mask)
    run.close(y, want.tops[0])
    run("choice_pool_backward", x.size, *sizes, run.array(want.top_diffs[0]), mask, gx)
    run.close(gx, want.bottom_diffs[0])


@pytest.mark.parametrize("case", [c for c in POOLS if not any(c[2])])
@numbers_of("stochastic_pool_test")
def test_stochastic_pooling_in_testing(run, case):
    x = RNG.integers(0, 5, (2, 3, *case[4])).astype(float)
    x[0, 0] = 0
    layer = f'type: "Pooling" pooling_param {{ pool: STOCHASTIC {case[0]} }}'
    want = layer_numbers(layer, x, phase="TEST", down=())
    y = run.empty(*want.tops[0].shape)
    run("stochastic_pool_test", y.size, *pool_sizes(case, y.shape[2:]), run.array(x), y)
    run.close(y, want.tops[0])
