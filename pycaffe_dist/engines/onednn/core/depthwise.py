"""Depthwise convolution: each channel with a kernel of its own, in one compiled pass.

y[n, c, i, j] = Σ w[c, p, q] · x[n, c, s·i + p − pad, s·j + q − pad] + b[c]

Memory sets its pace, so each value of x is loaded once for a few neighbouring outputs of a row,
whose sums stay in registers; vectors run over channels, which lie side by side.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.engines.onednn.core.arithmetic import SUM, PostOps, relu_slope
from pycaffe_dist.engines.onednn.core.jit import (
    FLOAT_BYTES,
    Code,
    Kernel,
    Operand,
    address,
    vector_width,
)
from pycaffe_dist.engines.onednn.core.library import OneDnnError
from pycaffe_dist.engines.onednn.core.primitives import Dims, Layout, plain, strided
from pycaffe_dist.engines.onednn.core.tiles import block_of
from pycaffe_dist.layers.windows import Windows

Line = tuple[Operand, Operand]  # an address, and whether it lies inside of the image
NAME = "depthwise"
RUNS = range(3, 8)  # outputs of a row that are computed together
LARGEST = 5  # a kernel's side
NARROWEST = 4  # floats of a vector


class DepthwiseArguments(NamedTuple):
    """What the kernel is given, in this order, as 64-bit integers."""

    image: Operand  # addresses
    weights: Operand
    bias: Operand
    out: Operand
    zeros: Operand  # of a vector of zeros, which stands for what lies outside of the image
    rows: Operand  # of the output, in all images and blocks of channels
    out_height: Operand
    inner_begin: Operand  # the outputs of a row whose windows lie inside of it
    inner_end: Operand
    out_width: Operand
    height: Operand
    width: Operand
    pad_top: Operand
    pad_left: Operand
    blocks: Operand  # of channels, in an image
    block: Operand  # channels that lie together
    tap_bytes: Operand  # from the weights of a place in the kernel to the next


class Shape(NamedTuple):
    """What is compiled into a kernel."""

    kernel: Dims
    stride: Dims
    run: int  # outputs that are computed together
    slope: float | None  # of the ReLU behind it
    adds: bool  # to what the output holds
    width: int  # of vectors


class _Row:
    """The code for one row of the output."""

    def __init__(self, code: Code, shape: Shape, row: Operand) -> None:
        self.code, self.shape, self.given = code, shape, DepthwiseArguments(*code.arguments)
        given = self.given
        self.pixel = code.mul(given.block, FLOAT_BYTES)  # bytes from one to the next
        self.line = code.mul(given.width, self.pixel)
        at, y = code.divided(row, given.out_height)
        _, block = code.divided(at, given.blocks)
        self.channel = code.mul(block, given.block)
        image = code.add(given.image, code.mul(at, given.height, self.line))
        top = code.sub(code.mul(y, shape.stride[0]), given.pad_top)
        self.lines = [self._line(image, code.add(top, p)) for p in range(shape.kernel[0])]
        self.out = code.add(given.out, code.mul(row, given.out_width, self.pixel))

    def _line(self, image: Operand, y: Operand) -> Line:
        """A row of the image and whether it lies inside."""
        code = self.code
        inside = code.all((y, ">=", 0), (y, "<", self.given.height))
        return code.add(image, code.mul(y, self.line)), inside

    def outputs(self, x: Operand, count: int, inner: bool) -> None:
        """Compute ``count`` outputs from x on; ``inner``: their windows do not leave the row."""
        code, (rows, columns), step = self.code, self.shape.kernel, self.shape.stride[1]
        left = code.sub(code.mul(x, step), self.given.pad_left)
        span = (count - 1) * step + columns
        places = [
            [self._place(line, code.add(left, q), inner) for q in range(span)]
            for line in self.lines
        ]
        with code.loop(0, self.given.block, self.shape.width) as lane:
            offset = code.mul(lane, FLOAT_BYTES)
            own = code.mul(code.add(self.channel, lane), FLOAT_BYTES)
            sums = [code.load(code.add(self.given.bias, own))] * count
            taps = code.add(self.given.weights, own)
            for p in range(rows):
                row = [self._load(*place, offset) for place in places[p]]
                for q in range(columns):
                    tap = code.mul(self.given.tap_bytes, p * columns + q)
                    weights = code.load(code.add(taps, tap))
                    sums = [code.fma(weights, row[i * step + q], s) for i, s in enumerate(sums)]
            for i, total in enumerate(sums):
                to = code.add(self.out, code.mul(code.add(x, i), self.pixel), offset)
                self._finish(total, to)

    def _place(self, line: Line, x: Operand, inner: bool) -> Line:
        """A pixel's address and whether it lies inside of the image."""
        code, (start, inside) = self.code, line
        if not inner:
            within = code.all((x, ">=", 0), (x, "<", self.given.width))
            inside = code.build.and_(inside, within)
        return code.add(start, code.mul(x, self.pixel)), inside

    def _load(self, place: Operand, inside: Operand, offset: Operand) -> Operand:
        code = self.code
        return code.load(code.choose(inside, code.add(place, offset), self.given.zeros))

    def _finish(self, total: Operand, to: Operand) -> None:
        code, slope = self.code, self.shape.slope
        if self.shape.adds:
            total = code.build.fadd(total, code.load(to))
        code.store(total if slope is None else code.leaky(total, slope), to)


