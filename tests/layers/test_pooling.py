import math

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.layers import windows
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

LOWEST = -float(np.finfo(np.float32).max)


def pool(settings):
    return f'type: "Pooling" pooling_param {{ {settings} }}'


def outputs(size, kernel, stride, pad, padded, floor):
    count = (size + 2 * pad - kernel) / stride
    count = (math.floor(count) if floor else math.ceil(count)) + 1
    return count - 1 if padded and (count - 1) * stride >= size + pad else count


def reference(method, kernel, stride=(1, 1), pad=(0, 0), floor=False):
    """Window by window, with the exact limits; the maxima come with their places."""

    def limits(o, axis, size):
        start = o * stride[axis] - pad[axis]
        end = min(start + kernel[axis], size + pad[axis])
        return max(start, 0), min(end, size), end - start

    def run(x):
        n, c, height, width = x.shape
        out = [
            outputs(size, kernel[a], stride[a], pad[a], any(pad), floor)
            for a, size in enumerate((height, width))
        ]
        y, mask = np.full((n, c, *out), LOWEST), np.full((n, c, *out), -1.0)
        for index in np.ndindex(n, c, *out):
            h0, h1, sh = limits(index[2], 0, height)
            w0, w1, sw = limits(index[3], 1, width)
            seen = x[index[0], index[1]]
            if method == "AVE":
                total = seen[h0:h1, w0:w1].sum()
                y[index] = total / (sh * sw) if sh * sw else np.nan
                continue
            for h in range(h0, h1):
                for w in range(w0, w1):
                    if seen[h, w] > y[index]:
                        y[index], mask[index] = seen[h, w], h * width + w
        return (y, mask) if method == "MAX" else y

    return run


CASES = [
    ("kernel_size: 3 stride: 2", (2, 3, 6, 5), {"kernel": (3, 3), "stride": (2, 2)}),
    (
        "kernel_size: 3 stride: 2 pad: 1",
        (2, 2, 6, 5),
        {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1)},
    ),
    (
        "kernel_size: 3 stride: 2 round_mode: FLOOR",
        (1, 2, 6, 6),
        {"kernel": (3, 3), "stride": (2, 2), "floor": True},
    ),
    (
        "kernel_h: 4 kernel_w: 3 stride_h: 2 stride_w: 1 pad_h: 1 pad_w: 2",
        (1, 2, 6, 5),
        {"kernel": (4, 3), "stride": (2, 1), "pad": (1, 2)},
    ),
    # The pad of one axis drops a last window of the other.
    (
        "kernel_h: 2 kernel_w: 1 stride: 3 pad_h: 1 pad_w: 0",
        (1, 2, 5, 5),
        {"kernel": (2, 1), "stride": (3, 3), "pad": (1, 0)},
    ),
    ("kernel_size: 5 stride: 3", (1, 2, 7, 4), {"kernel": (5, 5), "stride": (3, 3)}),
    ("kernel_size: 1", (1, 2, 3, 4), {"kernel": (1, 1)}),
    (
        "kernel_size: 20 stride: 20 pad: 8",
        (2, 1, 17, 4),
        {"kernel": (20, 20), "stride": (20, 20), "pad": (8, 8)},
    ),
    ("global_pooling: true", (2, 3, 4, 5), {"kernel": (4, 5)}),
    # kernel_size counts if only one of the sides comes with it.
    ("kernel_size: 2 kernel_h: 3", (1, 1, 4, 4), {"kernel": (2, 2)}),
]


@pytest.mark.parametrize(("settings", "shape", "layout"), CASES)
@pytest.mark.parametrize("method", ["MAX", "AVE"])
def test_pooling(method, settings, shape, layout):
    layer = pool(f"pool: {method} {settings}")
    check_layer(LayerCase(layer, [shape], reference=reference(method, **layout)))


