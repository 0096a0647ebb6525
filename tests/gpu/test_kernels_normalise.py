"""LRN, BatchNorm, MVN and Softmax: kernels give what the generic layers give."""

import numpy as np
import pytest

from pycaffe_dist.testing.kernels import layer_numbers, numbers_of

RNG = np.random.default_rng(3)
X = RNG.standard_normal((2, 7, 5, 6))


@pytest.mark.parametrize("beta", [0.75, 0.625])
@pytest.mark.parametrize("size", [3, 5])
@pytest.mark.parametrize("region", ["across", "within"])
def test_lrn(run, region, size, beta):
    layer = (
        f'type: "LRN" lrn_param {{ local_size: {size} alpha: 0.5 beta: {beta} k: 1.5 '
        f"norm_region: {region.upper()}_CHANNEL{'S' if region == 'across' else ''} }}"
    )
    want = layer_numbers(layer, X)
    across = region == "across"
    shape, k = ((7, 30), 1.5) if across else ((5, 6), 1)
    alpha = 0.5 / (size if across else size**2)
    x, scale, y = run.array(X), run.empty(*X.shape), run.empty(*X.shape)
    run(f"lrn_{region}_forward", x.size, *shape, size, alpha, k, beta, x, scale, y)
    run.close(y, want.tops[0])
    gy, gx = run.array(want.top_diffs[0]), run.empty(*X.shape)
    for in_place, seen in ((0, x), (1, y)):
        numbers = (*shape, size, 2 * alpha * beta, beta, in_place)
        run(f"lrn_{region}_backward", x.size, *numbers, seen, y, gy, scale, gx)
        run.close(gx, want.bottom_diffs[0])


@numbers_of(
    *("lrn_across_forward", "lrn_across_backward", "lrn_within_forward", "lrn_within_backward"),
)
def test_lrn_within_windows_larger_than_the_image(run):
    for region in ("across", "within"):
        test_lrn(run, region, 13, 0.75)


NORM = 'type: "BatchNorm" batch_norm_param { moving_average_fraction: 0.75 eps: 0.0625 }'
SCALE, SHIFT = RNG.random((2, 7)) + 0.5
OTHER = RNG.standard_normal((3, 7, 5, 6))


def stored(total=2.5):
    return [RNG.random(7), RNG.random(7) + 1, np.array([total])]


def measured(run, x, params, splits, scale=None):
    """What the statistics of a batch come to: mean, inverse, factor."""
    made, tickets = [run.empty(7) for _ in range(3)], run.tickets(7)
    scale = run.array(np.ones(7)) if scale is None else run.array(scale)
    sizes = 7 * splits, splits, len(x), 7, 30, 0.75, 0.0625
    partial = run.empty(2 * 7 * splits)
    run("batch_norm_measure", *sizes, x, scale, partial, tickets, *params, *made)
    assert not tickets.any()
    return made


@pytest.mark.parametrize("splits", [1, 4])
@pytest.mark.parametrize("images", [1, 3])
@numbers_of(
    *("batch_norm_measure", "batch_norm_forward"),
    *("batch_norm_gradients", "batch_norm_backward"),
)
def test_batch_norm_in_training(run, images, splits):
    given = RNG.standard_normal((images, 7, 5, 6)) * 2 + 1
    before = stored()
    want = layer_numbers(NORM, given, fill=before)
    x, y, params = run.array(given), run.empty(*given.shape), [run.array(s) for s in before]
    mean, inverse, factor = measured(run, x, params, splits)
    for got, kept in zip(params, want.params, strict=True):
        run.close(got, kept)
    run.close(factor, inverse)
    no_shift = run.array(np.zeros(7))
    run("batch_norm_forward", x.size, 7, 30, False, x, mean, factor, no_shift, y)
    run.close(y, want.tops[0])
    gy = run.array(want.top_diffs[0])
    means, sums = gradients(run, splits, x, gy, gy, mean, inverse)
    run.close(sums[0], (want.top_diffs[0] * want.tops[0]).sum(axis=(0, 2, 3)))
    run("batch_norm_backward", x.size, 7, 30, x, gy, mean, inverse, factor, means, gy)
    run.close(gy, want.bottom_diffs[0])


