"""Arithmetic, copies, sums and combinations: kernels against NumPy and the generic layers."""

import numpy as np
import pytest

from pycaffe_dist.testing.emulation import Way
from pycaffe_dist.testing.kernels import layer_numbers, numbers_of

RNG = np.random.default_rng(4)
A, B, C = RNG.standard_normal((3, 3, 4, 5, 2))
N = A.size


@numbers_of("fill", "fill_int", "cast_int")
def test_filling(run):
    y, whole = run.empty(700), np.zeros(700, np.int32)
    run("fill", y.size, 2.5, y)
    run("fill_int", 700, -3, whole)
    assert (y == 2.5).all() and (whole == -3).all()
    run("cast_int", 700, whole, y)
    assert (y == -3).all()


@numbers_of("add", "subtract", "multiply", "scale", "scale_by", "axpy", "axpby")
def test_arithmetic(run):
    a, b, y = run.array(A), run.array(B), run.empty(*A.shape)
    for name, want in (("add", A + B), ("subtract", A - B), ("multiply", A * B)):
        run(name, N, a, b, y)
        run.close(y, want)
    run("scale", N, 0.5, a, y)
    run.close(y, A * 0.5)
    run("scale_by", N, 0.5, run.array([3]), a, y)
    run.close(y, A * 1.5)
    run("axpy", N, -2, b, y)
    run.close(y, A * 1.5 - 2 * B)
    run("axpby", N, 2, a, -3, b, y)
    run.close(y, 2 * A - 3 * B)


@numbers_of("add_parts")
def test_parts_are_added(run):
    parts = RNG.standard_normal((3, *B.shape))
    y = run.array(B)
    run("add_parts", N, 3, run.array(parts), y)
    run.close(y, B + parts.sum(axis=0))


def test_nothing_is_nothing(run):
    y = run.array([7.0])
    run("fill", 0, 1, y)
    run.close(y, [7.0])
    run("channel_sums", 0, 1, 1, 0, 1, 1, 0, run.empty(0), y, run.tickets(1), y)
    run.close(y, [7.0])


@numbers_of("swap_axes")
def test_swapping_two_axes(run):
    y = run.empty(4, 3, 10)
    run("swap_axes", N, 3, 4, 10, run.array(A), y)
    run.close(y, A.reshape(3, 4, 10).swapaxes(0, 1))


@numbers_of("copy_part", "take_part")
def test_joining_and_cutting(run):
    y, x = run.empty(3, 70), run.empty(3, 30)
    a, b = run.array(A.reshape(3, 40)), run.array(RNG.standard_normal((3, 30)))
    run("copy_part", a.size, 40, 70, 0, a, y)
    run("copy_part", b.size, 30, 70, 40, b, y)
    run.close(y, np.concatenate([a, b], axis=1))
    run("take_part", x.size, 30, 70, 25, y, x)
    run.close(x, y[:, 25:55])


@pytest.mark.parametrize("offset", [(3, 1), (1, 0)])
@numbers_of("crop_forward", "crop_backward")
def test_cropping(run, offset):
    like = np.zeros((3, 4, 2, 1))
    layer = f'type: "Crop" crop_param {{ offset: {offset[0]} offset: {offset[1]} }}'
    want = layer_numbers(layer, A, like)
    geometry = np.array([A.shape, like.shape, (0, 0, *offset)], np.int32)
    y, gx = run.empty(*like.shape), run.empty(*A.shape)
    run("crop_forward", y.size, 4, geometry, run.array(A), y)
    run.close(y, want.tops[0])
    run("crop_backward", gx.size, 4, geometry, run.array(want.top_diffs[0]), gx)
    run.close(gx, want.bottom_diffs[0])


@numbers_of("tile_forward", "tile_backward")
def test_tiling(run):
    want = layer_numbers('type: "Tile" tile_param { axis: 2 tiles: 3 }', A)
    y, gx = run.empty(*want.tops[0].shape), run.empty(*A.shape)
    run("tile_forward", y.size, 3, 10, run.array(A), y)
    run.close(y, want.tops[0])
    run("tile_backward", gx.size, 3, 10, run.array(want.top_diffs[0]), gx)
    run.close(gx, want.bottom_diffs[0])