@pytest.mark.parametrize(("settings", "shape", "layout"), CASES)
@pytest.mark.parametrize("values", ["distinct", "ties", "negative", "nan"])
def test_maxima_and_mask(settings, shape, layout, values):
    rng = np.random.default_rng(5)
    x = rng.standard_normal(shape)
    if values == "ties":
        x = rng.integers(0, 3, shape).astype(float)
    elif values == "negative":
        x = np.where(rng.random(shape) < 0.3, -np.inf, -1e38 * rng.random(shape))
    elif values == "nan":
        x[rng.random(shape) < 0.4] = np.nan
    run = LayerRun(LayerCase(pool(settings), [x], tops=2))
    y, mask = reference("MAX", **layout)(x)
    got = run.forward()
    np.testing.assert_array_equal(got[0], y)
    np.testing.assert_array_equal(got[1], mask)

    gy = rng.standard_normal(y.shape)
    gx = np.zeros(shape)
    for index in np.ndindex(*y.shape):
        if mask[index] >= 0:
            gx[index[0], index[1]].reshape(-1)[int(mask[index])] += gy[index]
    run.backward([gy, np.ones(y.shape)], [True])
    np.testing.assert_allclose(run.bottom[0].blob.diff, gx, atol=1e-12)


def test_gradient_of_a_lost_window_reaches_nobody():
    x = np.full((1, 2, 2, 2), np.nan)
    run = LayerRun(LayerCase(pool("kernel_size: 2"), [x]))
    assert (run.forward()[0] == LOWEST).all()
    run.backward([np.full((1, 2, 1, 1), np.inf)], [True])
    assert (run.bottom[0].blob.diff == 0).all()


def test_a_layer_in_place_behind_it_does_not_matter():
    x = -np.arange(1.0, 17).reshape(1, 1, 4, 4)
    run = LayerRun(LayerCase(pool("kernel_size: 2 stride: 2"), [x]))
    run.forward()
    run.top[0].blob.data[...] = 0
    run.backward([np.ones((1, 1, 2, 2))], [True])
    np.testing.assert_array_equal(
        np.argwhere(run.bottom[0].blob.diff[0, 0]), [[0, 0], [0, 2], [2, 0], [2, 2]]
    )


def test_empty_windows():
    """H = 5 in steps of 3: the third window begins at 6, behind the end."""
    x = np.arange(1.0, 26).reshape(1, 1, 5, 5)
    run = LayerRun(LayerCase(pool("kernel_size: 1 stride: 3"), [x], tops=2))
    y, mask = run.forward()
    np.testing.assert_array_equal(y[0, 0, :, 2], [LOWEST] * 3)
    np.testing.assert_array_equal(mask[0, 0], [[0, 3, -1], [15, 18, -1], [-1, -1, -1]])
    run.backward([np.ones(y.shape), y], [True])
    assert run.bottom[0].blob.diff.sum() == 4

    run = LayerRun(LayerCase(pool("pool: AVE kernel_size: 1 stride: 3"), [x]))
    y = run.forward()[0]
    np.testing.assert_array_equal(y[0, 0], [[1, 4, 0], [16, 19, 0], [0, 0, 0]])
    run.backward([np.ones(y.shape)], [True])
    assert run.bottom[0].blob.diff.sum() == 4


def test_mean_of_a_window_that_begins_at_the_end_is_not_a_number():
    x = np.ones((1, 1, 3, 4))
    run = LayerRun(LayerCase(pool("pool: AVE kernel_size: 1 stride: 3"), [x]))
    np.testing.assert_array_equal(run.forward()[0][0, 0], [[1, 1], [np.nan, np.nan]])
    run.backward([np.ones((1, 1, 2, 2))], [True])
    np.testing.assert_array_equal(run.bottom[0].blob.diff[0, 0, 0], [1, 0, 0, 1])
    assert not run.bottom[0].blob.diff[0, 0, 1:].any()


def test_known_maxima():
    x = np.array([[1, 2, 5, 2, 3], [9, 4, 1, 4, 8], [1, 2, 5, 2, 3]], float)
    run = LayerRun(LayerCase(pool("kernel_size: 2"), [x.reshape(1, 1, 3, 5)], tops=2))
    y, mask = run.forward()
    np.testing.assert_array_equal(y[0, 0], [[9, 5, 5, 8], [9, 5, 5, 8]])
    np.testing.assert_array_equal(mask[0, 0], [[5, 2, 2, 9], [5, 12, 12, 9]])

    x = np.array([[1, 2, 4], [2, 3, 2], [4, 2, 1]], float).reshape(1, 1, 3, 3)
    y = LayerRun(LayerCase(pool("kernel_size: 3 stride: 2 pad: 2"), [x])).forward()[0]
    np.testing.assert_array_equal(y[0, 0], [[1, 4, 4], [4, 4, 4], [4, 4, 1]])