def gradients(run, splits, x, gy, y, mean, inverse, keep=(0, 0), rectify=False, gated=None):
    """The means of a backward pass, and the gradients of scale and shift."""
    sums = [run.array([9.0] * 7) if k else run.empty(7) for k in keep]
    means, tickets = run.empty(2, 7), run.tickets(7)
    sizes = 7 * splits, splits, len(x), 7, 30, rectify, rectify or gated is not None, *keep
    made = run.empty(2 * 7 * splits), tickets, means, *sums, gy if gated is None else gated
    run("batch_norm_gradients", *sizes, x, gy, y, mean, inverse, *made)
    assert not tickets.any()
    return means, sums


@pytest.mark.parametrize("splits", [1, 4])
@numbers_of("batch_norm_add_forward", "batch_norm_gradients")
def test_batch_norm_with_what_is_behind_it(run, splits):
    for added in (False, True):
        behind_norm(run, splits, added)


def behind_norm(run, splits, added):
    given = RNG.standard_normal((3, 7, 5, 6)) * 2 + 1
    norm = layer_numbers(NORM, given, fill=stored())
    value = norm.tops[0] * SCALE[:, None, None] + SHIFT[:, None, None] + added * OTHER
    x, y = run.array(given), run.empty(*given.shape)
    mean, inverse, factor = measured(run, x, [run.array(s) for s in stored()], splits, SCALE)
    settings = x.size, 7, 30, True, x, mean, factor, run.array(SHIFT)
    if added:
        run("batch_norm_add_forward", *settings, run.array(OTHER), y)
    else:
        run("batch_norm_forward", *settings, y)
    run.close(y, np.maximum(value, 0))
    top = RNG.standard_normal(given.shape)
    gy, gated = run.array(top), run.empty(*given.shape) if added else None
    seen = x, gy, y, mean, inverse
    _, sums = gradients(run, splits, *seen, keep=(0.5, 1), rectify=True, gated=gated)
    want = top * (value > 0)
    run.close(gated if added else gy, want)
    run.close(sums[0], 4.5 + (want * norm.tops[0]).sum(axis=(0, 2, 3)))
    run.close(sums[1], 9 + want.sum(axis=(0, 2, 3)))


@numbers_of("batch_norm_measure", "batch_norm_add_forward", "batch_norm_forward")
def test_batch_norm_far_from_zero_and_at_what_is_no_number(run):
    given = RNG.standard_normal((3, 7, 5, 6)) + 1000
    x, params = run.array(given), [run.array(s) for s in stored()]
    mean, inverse, factor = measured(run, x, params, 4)
    shape = 0, 2, 3
    np.testing.assert_allclose(mean, x.mean(axis=shape, dtype=np.float64), rtol=1e-6)
    variance = x.astype(np.float64).var(axis=shape)
    np.testing.assert_allclose(inverse, 1 / np.sqrt(variance + 0.0625), rtol=1e-4)
    x[0, :, 0, 0] = np.inf, -np.inf, np.nan, 0, 0, 0, 0
    other, y = run.array(np.zeros(given.shape)), run.empty(*given.shape)
    arrays = x, mean, factor, run.array(np.zeros(7))
    for name, last in (("batch_norm_forward", [y]), ("batch_norm_add_forward", [other, y])):
        run(name, x.size, 7, 30, True, *arrays, *last)
        # As ReLU makes it, which is max(0, v) + 0·min(0, v).
        np.testing.assert_array_equal(y[0, :3, 0, 0], [np.inf, np.nan, np.nan])


