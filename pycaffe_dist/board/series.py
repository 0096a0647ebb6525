"""A curve of any length in little memory: its least, greatest and mean values, stretch by stretch.

A series of N points is kept as at most ``MOST`` buckets of ``size`` points each; when there are
more, neighbours are joined and ``size`` doubles.  A bucket knows where its least and its greatest
value were, so that no extreme is ever lost or moved, however few points are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

MOST = 4096
BUCKET = np.dtype(
    [("x", "f8"), ("x_low", "f8"), ("x_high", "f8"), ("low", "f4"), ("high", "f4"), ("mean", "f4")]
)
Buckets = NDArray[np.void]


class Series:
    """The points of one curve, by rising x.  Values that are not finite are counted, not drawn."""

    def __init__(self, is_loss: bool = False) -> None:
        self.is_loss = is_loss
        self.size = 1  # points of a bucket
        self.buckets: Buckets = np.zeros(0, BUCKET)
        self._waiting: list[tuple[float, float]] = []  # too few for a bucket
        self.count = self.not_finite = 0
        self.first_not_finite: float | None = None
        self.last: tuple[float, float] | None = None

    def extend(self, xs: Sequence[float], ys: Sequence[float]) -> None:
        for x, y in zip(xs, ys, strict=True):
            if math.isfinite(y):
                self._waiting.append((x, y))
            else:
                self.not_finite += 1
                if self.first_not_finite is None:
                    self.first_not_finite = x
        self.count += len(xs)
        if self._waiting:
            self.last = self._waiting[-1]
        self._pack()

    def cut(self, x: float) -> None:
        """Forget what lies at ``x`` or beyond: a run has resumed before it."""
        self._waiting = [point for point in self._waiting if point[0] < x]
        self.buckets = self.buckets[(self.buckets["x_low"] < x) & (self.buckets["x_high"] < x)]

    def view(self, begin: float = -math.inf, end: float = math.inf, points: int = 1000) -> Buckets:
        """At most about ``points`` buckets of what lies between, and one beyond either side."""
        found = np.concatenate([self.buckets, _buckets(self._waiting, 1)])
        inside = np.flatnonzero((found["x"] >= begin) & (found["x"] <= end))
        if not len(inside):
            near = int(np.searchsorted(found["x"], begin))
            return found[max(near - 1, 0) : near + 1]
        found = found[max(inside[0] - 1, 0) : inside[-1] + 2]
        return joined(found, -(-len(found) // max(points, 2)))

    @property
    def best(self) -> tuple[float, float] | None:
        """Where it was best, and how good: the least of a loss, the greatest of a score."""
        found = np.concatenate([self.buckets, _buckets(self._waiting, 1)])
        if not len(found):
            return None
        at, x, y = (found["low"].argmin(), "x_low", "low")
        if not self.is_loss:
            at, x, y = (found["high"].argmax(), "x_high", "high")
        return float(found[x][at]), float(found[y][at])

    def _pack(self) -> None:
        whole = len(self._waiting) // self.size * self.size
        if whole < self.size or (self.size > 1 and whole < 64 * self.size and whole < MOST):
            return
        new = _buckets(self._waiting[:whole], self.size)
        self._waiting = self._waiting[whole:]
        self.buckets = np.concatenate([self.buckets, new])
        while len(self.buckets) > MOST:
            self.buckets = joined(self.buckets, 2)
            self.size *= 2


def _buckets(points: Sequence[tuple[float, float]], size: int) -> Buckets:
    """Points in buckets of ``size``, which divides their number."""
    values = np.array(points, "f8").reshape(-1, 2)
    made = np.zeros(len(values), BUCKET)
    made["x"] = made["x_low"] = made["x_high"] = values[:, 0]
    made["low"] = made["high"] = made["mean"] = values[:, 1]
    return joined(made, size)


def joined(buckets: Buckets, by: int) -> Buckets:
    """Every ``by`` neighbours as one; the last may be fewer."""
    if by <= 1 or not len(buckets):
        return buckets
    begins = np.arange(0, len(buckets), by)
    out = np.zeros(len(begins), BUCKET)
    whole = len(buckets) // by * by
    if whole:
        table = buckets[:whole].reshape(-1, by)
        row = np.arange(len(table))
        low, high = table["low"].argmin(1), table["high"].argmax(1)
        out["low"][: len(row)], out["x_low"][: len(row)] = (
            table["low"][row, low],
            table["x_low"][row, low],
        )
        out["high"][: len(row)], out["x_high"][: len(row)] = (
            table["high"][row, high],
            table["x_high"][row, high],
        )
        out["x"][: len(row)], out["mean"][: len(row)] = table["x"].mean(1), table["mean"].mean(1)
    if whole < len(buckets):
        out[-1] = joined(buckets[whole:], len(buckets) - whole)[0]
    return out


def drawn(buckets: Buckets) -> tuple[list[float], list[float]]:
    """The extremes as one line, by x: what a chart draws."""
    xs = np.stack([buckets["x_low"], buckets["x_high"]], 1)
    ys = np.stack([buckets["low"], buckets["high"]], 1)
    order = np.argsort(xs, 1, kind="stable")
    xs, ys = (np.take_along_axis(a, order, 1).reshape(-1) for a in (xs, ys))
    kept = np.r_[True, (np.diff(xs) > 0)] if len(xs) else np.zeros(0, bool)
    return [float(x) for x in xs[kept]], [float(f"{y:.7g}") for y in ys[kept]]


def means(buckets: Buckets) -> tuple[list[float], list[float]]:
    """The smoothed line: the mean of each bucket and its neighbours, a fiftieth of all."""
    reach = max(1, len(buckets) // 100)
    y = buckets["mean"].astype("f8")
    sums = np.r_[0.0, np.cumsum(y)]
    at = np.arange(len(y))
    begin, end = np.maximum(at - reach, 0), np.minimum(at + reach + 1, len(y))
    smooth = (sums[end] - sums[begin]) / np.maximum(end - begin, 1)
    return [float(x) for x in buckets["x"]], [float(f"{v:.7g}") for v in smooth]


def on_grid(buckets: Buckets, begin: float, end: float, columns: int) -> list[float | None]:
    """The least and the greatest value within each of ``columns`` equal stretches, in their order.

    Many curves with one x for all: each column has two places, and None where a curve has nothing.
    """
    y: NDArray[np.float64] = np.full((columns, 2), np.nan)
    x: NDArray[np.float64] = np.full((columns, 2), np.nan)
    for where, value, pick in (("x_low", "low", np.fmin), ("x_high", "high", np.fmax)):
        inside = (buckets[where] >= begin) & (buckets[where] <= end)
        at = ((buckets[where][inside] - begin) / ((end - begin) or 1) * columns).astype(int)
        at = np.minimum(at, columns - 1)
        side = int(value == "high")
        pick.at(y[:, side], at, buckets[value][inside])
        x[at, side] = buckets[where][inside]
    for a, b in ((0, 1), (1, 0)):  # a stretch that has one of a bucket's extremes only
        y[:, a] = np.where(np.isnan(y[:, a]), y[:, b], y[:, a])
    swapped = x[:, 0] > x[:, 1]
    y[swapped] = y[swapped, ::-1]
    return [None if math.isnan(v) else float(f"{v:.6g}") for v in y.reshape(-1)]


def grid(begin: float, end: float, columns: int) -> list[float]:
    """The x of :func:`on_grid`'s places."""
    step = (end - begin) / (2 * columns)
    return [begin + step * (i + 0.5) for i in range(2 * columns)]