def test_known_means():
    x = np.full((1, 1, 3, 3), 2.0)
    y = LayerRun(LayerCase(pool("pool: AVE kernel_size: 3 pad: 1"), [x])).forward()[0]
    np.testing.assert_allclose(
        y[0, 0], [[8 / 9, 4 / 3, 8 / 9], [4 / 3, 2, 4 / 3], [8 / 9, 4 / 3, 8 / 9]]
    )


@pytest.mark.parametrize("kernel", [3, 16, 255, 300])
@pytest.mark.parametrize("last_wins", [False, True])
def test_windows_with_many_taps(kernel, last_wins):
    """The number of a tap needs one or two bytes."""
    shape = (2, 2, 40, 330)
    x = np.random.default_rng(0).integers(0, 9, shape).astype(float)
    if last_wins:
        x = np.arange(x.size, dtype=float).reshape(shape)
    settings = f"kernel_h: {min(kernel, 40)} kernel_w: {kernel} stride: {kernel}"
    run = LayerRun(LayerCase(pool(settings), [x], tops=2))
    y, mask = run.forward()
    for index in np.ndindex(*y.shape):
        h, w = (o * kernel for o in index[2:])
        window = x[index[0], index[1], h : h + min(kernel, 40), w : w + kernel]
        i, j = np.unravel_index(np.argmax(window), window.shape)
        assert (y[index], mask[index]) == (window.max(), (h + i) * 330 + w + j)


@pytest.mark.parametrize("method", ["MAX", "AVE", "STOCHASTIC"])
def test_images_in_batches_are_the_whole(monkeypatch, method):
    case = LayerCase(
        pool(f"pool: {method} kernel_size: 3 stride: 2"),
        [np.random.default_rng(0).random((5, 2, 6, 5))],
    )

    def results():
        run = LayerRun(case)
        y = run.forward()[0]
        run.backward([y], [True])
        return y, run.bottom[0].blob.diff

    whole = results()
    monkeypatch.setattr(windows, "CACHED", 120)
    for got, want in zip(results(), whole, strict=True):
        np.testing.assert_array_equal(got, want)


def test_shapes_may_change():
    run = LayerRun(LayerCase(pool("global_pooling: true"), [(2, 3, 4, 5)]))
    for shape in ((1, 3, 7, 2), (0, 3, 7, 2), (4, 2, 300, 1)):
        run.bottom[0].blob.reshape(*shape)
        run.layer.run_forward(run.bottom, run.top)
        run.layer.backward(run.top, [True], run.bottom)
        assert run.top[0].shape == (*shape[:2], 1, 1)


# -- stochastic ------------------------------------------------------------------------------


def test_drawn_values_come_from_their_windows():
    x = np.random.default_rng(0).random((2, 3, 6, 5))
    case = LayerCase(pool("pool: STOCHASTIC kernel_size: 3 stride: 2"), [x])
    y = LayerRun(case).forward()[0]
    assert y.shape == (2, 3, 3, 2)
    for n, c, i, j in np.ndindex(*y.shape):
        assert y[n, c, i, j] in x[n, c, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3]
    assert y.mean() >= 0.55
    check_layer(case)


def test_drawn_in_proportion_to_the_value():
    x = np.tile(np.array([[1.0, 2.0], [0.0, 5.0]]), (4000, 1, 1, 1))
    run = LayerRun(LayerCase(pool("pool: STOCHASTIC kernel_size: 2"), [x]))
    y = run.forward()[0]
    assert {*np.unique(y)} == {1.0, 2.0, 5.0}
    for value, share in ((1, 1 / 8), (2, 2 / 8), (5, 5 / 8)):
        assert abs((y == value).mean() - share) < 4 * (share * (1 - share) / 4000) ** 0.5
    run.backward([np.ones(y.shape)], [True])
    np.testing.assert_array_equal((run.bottom[0].blob.diff * x).sum(axis=(2, 3)), y[:, :, 0, 0])


def test_windows_of_zeros_and_of_negative_sums():
    run = LayerRun(LayerCase(pool("pool: STOCHASTIC kernel_size: 2"), [np.zeros((1, 1, 2, 2))]))
    assert run.forward()[0] == 0
    run.backward([np.ones((1, 1, 1, 1))], [True])
    np.testing.assert_array_equal(run.bottom[0].blob.diff[0, 0], [[1, 0], [0, 0]])

    x = np.full((50, 1, 2, 2), -1.0)
    run = LayerRun(LayerCase(pool("pool: STOCHASTIC kernel_size: 2"), [x]))
    y = run.forward()[0]
    run.backward([np.ones(y.shape)], [True])
    assert {*np.unique(y)} == {-1.0, 0.0}  # some draws are never reached
    np.testing.assert_array_equal(run.bottom[0].blob.diff.sum(axis=(1, 2, 3)), -y.reshape(-1))


