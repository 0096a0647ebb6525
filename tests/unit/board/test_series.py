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