@pytest.mark.parametrize("parts", [1, 4, 64])
@numbers_of("take_rows", "add_rows")
def test_rows_by_number(run, parts):
    table, indices = RNG.standard_normal((7, 6)), np.array([3, 0, 3, 6.9, 3, 2])
    layer = 'type: "Embed" embed_param { num_output: 6 input_dim: 7 bias_term: false }'
    want = layer_numbers(layer, indices, fill=[table], down=[-1])
    y, gw = run.empty(6, 6), run.array(table)
    run("take_rows", y.size, 6, 7, run.array(indices), run.array(table), y)
    run.close(y, want.tops[0])
    gy = run.array(want.top_diffs[0])
    run("add_rows", parts * 6, parts, 6, 6, 7, run.array(indices), gy, gw)
    run.close(gw, table + want.param_diffs[0])


@numbers_of("take_rows", "add_rows")
def test_rows_that_are_not_there_touch_nothing(run):
    table, indices, y = (
        run.array(RNG.random((3, 2))),
        run.array([0, -1, 3, np.nan]),
        run.empty(4, 2),
    )
    run("take_rows", y.size, 2, 3, indices, table, y)
    run.close(y, [table[0], *[[np.nan] * 2] * 3])
    before = table.copy()
    run("add_rows", 2 * 2, 2, 2, 4, 3, indices, run.array(np.ones((4, 2))), table)
    run.close(table, before + np.array([[1, 1], [0, 0], [0, 0]]))


# -- sums --------------------------------------------------------------------------------------


@pytest.mark.parametrize("splits", [1, 2, 5, 64])
@pytest.mark.parametrize("shape", [(3, 4, 10), (1, 1, 3000), (20, 3, 1), (1, 6, 7)])
@numbers_of("channel_sums", "channel_abs_sums", "channel_dots", "channel_deviations")
def test_sums_by_channel(run, shape, splits):
    x, b = RNG.standard_normal((2, *shape))
    mean = RNG.standard_normal(shape[1])
    sums = {
        "channel_sums": ([x], x),
        "channel_abs_sums": ([x], abs(x)),
        "channel_dots": ([x, b], x * b),
        "channel_deviations": ([x, mean], (x - mean[:, None]) ** 2),
    }
    channels = shape[1]
    for kernel, (arrays, terms) in sums.items():
        y, given = run.empty(channels), list(map(run.array, arrays))
        run.sums(kernel, shape, *given, out=y, splits=splits, scale=0.5)
        run.close(y, terms.sum(axis=(0, 2)) / 2)
        run.sums(kernel, shape, *given, out=y, splits=splits, keep=3)
        run.close(y, terms.sum(axis=(0, 2)) * 2.5)


def test_sums_are_the_same_every_time(run):
    x, first = run.array(RNG.standard_normal(5000)), run.empty(1)
    run.ways = [Way(), Way(backwards=True)]
    run.sums("channel_sums", (1, 1, 5000), x, out=first, splits=8)
    for _ in range(2):
        again = run.empty(1)
        run.sums("channel_sums", (1, 1, 5000), x, out=again, splits=8)
        np.testing.assert_array_equal(again, first)


@pytest.mark.parametrize(("name", "number"), [("SUM", 1), ("ASUM", 2), ("SUMSQ", 3), ("MEAN", 4)])
@numbers_of("reduction_backward")
def test_reduction(run, name, number):
    layer = f'type: "Reduction" reduction_param {{ operation: {name} axis: 2 coeff: 2.5 }}'
    a = A.copy()
    a[0, 0, 0] = 0
    want = layer_numbers(layer, a)
    coeff = 2.5 / 10 if name == "MEAN" else 2.5
    x, y, gx = run.array(a), run.empty(12), run.empty(*A.shape)
    kernel, arrays = {"ASUM": ("channel_abs_sums", [x]), "SUMSQ": ("channel_dots", [x, x])}.get(
        name, ("channel_sums", [x])
    )
    run.sums(kernel, (1, 12, 10), *arrays, out=y, scale=coeff)
    run.close(y.reshape(3, 4), want.tops[0])
    run("reduction_backward", N, 10, number, coeff, run.array(want.top_diffs[0]), x, gx)
    run.close(gx, want.bottom_diffs[0])