def test_expected_value_when_testing():
    x = np.random.default_rng(0).random((2, 3, 6, 5))
    x[0, 0, :3, :3] = 0
    x[0, 1, :3, :3] = -1

    def expected(x):
        y = np.zeros((2, 3, 3, 2))
        for n, c, i, j in np.ndindex(*y.shape):
            window = x[n, c, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3]
            if window.sum() > 0:
                y[n, c, i, j] = (window**2).sum() / window.sum()
        return y

    layer = pool("pool: STOCHASTIC kernel_size: 3 stride: 2")
    case = LayerCase(layer, [x], phase="TEST", reference=expected, bottoms=[])
    check_layer(case)
    run = LayerRun(case)
    run.forward()
    with pytest.raises(NetError, match="gradient in training only"):
        run.backward([np.ones((2, 3, 3, 2))], [True])


# -- settings --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "shape"),
    [
        ("kernel_size: 3 stride: 2", (3, 2)),
        ("kernel_size: 3 stride: 2 pad: 1", (4, 3)),
        ("kernel_size: 3 stride: 2 round_mode: FLOOR", (2, 2)),
        ("global_pooling: true", (1, 1)),
        ("kernel_size: 7 stride: 2", (1, 0)),
    ],
)
def test_shapes(settings, shape):
    case = LayerCase(pool(settings), [(1, 1, 6, 5)])
    if 0 in shape:
        with pytest.raises(NetError, match="does not fit"):
            LayerRun(case)
    else:
        assert LayerRun(case).forward()[0].shape == (1, 1, *shape)


def test_single_precision_stays_single():
    x = np.random.default_rng(0).random((1, 2, 5, 5))
    for method in ("MAX", "AVE", "STOCHASTIC"):
        case = LayerCase(pool(f"pool: {method} kernel_size: 3 stride: 2"), [x])
        run = LayerRun(case, np.float32)
        y = run.forward()[0]
        run.backward([y], [True])
        assert y.dtype == run.bottom[0].blob.diff.dtype == np.float32


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("", "either kernel_size or both"),
        ("kernel_h: 2", "either kernel_size or both"),
        ("kernel_size: 2 kernel_h: 2 kernel_w: 2", "either kernel_size or both"),
        ("kernel_size: 0", "side of 0"),
        ("kernel_h: 2 kernel_w: 0", "side of 0"),
        ("kernel_size: 2 pad_h: 1", "either pad or both"),
        ("kernel_size: 2 pad: 1 pad_h: 1 pad_w: 1", "either pad or both"),
        ("kernel_size: 2 stride_w: 1", "either stride or both"),
        ("kernel_size: 2 stride: 1 stride_h: 1 stride_w: 1", "either stride or both"),
        ("kernel_size: 2 stride: 0", "step of 0"),
        ("kernel_size: 2 pad: 2", r"pad \(2, 2\) must be smaller than the kernel"),
        ("kernel_h: 3 kernel_w: 2 pad: 2", "must be smaller"),
        ("pool: STOCHASTIC kernel_size: 2 pad: 1", "STOCHASTIC pooling takes no pad"),
        ("global_pooling: true kernel_size: 2", "give no kernel size"),
        ("global_pooling: true kernel_w: 2", "give no kernel size"),
        ("global_pooling: true stride: 2", "stride 1 and pad 0"),
        ("global_pooling: true pad: 1", "stride 1 and pad 0"),
        ("kernel_size: 9", "does not fit"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(pool(settings), [(1, 1, 5, 5)]))


def test_bad_shapes():
    with pytest.raises(NetError, match=r"needs a bottom \(N, C, H, W\)"):
        LayerRun(LayerCase(pool("kernel_size: 2"), [(1, 5, 5)]))
    for method in ("AVE", "STOCHASTIC"):
        with pytest.raises(NetError, match="only MAX pooling has a second top"):
            LayerRun(LayerCase(pool(f"pool: {method} kernel_size: 2"), [(1, 1, 5, 5)], tops=2))


def test_flops():
    run = LayerRun(LayerCase(pool("kernel_size: 3 stride: 2"), [(2, 3, 7, 7)]))
    assert run.layer.flops(run.bottom, run.top) == 2 * 3 * 9 * 9