@cache
def convolving(shape: Shape) -> Kernel:
    """Each thread takes some rows; within a row, runs of outputs, and the edges one by one."""
    code = Code(len(DepthwiseArguments._fields), shape.width)
    given = DepthwiseArguments(*code.arguments)
    begin, end = code.share(given.rows)
    runs, _ = code.divided(code.sub(given.inner_end, given.inner_begin), shape.run)
    inner_end = code.add(given.inner_begin, code.mul(runs, shape.run))
    with code.loop(begin, end) as row:
        work = _Row(code, shape, row)
        with code.loop(given.inner_begin, inner_end, shape.run) as x:
            work.outputs(x, shape.run, inner=True)
        for edge in ((0, given.inner_begin), (inner_end, given.out_width)):
            with code.loop(*edge) as x:
                work.outputs(x, 1, inner=False)
    return code.finish()


class Depthwise:
    """The forward product of a depthwise convolution, as products are: image, weights, bias, out.

    Args:
        image, out: layouts whose channels lie side by side, all or in blocks.
        w: the windows.
    """

    name = NAME

    def __init__(
        self, image: Layout, out: Layout, w: Windows, bias: bool, post_ops: PostOps
    ) -> None:
        n, channels, *size = image.dims
        block, width = block_of(image), vector_width()
        if block_of(out) != block:
            raise OneDnnError("image and output are blocked in different ways")
        if max(w.kernel) > LARGEST:
            raise OneDnnError("the kernel is too large")
        while block % width and width > NARROWEST:
            width //= 2
        if block % width:
            raise OneDnnError("channels do not fill vectors")
        rows, columns = w.kernel
        whole = channels * rows * columns
        weights = strided(
            (channels, 1, 1, *w.kernel), (1, whole, whole, columns * channels, channels)
        )
        self.layouts: list[Layout] = [image, weights, *[plain((channels,))] * bias, out]
        self._no_bias = np.zeros(0 if bias else channels, np.float32)
        self._zeros = np.zeros(width, np.float32)
        inner = _inner(w)
        run = max(RUNS, key=lambda count: (-(len(inner) % count), count))
        adds, slope = SUM in post_ops, relu_slope(post_ops)
        self._kernel = convolving(Shape(w.kernel, w.stride, run, slope, adds, width))
        blocks = channels // block
        out_height, out_width = w.out
        edges = inner.start, inner.stop, out_width
        constants = n * blocks * out_height, out_height, *edges, *size, *w.pad, blocks, block
        self._constants = (*constants, FLOAT_BYTES * channels)

    def call(self, image: Array, weights: Array, *rest: Array) -> None:
        *bias, out = rest
        rooms = image, weights, bias[0] if bias else self._no_bias, out, self._zeros
        self._kernel(*DepthwiseArguments(*map(address, rooms), *self._constants))


def _inner(w: Windows) -> range:
    """The windows of a row that do not reach beyond it."""
    kernel, stride, pad, size, out = (x[1] for x in (w.kernel, w.stride, w.pad, w.image, w.out))
    begin = min(-(-pad // stride), out)
    return range(begin, max(begin, min(out, (size + pad - kernel) // stride + 1)))
