"""Convolution without columns: kernels give what the generic layers give."""

import itertools
from functools import reduce
from math import prod

import numpy as np
import pytest

from pycaffe_dist.engines import winograd
from pycaffe_dist.engines.cupy.convolution import geometry, implicit
from pycaffe_dist.layers.windows import Windows
from pycaffe_dist.testing.kernels import layer_numbers, numbers_of

RNG = np.random.default_rng(12)

SIZES = ("small", "large")  # of tiles
# kernel, stride, pad, dilation, image; images, channels, outputs, groups
SHAPES = [
    ((3, 3), (1, 1), (1, 1), (1, 1), (5, 6), (3, 4, 6, 1)),
    ((2, 3), (2, 1), (0, 2), (1, 2), (7, 6), (2, 4, 6, 2)),
    ((3, 1), (3, 4), (1, 0), (2, 1), (7, 9), (1, 3, 2, 1)),
    ((4,), (2,), (1,), (1,), (9,), (2, 6, 4, 2)),
]
WIDE = ((1, 2), (1, 1), (0, 0), (1, 1), (9, 16), (1, 9, 130, 1))


def convolved(case):
    """The windows, and what the generic layer makes of a random image."""
    kernel, stride, pad, dilation, image, (images, channels, outputs, groups) = case
    windows = Windows(kernel, stride, pad, dilation)
    windows = windows.over(image, windows.fitting(image))
    sides = zip(("kernel_size", "stride", "pad", "dilation"), case[:4], strict=True)
    if len(kernel) == 2:
        axes = zip("hw", kernel, stride, pad, dilation, strict=True)
        said = " ".join(
            f"kernel_{a}: {k} stride_{a}: {s} pad_{a}: {p} dilation: {d}" for a, k, s, p, d in axes
        )
    else:
        said = " ".join(f"{name}: {value[0]}" for name, value in sides)
    layer = f"""type: "Convolution" convolution_param {{
        num_output: {outputs} group: {groups} {said} weight_filler {{ type: "gaussian" std: 1 }}
        bias_filler {{ type: "gaussian" std: 1 }} }}"""
    x = RNG.standard_normal((images, channels, *image))
    return windows, x, layer_numbers(layer, x)


def tiles(run, product, columns, size):
    tiling = implicit.LARGE if size == "large" and run.dtype == np.float32 else implicit.SMALL
    return tiling.tiles(product, columns)


@pytest.mark.parametrize("case", [*SHAPES, WIDE])
@numbers_of("convolve_small", "convolve_large")
def test_forward(run, case):
    windows, x, want = convolved(case)
    images, channels, outputs, groups = case[5]
    product = geometry.gathered(windows, channels, outputs, groups)
    columns = product.columns(images)
    y = run.empty(*want.tops[0].shape)
    weights, bias = (run.array(p) for p in want.params)
    shaped = want.params[1].reshape(-1, *[1] * len(case[4]))
    packed = int(product.packed(run.dtype))
    ways = {(0, 1, 0), (packed, 0, 0), (packed, 1, 1)}  # packed, has_bias, rectify
    for size, (packed, has_bias, rectify) in itertools.product(SIZES, ways):
        sizes = (product.rows, columns, product.depth, packed, has_bias, rectify)
        count = tiles(run, product, columns, size)
        arrays = product.table(), weights, run.array(x), bias, y
        run(f"convolve_{size}", count, *sizes, *arrays)
        made = want.tops[0] - (0 if has_bias else shaped)
        run.close(y, np.maximum(made, 0) if rectify else made)


@pytest.mark.parametrize("case", SHAPES)
@numbers_of("convolve_small", "convolve_large")
def test_backward_to_the_image(run, case):
    windows, x, want = convolved(case)
    images, channels, outputs, groups = case[5]
    gy = run.array(want.top_diffs[0])
    weights = run.array(want.params[0])
    for size in SIZES:
        gx = run.empty(*x.shape)
        for product in geometry.spread(windows, channels, outputs, groups):
            columns = product.columns(images)
            sizes = (product.rows, columns, product.depth, 0, 0, 0)
            count = tiles(run, product, columns, size)
            run(f"convolve_{size}", count, *sizes, product.table(), weights, gy, weights, gx)
        run.close(gx, want.bottom_diffs[0])


@pytest.mark.parametrize("case", [*SHAPES, WIDE])
@numbers_of("weigh_small", "weigh_large")
def test_backward_to_the_weights(run, case):
    windows, x, want = convolved(case)
    images, channels, outputs, groups = case[5]
    product = geometry.gathered(windows, channels, outputs, groups)
    gy = run.array(want.top_diffs[0])
    for size, splits in itertools.product(SIZES, (1, 3)):
        partial = run.empty(splits, *want.params[0].shape)
        sizes = (splits, product.rows, product.columns(images), product.depth)
        count = tiles(run, product, product.depth, size) * splits
        run(f"weigh_{size}", count, *sizes, product.table(), gy, run.array(x), partial)
        run.close(partial.sum(axis=0), want.param_diffs[0])


