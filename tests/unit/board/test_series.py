import math

import numpy as np
import pytest

from pycaffe_dist.board.series import MOST, Series, drawn, grid, joined, means, on_grid


def series(ys, xs=None, chunk=1000):
    made = Series()
    xs = range(len(ys)) if xs is None else xs
    for i in range(0, len(ys), chunk):
        made.extend([float(x) for x in xs[i : i + chunk]], [float(y) for y in ys[i : i + chunk]])
    return made


def test_few_points_stay_as_they_are():
    ys = [3.0, 1.0, 2.0]
    assert drawn(series(ys).view()) == ([0.0, 1.0, 2.0], ys)


@pytest.mark.parametrize("count", [MOST, MOST + 1, 100_003])
def test_no_extreme_is_lost_or_moved(count):
    rng = np.random.default_rng(count)
    ys = rng.normal(0, 1, count).astype(np.float32)
    low, high = count // 3, count - 5
    ys[low], ys[high] = -50, 70
    made = series(ys, chunk=777)
    assert len(made.buckets) <= MOST
    for points in (20, 500):
        xs, shown = drawn(made.view(points=points))
        assert len(xs) <= 2 * points + 4
        assert shown[xs.index(low)] == -50 and shown[xs.index(high)] == 70
        assert xs == sorted(xs)
    assert made.best == (high, 70)
    made.is_loss = True
    assert made.best == (low, -50)
    assert made.last == (count - 1, ys[-1])


def test_a_part_of_it():
    made = series(np.arange(10_000))
    xs, ys = drawn(made.view(2000, 3000, 50))
    assert 1900 <= xs[0] <= 2000 <= xs[1] and xs[-2] <= 3000 <= xs[-1] <= 3100
    assert xs == ys
    beyond = drawn(made.view(20_000, 30_000))[0]
    assert beyond[-1] == 9999


def test_what_is_not_finite_is_counted():
    made = series([1.0, math.nan, math.inf, 2.0])
    assert (made.count, made.not_finite, made.first_not_finite) == (4, 2, 1)
    assert drawn(made.view()) == ([0.0, 3.0], [1.0, 2.0])
    assert series([math.nan]).best is None


def test_after_a_resume_what_was_beyond_is_gone():
    made = series(np.arange(50_000))
    made.cut(20_000)
    assert max(drawn(made.view())[0]) < 20_000
    made.extend([20_000.0], [-1.0])
    assert made.last == (20_000, -1)
    assert drawn(made.view())[1][-1] == -1


def test_means_are_means():
    made = series([1.0, 3.0] * 400)
    xs, ys = means(made.view(points=100))
    assert len(xs) == len(ys) == 100
    np.testing.assert_allclose(ys, 2.0)
    three = joined(series([1.0, 2.0, 6.0]).view(), 3)
    assert float(three["mean"][0]) == 3.0


def test_many_curves_share_one_x():
    ys = np.zeros(5000, np.float32)
    ys[1234], ys[4321] = 9, -9
    found = np.array(on_grid(series(ys).view(points=2000), 0, 5000, 100), float)
    xs = np.array(grid(0, 5000, 100))
    assert len(found) == len(xs) == 200
    assert abs(xs[np.nanargmax(found)] - 1234) < 50 and np.nanmax(found) == 9
    assert abs(xs[np.nanargmin(found)] - 4321) < 50 and np.nanmin(found) == -9
    assert on_grid(series([1.0]).view(), 10, 20, 2) == [None] * 4


def test_a_part_has_one_point_beyond_either_side():
    made = series(np.arange(100))
    assert drawn(made.view(20, 30))[0] == list(map(float, range(19, 32)))
    assert drawn(made.view(0, 99))[0] == list(map(float, range(100)))
    assert drawn(made.view(20.2, 20.8))[0] == [20, 21]
    assert drawn(made.view(-9, -5))[0] == [0]
    assert len(made.view(0, 99, 50)) == 50 and len(made.view(0, 99, 1)) == 2


def test_buckets_are_packed_when_there_are_too_many(monkeypatch):
    monkeypatch.setattr("pycaffe_dist.board.series.MOST", 8)
    made = Series()
    sizes = []
    for i in range(40):
        made.extend([float(i)], [float(i % 5)])
        sizes.append((made.size, len(made.buckets)))
    assert sizes[7] == (1, 8) and sizes[8] == (2, 5)
    assert max(buckets for _, buckets in sizes) == 8 and sizes[-1][0] == 8
    assert made.count == 40 and made.best == (4, 4)
    xs = drawn(made.view())[0]
    assert xs == sorted(set(xs)) and xs[0] == 0 and xs[-1] >= 39 - 4


def test_what_is_joined_keeps_means_and_places():
    pairs = joined(series([4.0, 2.0, 3.0, 9.0, 5.0]).view(), 2)
    assert [tuple(b) for b in pairs.tolist()] == [
        (0.5, 1.0, 0.0, 2.0, 4.0, 3.0),
        (2.5, 2.0, 3.0, 3.0, 9.0, 6.0),
        (4.0, 4.0, 4.0, 5.0, 5.0, 5.0),
    ]
    assert drawn(pairs) == ([0, 1, 2, 3, 4], [4, 2, 3, 9, 5])


def test_the_smoothed_line_reaches_a_hundredth_to_either_side():
    ys = np.zeros(400)
    ys[200] = 9
    xs, smooth = means(series(ys).view())
    assert xs == list(map(float, range(400)))
    assert [i for i, y in enumerate(smooth) if y] == list(range(196, 205))
    assert smooth[200] == 1
    few = means(series([3.0, 0.0, 6.0]).view())[1]
    assert few == [1.5, 3, 3]


def test_columns_of_a_grid():
    points = series([1.0, 5.0, 2.0, 8.0], [0.0, 1.0, 9.0, 10.0])
    assert on_grid(points.view(), 0, 10, 5) == [1, 5, *[None] * 6, 2, 8]
    assert on_grid(points.view(), 1, 9, 2) == [5, 5, 2, 2]
    assert on_grid(series([3.0], [4.0]).view(), 4, 4, 1) == [3, 3]
    assert grid(10, 20, 2) == [11.25, 13.75, 16.25, 18.75]
    falling = series([5.0, 1.0], [0.0, 1.0])
    assert on_grid(joined(falling.view(), 2), 0, 10, 1) == [5, 1]
    apart = joined(series([5.0, 1.0], [0.0, 9.0]).view(), 2)
    assert on_grid(apart, 0, 10, 2) == [5, 5, 1, 1]  # one extreme of the bucket in each
    assert drawn(Series().view()) == ([], [])