@pytest.mark.parametrize("top_k", [1, 3])
@numbers_of("argmax")
def test_argmax(run, top_k):
    x = RNG.integers(0, 4, (3, 4, 5)).astype(float)  # many equals
    x[1, 2, 3] = np.nan
    given = run.array(x)
    for values in (False, True):
        flags = f"top_k: {top_k} out_max_val: {str(values).lower()}"
        want = layer_numbers(f'type: "ArgMax" argmax_param {{ {flags} axis: 1 }}', x, down=())
        y = run.empty(3, top_k, 5)
        run(
            "argmax", 15, 4, 5, top_k, top_k * 5, -1 if values else 0, 0 if values else -1, given, y
        )
        run.close(y, want.tops[0])
        want = layer_numbers(f'type: "ArgMax" argmax_param {{ {flags} }}', x, down=())
        y = run.empty(3, 1 + values, top_k)
        run("argmax", 3, 20, 1, top_k, y[0].size, 0, top_k if values else -1, given, y)
        run.close(y, want.tops[0])


# -- combinations ------------------------------------------------------------------------------


@numbers_of("eltwise_max_first", "eltwise_max_next", "eltwise_max_backward")
def test_maximum_of_several(run):
    inputs = list(RNG.integers(0, 3, (4, 3, 4)).astype(float))
    inputs[1][0, 0] = inputs[2][0, 1] = np.nan
    want = layer_numbers('type: "Eltwise" eltwise_param { operation: MAX }', *inputs)
    y, winner = run.empty(3, 4), np.full((3, 4), 9, np.int32)
    a, b, *rest = map(run.array, inputs)
    run("eltwise_max_first", 12, a, b, y, winner)
    for i, x in enumerate(rest, 2):
        run("eltwise_max_next", 12, i, x, y, winner)
    run.close(y, want.tops[0])
    for i, diff in enumerate(want.bottom_diffs):
        gx = run.empty(3, 4)
        run("eltwise_max_backward", 12, i, run.array(want.top_diffs[0]), winner, gx)
        run.close(gx, diff)


@numbers_of("eltwise_quotient_backward", "multiply")
def test_product_by_quotients(run):
    layer = 'type: "Eltwise" eltwise_param { operation: PROD stable_prod_grad: false }'
    want = layer_numbers(layer, A, B, C)
    y = run.empty(*A.shape)
    run("multiply", N, run.array(A), run.array(B), y)
    run("multiply", N, y, run.array(C), y)
    run.close(y, want.tops[0])
    for x, diff in zip((A, B, C), want.bottom_diffs, strict=True):
        gx = run.empty(*A.shape)
        run("eltwise_quotient_backward", N, run.array(x), y, run.array(want.top_diffs[0]), gx)
        run.close(gx, diff)


@numbers_of("bias_forward", "scale_forward", "scale_bias_forward")
def test_scale_and_bias(run):
    s, b = RNG.standard_normal((2, 4))
    x, y = run.array(A), run.empty(*A.shape)
    run("bias_forward", N, 4, 10, 0, x, run.array(b), y)
    biased = layer_numbers('type: "Bias"', A, fill=[b]).tops[0]
    run.close(y, biased)
    run("bias_forward", N, 4, 10, 1, x, run.array(b), y)
    run.close(y, np.maximum(biased, 0))
    run("scale_forward", N, 4, 10, x, run.array(s), y)
    run.close(y, layer_numbers('type: "Scale"', A, fill=[s]).tops[0])
    want = layer_numbers('type: "Scale" scale_param { bias_term: true }', A, fill=[s, b])
    run("scale_bias_forward", N, 4, 10, x, run.array(s), run.array(b), y)
    run.close(y, want.tops[0])
    gx = run.empty(*A.shape)
    run("scale_forward", N, 4, 10, run.array(want.top_diffs[0]), run.array(s), gx)
    run.close(gx, want.bottom_diffs[0])
