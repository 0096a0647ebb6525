"""Images to floats in one pass: crop, mirror, mean, scale, and planes of what was interleaved."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.engines.onednn.core.jit import FLOAT_BYTES, Code, Kernel, Operand, address

WIDTH = 16  # pixels at a time
APART = (1, 3, 4)  # bytes from one pixel of a channel to the next: planes, interleaved, with a gap


class Arguments(NamedTuple):
    """Of a kernel, in its order; strides in bytes."""

    source: Operand  # the first pixel of the crop
    source_channel: Operand
    source_row: Operand
    mean: Operand  # that of the same pixel, or of the first channel
    mean_channel: Operand
    mean_row: Operand
    scale: Operand
    out: Operand
    channels: Operand
    rows: Operand
    columns: Operand


def transform(
    image: Array, mean: Array | None, scale: float, place: tuple[int, int, int], out: Array
) -> bool:
    """out = (x − mean) · scale of a crop of an image; False: it is for NumPy to do.

    Args:
        image: (channels, height, width) of bytes, in almost any order in memory.
        mean: (channels, height, width), or (values, 1, 1).
        scale: a factor.
        place: whether it is mirrored, and where the crop begins in what it is then.
        out: (channels, rows, columns) of floats.
    """
    mirrored, top, left = place
    channels, rows, columns = out.shape
    apart = image.strides[2]
    fits = image.dtype == np.uint8 and out.dtype == np.float32 and out.flags.c_contiguous
    if not fits or columns < WIDTH or apart not in APART:
        return False
    begin = image.shape[2] - left - columns if mirrored else left
    by_channel, by_row, _ = image.strides
    first = address(image) + top * by_row + begin * apart
    which, means = "", (0, 0, 0)
    if mean is not None:
        which = "image" if mean.shape[1:] == image.shape[1:] else "values"
        offset = top * mean.strides[1] + begin * FLOAT_BYTES if which == "image" else 0
        between = mean.strides[0] if len(mean) > 1 else 0
        means = address(mean) + offset, between, mean.strides[1]
    run = _kernel(apart, bool(mirrored), which, scale != 1)
    factor = address(_factor(scale)) if scale != 1 else 0
    run(first, by_channel, by_row, *means, factor, address(out), channels, rows, columns)
    return True


@cache
def _factor(scale: float) -> Array:
    return np.array([scale], np.float32)


@cache
def _kernel(apart: int, mirrored: bool, mean: str, scaled: bool) -> Kernel:
    """For one kind of image; ``mean`` is "", "values" or "image"."""
    code = Code(len(Arguments._fields), WIDTH)
    given = Arguments(*code.arguments)
    factor = code.spread(given.scale, 0) if scaled else None
    row_bytes = code.mul(given.columns, FLOAT_BYTES)
    with code.loop(0, given.channels) as channel:
        channel_mean = code.add(given.mean, code.mul(channel, given.mean_channel))
        with code.loop(0, given.rows) as row:
            line = code.add(code.mul(channel, given.rows), row)
            ends = Line(
                code.add(
                    given.source,
                    code.mul(channel, given.source_channel),
                    code.mul(row, given.source_row),
                ),
                code.add(channel_mean, code.mul(row, given.mean_row)),
                code.add(given.out, code.mul(line, row_bytes)),
            )

            def some(x: Operand, ends: Line = ends) -> None:
                at = code.sub(code.sub(given.columns, WIDTH), x) if mirrored else x
                value = _pixels(code, code.add(ends.source, code.mul(at, apart)), apart, mirrored)
                if mean == "values":
                    value = code.build.fsub(value, code.spread(channel_mean, 0))
                elif mean:
                    own = code.load(code.add(ends.mean, code.mul(at, FLOAT_BYTES)))
                    value = code.build.fsub(
                        value, code.chosen(own, range(WIDTH)[::-1]) if mirrored else own
                    )
                if scaled:
                    value = code.build.fmul(value, factor)
                code.store(value, code.add(ends.out, code.mul(x, FLOAT_BYTES)))

            with code.loop(0, code.sub(given.columns, WIDTH - 1), WIDTH) as x:
                some(x)
            some(code.sub(given.columns, WIDTH))  # the last ones, some of them once more
    return code.finish(threads=1)


class Line(NamedTuple):
    """Where a row of the crop lies: its pixels, their means, and its floats."""

    source: Operand
    mean: Operand
    out: Operand


def _pixels(code: Code, place: Operand, apart: int, mirrored: bool) -> Operand:
    """Some pixels of a channel as floats."""
    count = apart * (WIDTH - 1) + 1  # to the last pixel's byte and not beyond
    order = range(0, count, apart)
    taken = code.chosen(code.bytes_at(place, count), order[::-1] if mirrored else order)
    return code.build.uitofp(taken, code.vector)