def square(matrices, tiles):
    """T d Tᵀ of tiles (…, side, side), as planes (places, …)."""
    made = reduce(np.matmul, matrices)
    product = made @ tiles @ made.T
    return np.moveaxis(product.reshape(*product.shape[:-2], -1), -1, 0)


def cut(x, side, step, before, counts):
    """Tiles (C, N·down·across, side, side) of images (N, C, H, W), with zeros around them."""
    images, channels, height, width = x.shape
    wide = np.zeros((images, channels, *(n * step + 4 + side for n in counts)))
    wide[:, :, before[0] : before[0] + height, before[1] : before[1] + width] = x
    tiles = [
        wide[:, :, i * step : i * step + side, j * step : j * step + side]
        for i, j in itertools.product(range(counts[0]), range(counts[1]))
    ]
    return np.stack(tiles, axis=2).swapaxes(0, 1).reshape(channels, -1, side, side)


def check_cutting(run, f, x, before, counts):
    """Both kernels that cut; ``before``: how much of the first tile is above and left of x."""
    channels, sizes = x.shape[1], (*x.shape[2:], *(-b for b in before), *counts)
    for name, side, transform in (
        ("image", f.side, f.image),
        ("gradient", f.step, [m.T for m in reversed(f.out)]),
    ):
        want = square(transform, cut(x, side, f.step, before, counts))
        planes = run.empty(*want.shape)
        run(f"winograd_{name}_{f.step}", want[0].size, channels, *sizes, run.array(x), planes)
        run.close(planes, want)


@numbers_of("winograd_image_2", "winograd_gradient_2")
def test_tiles_of_two_are_cut(run):
    check_cutting(run, winograd.F2, RNG.standard_normal((2, 3, 5, 6)), (1, 2), (3, 4))


@numbers_of("winograd_image_4", "winograd_gradient_4")
def test_tiles_of_four_are_cut(run):
    check_cutting(run, winograd.F4, RNG.standard_normal((2, 3, 9, 6)), (1, 2), (2, 3))


def check_putting(run, f, image, counts):
    images, channels = 2, 3
    planes = RNG.standard_normal((f.places, channels, images * prod(counts)))
    bias = RNG.standard_normal(channels)
    tiles = np.moveaxis(planes, 0, -1).reshape(*planes.shape[1:], f.side, f.side)
    made = square(f.out, tiles).reshape(f.step, f.step, channels, images, *counts)
    whole = made.transpose(3, 2, 4, 0, 5, 1)  # images, channels, rows of tiles, of pixels, ...
    whole = whole.reshape(images, channels, counts[0] * f.step, counts[1] * f.step)
    want = whole[:, :, : image[0], : image[1]]
    for has_bias, rectify in ((0, 0), (1, 0), (0, 1), (1, 1)):
        y = run.empty(images, channels, *image)
        sizes = channels, *image, *counts, has_bias, rectify
        arrays = run.array(planes), run.array(bias), y
        run(f"winograd_out_{f.step}", planes[0].size, *sizes, *arrays)
        made = want + has_bias * bias.reshape(-1, 1, 1)
        run.close(y, np.maximum(made, 0) if rectify else made)


@numbers_of("winograd_out_2")
def test_tiles_of_two_are_put_together(run):
    check_putting(run, winograd.F2, (5, 6), (3, 3))


@numbers_of("winograd_out_4")
def test_tiles_of_four_are_put_together(run):
    check_putting(run, winograd.F4, (7, 8), (2, 2))


def check_kernels(run, f):
    weights, total = RNG.standard_normal((5, 3, 3)), RNG.standard_normal((5, 3, 3))
    planes = run.empty(f.places, 5)
    for turned in (0, 1):
        run(f"winograd_kernels_{f.step}", 5, turned, run.array(weights), planes)
        run.close(planes, square(f.kernel, weights[:, ::-1, ::-1] if turned else weights))
    given = RNG.standard_normal((f.places, 5))
    sums = np.moveaxis(given, 0, -1).reshape(5, f.side, f.side)
    gradient = square([m.T for m in reversed(f.kernel)], sums)
    got = run.array(total)
    run(f"winograd_kernel_gradient_{f.step}", 5, run.array(given), got)
    run.close(got, total + np.moveaxis(gradient, 0, -1).reshape(total.shape))


@numbers_of("winograd_kernels_2", "winograd_kernel_gradient_2")
def test_kernels_for_tiles_of_two(run):
    check_kernels(run, winograd.F2)


@numbers_of("winograd_kernels_4", "winograd_kernel_gradient_4")
def test_kernels_for_tiles_of_four(run):
    check_kernels(run, winograd.F4)
