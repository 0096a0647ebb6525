"""LRN, BatchNorm, MVN and Softmax: kernels give what the generic layers give."""

import numpy as np
import pytest

from pycaffe_dist.testing.kernels import layer_numbers, numbers_of

RNG = np.random.default_rng(3)
X = RNG.standard_normal((2, 7, 5, 6))


@pytest.mark.parametrize("beta", [0.75, 0.625])
@pytest.mark.parametrize("size", [3, 5])
@pytest.mark.parametrize("region", ["across", "within"])
@numbers_of("lrn_forward", "lrn_ratio")
def test_lrn(run, region, size, beta):
    layer = (
        f'type: "LRN" lrn_param {{ local_size: {size} alpha: 0.5 beta: {beta} k: 1.5 '
        f"norm_region: {region.upper()}_CHANNEL{'S' if region == 'across' else ''} }}"
    )
    want = layer_numbers(layer, X)
    across = region == "across"
    shape, k = ((7, 30), [1.5]) if across else ((5, 6), [])
    alpha = 0.5 / (size if across else size**2)
    x, scale, y = run.array(X), run.empty(*X.shape), run.empty(*X.shape)
    run(f"lrn_{region}_scale", x.size, *shape, size, alpha, *k, x, scale)
    run("lrn_forward", x.size, beta, x, scale, y)
    run.close(y, want.tops[0])
    gy, ratio, gx = run.array(want.top_diffs[0]), run.empty(*X.shape), run.empty(*X.shape)
    run("lrn_ratio", x.size, gy, y, scale, ratio)
    for in_place, seen in ((0, x), (1, y)):
        numbers = (*shape, size, 2 * alpha * beta, beta, in_place)
        run(f"lrn_{region}_backward", x.size, *numbers, seen, gy, scale, ratio, gx)
        run.close(gx, want.bottom_diffs[0])


@numbers_of(
    *("lrn_across_scale", "lrn_across_backward", "lrn_within_scale", "lrn_within_backward"),
)
def test_lrn_within_windows_larger_than_the_image(run):
    for region in ("across", "within"):
        test_lrn.__wrapped__(run, region, 13, 0.75)


def channel_sums(run, kernel, scale, arrays, shape, outputs=1, splits=2):
    channels = shape[1]
    partials = [run.empty(channels * splits) for _ in range(outputs)]
    run(kernel, channels * splits, splits, *shape, *arrays, *partials)
    sums = [run.empty(channels) for _ in partials]
    for partial, total in zip(partials, sums, strict=True):
        run("finish_sums", channels, splits, scale, 0, partial, total)
    return sums


@numbers_of(
    *("channel_sums", "channel_deviations", "finish_sums", "batch_norm_statistics"),
    *("batch_norm_forward", "batch_norm_sums", "batch_norm_backward"),
)
@pytest.mark.parametrize("images", [1, 3])
def test_batch_norm_in_training(run, images):
    given = RNG.standard_normal((images, 7, 5, 6)) * 2 + 1
    shape, values = (images, 7, 30), images * 30
    stored = [RNG.random(7), RNG.random(7) + 1, np.array([2.5])]
    layer = 'type: "BatchNorm" batch_norm_param { moving_average_fraction: 0.75 eps: 0.0625 }'
    want = layer_numbers(layer, given, fill=stored)
    x, centred, y = run.array(given), run.empty(*given.shape), run.empty(*given.shape)
    (mean,) = channel_sums(run, "channel_sums", 1 / values, [x], shape)
    (variance,) = channel_sums(run, "channel_deviations", 1 / values, [x, mean], shape)
    params, inverse = [run.array(s) for s in stored], run.empty(7)
    run("batch_norm_statistics", 7, values, 0.75, 0.0625, mean, variance, *params, inverse)
    for got, kept in zip(params, want.params, strict=True):
        run.close(got, kept)
    run("batch_norm_forward", x.size, 7, 30, x, mean, inverse, centred, y)
    run.close(y, want.tops[0])
    gy = run.array(want.top_diffs[0])
    arrays = [gy, centred]
    mean_gy, mean_dot = channel_sums(run, "batch_norm_sums", 1 / values, arrays, shape, outputs=2)
    run("batch_norm_backward", x.size, 7, 30, gy, centred, mean_gy, mean_dot, inverse, gy)
    run.close(gy, want.bottom_diffs[0])


@pytest.mark.parametrize("total", [2.5, 0.0])
@numbers_of("batch_norm_stored", "batch_norm_normalise", "scale_forward")
def test_batch_norm_with_stored_statistics(run, total):
    stored = [RNG.random(7), RNG.random(7) + 1, np.array([total])]
    layer = 'type: "BatchNorm" batch_norm_param { use_global_stats: true eps: 0.0625 }'
    want = layer_numbers(layer, X, fill=stored)
    x, y, gx = run.array(X), run.empty(*X.shape), run.empty(*X.shape)
    mean, inverse = run.empty(7), run.empty(7)
    run("batch_norm_stored", 7, 0.0625, *map(run.array, stored), mean, inverse)
    run("batch_norm_normalise", x.size, 7, 30, x, mean, inverse, y)
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
