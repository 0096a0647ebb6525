"""DepthToSpace and SpaceToDepth."""

from __future__ import annotations

from collections.abc import Sequence

from pycaffe_dist.aliases import Array, Shape
from pycaffe_dist.layer import register
from pycaffe_dist.layers.rearranged import Rearranged
from pycaffe_dist.proto.caffe_pb2 import DepthToSpaceParameter, SpaceToDepthParameter


class Blocks(Rearranged):
    """Squares of block × block pixels, and the channels that hold a value for each of their pixels.

    ``data_format``: NHWC, or NCHW (also DCR), where a pixel's channels lie together; CRD is NCHW
    with the pixels of a channel together.
    """

    FORMATS = ("NHWC", "NCHW", "DCR", "CRD")

    def read(
        self, param: DepthToSpaceParameter | SpaceToDepthParameter, x: Shape
    ) -> tuple[int, int, int, int]:
        """N, C, H, W of the bottom."""
        self.block, self.format = param.block_size, param.data_format
        self.check(len(x) == 4, f"needs a bottom of 4 axes, found {x}")
        self.check(self.block > 0, f"block_size must be above 0, found {self.block}")
        self.check(
            self.format in self.FORMATS,
            f"data_format must be one of {', '.join(self.FORMATS)}, found {self.format!r}",
        )
        self.last = self.format == "NHWC"
        return (x[0], x[3], x[1], x[2]) if self.last else (x[0], x[1], x[2], x[3])

    def ordered(self, n: int, c: int, h: int, w: int) -> Shape:
        return (n, h, w, c) if self.last else (n, c, h, w)


@register("DepthToSpace")
class DepthToSpace(Blocks):
    """(N, b²C, H, W) to (N, C, bH, bW): the b² values of a pixel become a square of pixels."""

    def shape(self, x: Shape) -> Sequence[int]:
        n, c, h, w = self.read(self.layer_param.depth_to_space_param, x)
        b = self.block
        self.check(c % (b * b) == 0, f"{c} channels are no multiple of block_size {b} squared")
        return self.ordered(n, c // (b * b), h * b, w * b)

    def view(self, x: Array) -> Array:
        b = self.block
        if self.last:
            n, h, w, c = x.shape
            return x.reshape(n, h, w, b, b, c // (b * b)).transpose(0, 1, 3, 2, 4, 5)
        n, c, h, w = x.shape
        if self.format == "CRD":
            return x.reshape(n, c // (b * b), b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
        return x.reshape(n, b, b, c // (b * b), h, w).transpose(0, 3, 4, 1, 5, 2)


@register("SpaceToDepth")
class SpaceToDepth(Blocks):
    """(N, C, bH, bW) to (N, b²C, H, W): a square of pixels becomes the b² values of one."""

    def shape(self, x: Shape) -> Sequence[int]:
        n, c, h, w = self.read(self.layer_param.space_to_depth_param, x)
        b = self.block
        self.check(h % b == w % b == 0, f"{h} × {w} pixels cannot be cut into squares of {b}")
        return self.ordered(n, c * b * b, h // b, w // b)

    def view(self, x: Array) -> Array:
        b = self.block
        if self.last:
            n, h, w, c = x.shape
            return x.reshape(n, h // b, b, w // b, b, c).transpose(0, 1, 3, 2, 4, 5)
        n, c, h, w = x.shape
        tiles = x.reshape(n, c, h // b, b, w // b, b)
        return tiles.transpose(
            *((0, 1, 3, 5, 2, 4) if self.format == "CRD" else (0, 3, 5, 1, 2, 4))
        )