@numbers_of("batch_norm_statistics")
def test_batch_norm_of_statistics_that_ranks_share(run):
    before = stored()
    mean, variance = RNG.standard_normal(7), RNG.random(7)
    params, made = [run.array(s) for s in before], [run.empty(7) for _ in range(2)]
    given = run.array(mean), run.array(variance), run.array(SCALE)
    run("batch_norm_statistics", 7, 60, 0.75, 0.0625, *given, *params, *made)
    for got, old, new in zip(params, before, (mean, variance * 60 / 59, 1), strict=True):
        run.close(got, 0.75 * old + new)
    inverse = 1 / np.sqrt(variance + 0.0625)
    run.close(made[0], inverse)
    run.close(made[1], SCALE * inverse)


@pytest.mark.parametrize("total", [2.5, 0.0])
@numbers_of("batch_norm_stored", "scale_forward")
def test_batch_norm_with_stored_statistics(run, total):
    params = stored(total)
    layer = 'type: "BatchNorm" batch_norm_param { use_global_stats: true eps: 0.0625 }'
    want = layer_numbers(layer, X, fill=params)
    x, y, gx = run.array(X), run.empty(*X.shape), run.empty(*X.shape)
    mean, inverse, factor = (run.empty(7) for _ in range(3))
    given = *map(run.array, params), run.array(SCALE)
    run("batch_norm_stored", 7, 0.0625, *given, mean, inverse, factor)
    run.close(factor, SCALE * inverse)
    no_shift = run.array(np.zeros(7))
    run("batch_norm_forward", x.size, 7, 30, False, x, mean, inverse, no_shift, y)
    run.close(y, want.tops[0])
    run("scale_forward", x.size, 7, 30, run.array(want.top_diffs[0]), inverse, gx)
    run.close(gx, want.bottom_diffs[0])


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("normalize", [False, True])
@numbers_of("mvn_forward", "mvn_backward")
def test_mvn(run, across, normalize):
    flags = f"across_channels: {str(across).lower()} normalize_variance: {str(normalize).lower()}"
    want = layer_numbers(f'type: "MVN" mvn_param {{ {flags} eps: 0.0625 }}', X)
    rows = 2 if across else 14
    x, y, gx, deviation = run.array(X), run.empty(*X.shape), run.empty(*X.shape), run.empty(rows)
    run("mvn_forward", rows, X.size // rows, normalize, 0.0625, x, y, deviation)
    run.close(y, want.tops[0])
    gy = run.array(want.top_diffs[0])
    run("mvn_backward", rows, X.size // rows, normalize, y, gy, deviation, gx)
    run.close(gx, want.bottom_diffs[0])


@pytest.mark.parametrize("axis", [0, 1, 2])
@numbers_of("softmax_forward", "softmax_backward")
def test_softmax_along_an_axis(run, axis):
    given = X * 30
    want = layer_numbers(f'type: "Softmax" softmax_param {{ axis: {axis} }}', given)
    classes, inner = X.shape[axis], int(np.prod(X.shape[axis + 1 :]))
    y, gx = run.empty(*X.shape), run.empty(*X.shape)
    run("softmax_forward", X.size // classes, classes, inner, run.array(given), y)
    run.close(y, want.tops[0])
    run("softmax_backward", X.size // classes, classes, inner, y, run.array(want.top_diffs[0]), gx)
    run.close(gx, want.bottom_diffs[0])


@pytest.mark.parametrize("classes", [1, 3, 256, 1000])
@numbers_of("softmax_rows_forward", "softmax_rows_backward")
def test_softmax_of_rows(run, classes):
    given = RNG.standard_normal((5, classes)) * 30
    given[0, min(2, classes - 1)] += 300  # e to the power of it overflows, if it is not the maximum
    want = layer_numbers('type: "Softmax"', given)
    x, gx = run.array(given), run.empty(5, classes)
    run("softmax_rows_forward", 5, classes, x, x)  # in place
    run.close(x, want.tops[0])
    run("softmax_rows_backward", 5, classes, x, run.array(want.top_diffs[0]), gx)
    run.close(gx, want.bottom_diffs[0])
