import threading

import numpy as np
import pytest

from pycaffe_dist.layers.windows import Windows, batches, pieces, scratch

LAYOUTS = [
    (5, 3, 1, 0, 1),
    (5, 3, 1, 1, 1),
    (6, 3, 2, 2, 1),
    (7, 2, 3, 1, 2),
    (4, 1, 5, 3, 1),
    (3, 3, 4, 0, 2),
    (4, 3, 100, 5, 1),  # nothing but padding
]


def windows_of(size, kernel, stride, pad, dilation):
    w = Windows((kernel,), (stride,), (pad,), (dilation,))
    return w.over((size,), w.fitting((size,)))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_taps_are_all_that_windows_see(layout):
    size, kernel, stride, pad, dilation = layout
    w = windows_of(*layout)
    found = set()
    for k, outs, pixels in w.taps(0):
        served = zip(range(w.out[0])[outs], range(size)[pixels], strict=True)
        found |= {(k, o, p) for o, p in served}
    wanted = set()
    for k in range(kernel):
        for o in range(w.out[0]):
            pixel = o * stride - pad + k * dilation
            if 0 <= pixel < size:
                wanted.add((k, o, pixel))
    assert found == wanted


@pytest.mark.parametrize("layout", LAYOUTS)
def test_view_and_add_back_are_transposes(layout):
    w = windows_of(*layout)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 3, layout[0]))
    columns = rng.standard_normal((2, 3, layout[1], *w.out))
    seen, back = w.view(np, x), np.zeros_like(x)
    assert seen.shape == columns.shape
    w.add_back(np, columns, back)
    np.testing.assert_allclose(np.vdot(seen, columns), np.vdot(x, back))


def test_add_back_by_rows_is_the_whole():
    w = Windows((3, 2), (2, 1), (1, 1), (1, 2))
    w = w.over((7, 5), w.fitting((7, 5)))
    columns = np.random.default_rng(0).standard_normal((2, 3, *w.kernel, *w.out))
    whole, parts = np.zeros((2, 3, 7, 5)), np.zeros((2, 3, 7, 5))
    w.add_back(np, columns, whole)
    for rows in (slice(0, 1), slice(1, 3), slice(3, 4)):
        w.add_back(np, columns[..., rows, :], parts, rows)
    np.testing.assert_allclose(parts, whole)


def test_counts_round_towards_zero():
    # Too large by less than a stride counts as one window, by more as none or less.
    assert Windows((3,), (2,), (0,), (1,)).fitting((2,)) == (1,)
    assert Windows((3,), (1,), (0,), (1,)).fitting((2,)) == (0,)
    assert Windows((5,), (2,), (0,), (1,)).fitting((2,)) == (0,)


def test_a_window_over_the_end_sees_zeros():
    w = windows_of(2, 3, 2, 0, 1)
    seen = w.view(np, np.array([[[4.0, 5.0]]]))
    np.testing.assert_array_equal(seen[0, 0, :, 0], [4, 5, 0])


@pytest.mark.parametrize(("count", "most"), [(10, 3), (10, 0), (1, 5), (0, 4), (8, 8), (9, 8)])
def test_pieces(count, most):
    cut = list(pieces(count, most))
    assert [i for part in cut for i in range(count)[part]] == list(range(count))
    lengths = [part.stop - part.start for part in cut]
    assert all(1 <= n <= max(1, most) for n in lengths)
    assert not lengths or max(lengths) - min(lengths) <= len(lengths)


def test_batches_of_nothing():
    assert list(batches(np.empty((0, 3)))) == []
    assert [part.stop for part in batches(np.empty((2, 0)))] == [2]


def test_scratch_is_reused_but_not_between_uses_dtypes_and_threads():
    a = scratch(np, "test", (4, 5), np.float32)
    assert np.shares_memory(a, scratch(np, "test", (3, 2), np.float32))
    assert not np.shares_memory(a, scratch(np, "other", (4, 5), np.float32))
    assert scratch(np, "test", (2,), np.float64).dtype == np.float64
    assert scratch(np, "test", (50,), np.float32).shape == (50,)
    mine = scratch(np, "test", (50,), np.float32)
    theirs = []
    thread = threading.Thread(target=lambda: theirs.append(scratch(np, "test", (5,), np.float32)))
    thread.start()
    thread.join()
    assert not np.shares_memory(mine, theirs[0])
