"""Images looked at in other places than their pixels: between them, or at another size.

For single points, pixels stand in rows, (N·H·W, C): what all channels have at a place is fetched
together.  For grids, what becomes of one axis is a matrix (new size, old size).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pycaffe_dist.aliases import Array, ArrayModule, DType

# -- single points ---------------------------------------------------------------------------------


@dataclass
class Between:
    """For P positions on an axis the two pixels each lies between.

    Attributes:
        places: (2, P), always pixels of the axis.
        weights: (2, P).
        slopes: (2, P), how the weights change with the position.
    """

    places: Array
    weights: Array
    slopes: Array


def between(xp: ArrayModule, at: Array, size: int, clamp: bool) -> Between:
    """The pixels i ≤ at < i + 1 with their weights 1 − (at − i) and at − i.

    ``clamp``: what lies outside is at the outermost pixel; else pixels outside count as 0.
    Positions that are NaN are taken as far outside.
    """
    first, last = (0, size - 1) if clamp else (-1, size)
    at = xp.minimum(xp.fmax(at, first), last)
    low = xp.floor(at)
    fraction = at - low
    pixels = [low, low + 1]
    inside = [((p >= 0) & (p < size)).astype(at.dtype) for p in pixels]
    if clamp:
        inside = [xp.ones(at.shape, at.dtype)] * 2
    places = [xp.minimum(xp.maximum(p, 0), size - 1).astype(np.int64) for p in pixels]
    weights = [(1 - fraction) * inside[0], fraction * inside[1]]
    return Between(xp.stack(places), xp.stack(weights), xp.stack([-inside[0], inside[1]]))


@dataclass
class Points:
    """P points, each between the four pixels of its rows and columns in an image.

    Attributes:
        rows, columns: where they lie.
        first: (P,), the first pixel of each one's image.
        width: of the images.
    """

    rows: Between
    columns: Between
    first: Array
    width: int

    @property
    def places(self) -> Array:
        """(4, P): the four pixels of each, row by row."""
        places = self.rows.places[:, None] * self.width + self.columns.places
        return places.reshape(4, -1) + self.first

    @property
    def weights(self) -> Array:
        """(4, P): what each pixel counts."""
        return _products(self.rows.weights, self.columns.weights)

    @property
    def down(self) -> Array:
        """(4, P): how the weights change with the row."""
        return _products(self.rows.slopes, self.columns.weights)

    @property
    def across(self) -> Array:
        """(4, P): how the weights change with the column."""
        return _products(self.rows.weights, self.columns.slopes)


def _products(down: Array, across: Array) -> Array:
    """All products of two pairs: (2, P) and (2, P) to (4, P), row by row."""
    return (down[:, None] * across).reshape(4, *down.shape[1:])


def first_pixels(xp: ArrayModule, images: Array, pixels: int, points: int) -> Array:
    """(images · points,): the first of an image's ``pixels``, for so many points of each."""
    spread_out = images.reshape(-1, 1) * pixels + xp.zeros(points, np.int64)
    return spread_out.reshape(-1)


def pixel_rows(xp: ArrayModule, x: Array) -> Array:
    """An array (N, C, H, W) as (N·H·W, C)."""
    return xp.moveaxis(x, 1, 3).reshape(-1, x.shape[1])


def fetch(rows: Array, places: Array, weights: Array) -> Array:
    """y[p] = Σₜ weights[t, p] · rows[places[t, p]], for T taps: (T, P) and (R, C) to (P, C)."""
    total = rows[places[0]] * weights[0][:, None]
    for at, weight in zip(places[1:], weights[1:], strict=True):
        total += rows[at] * weight[:, None]
    return total


def spread(xp: ArrayModule, values: Array, places: Array, weights: Array, count: int) -> Array:
    """The transpose of ``fetch``: rows[places[t, p]] += weights[t, p] · values[p], for all taps.

    ``weights`` may have an axis for the channels too, (T, P, C).
    """
    weights = weights.reshape(*weights.shape, 1) if weights.ndim == 2 else weights
    return add_rows(xp, places, weights * values, count)


def add_rows(xp: ArrayModule, places: Array, values: Array, count: int) -> Array:
    """(count, C) with rows[places[…]] += values[…, :], in float64."""
    channels = values.shape[-1]
    at = places.reshape(-1, 1) * channels + xp.arange(channels)
    sums = xp.bincount(at.reshape(-1), values.reshape(-1), minlength=count * channels)
    return sums.reshape(count, channels)


def to_images(xp: ArrayModule, rows: Array, shape: tuple[int, ...]) -> Array:
    """Rows (N·H·W, C) as (N, C, H, W) of this ``shape``."""
    n, c, h, w = shape
    return xp.moveaxis(rows.reshape(n, h, w, c), 3, 1)


# -- grids -----------------------------------------------------------------------------------------


def resized(xp: ArrayModule, x: Array, down: Array, across: Array) -> Array:
    """y = down · x · acrossᵀ for every plane of x."""
    return xp.matmul(xp.matmul(down, x), across.T)


def align_corners(size: int, wanted: int, dtype: DType) -> Array:
    """The matrix of a linear interpolation whose outermost points are the outermost pixels.

    Positions are computed in float32, whatever the numbers are.
    """
    ratio = np.float32(size - 1) / np.float32(wanted - 1) if wanted > 1 else np.float32(0)
    taps = between(np, ratio * np.arange(wanted, dtype=np.float32), size, clamp=True)
    return matrix(taps, size).astype(dtype)


def matrix(taps: Between, size: int) -> Array:
    """What ``taps`` fetch, as a matrix (P, size); in plain memory."""
    out = np.zeros((taps.places.shape[1], size), np.float64)
    for places, weights in zip(taps.places, taps.weights, strict=True):
        np.add.at(out, (np.arange(len(out)), places), weights)
    return out
