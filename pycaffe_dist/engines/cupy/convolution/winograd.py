"""Winograd's filtering (engines/winograd.py): 3 × 3 kernels with 4/9 or 1/4 of the products."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pycaffe_dist.aliases import DeviceArray
from pycaffe_dist.engines import winograd
from pycaffe_dist.engines.cupy.convolution.case import Case, Direction
from pycaffe_dist.engines.cupy.convolution.way import Way
from pycaffe_dist.engines.cupy.gemm import rounds
from pycaffe_dist.engines.cupy.paper import Launch
from pycaffe_dist.layers.windows import Sizes, pieces

if TYPE_CHECKING:
    from pycaffe_dist.engines.cupy.engine import CupyEngine

WORKSPACE = 256 << 20  # bytes of planes that are made at a time
LEAST = 8  # channels of a group, on both sides: below, the products are too small


class Winograd(Way):
    """Images are cut into tiles and these into planes, between which are products of matrices.

    Planes of images are (places, C, tiles), those of kernels (places, M, C/group).
    """

    transforms: winograd.Transforms

    def __init__(self, engine: CupyEngine, case: Case) -> None:
        super().__init__(engine, case)
        self._product = engine.at("fp32").multiply  # in full, whatever was asked for

    @classmethod
    def can(cls, case: Case) -> bool:
        w, sides = case.windows, (case.channels, case.outputs)
        plain = (w.kernel, w.stride, w.dilation) == ((3, 3), (1, 1), (1, 1))
        # Transforms make roundings larger; CuPy's variable has all products rounded.
        in_full = case.dtype != np.float32 or not rounds()
        return plain and min(sides) // case.group >= LEAST and in_full

    @classmethod
    def work(cls, case: Case) -> list[Launch]:
        image, weights, out = case.nbytes
        f, size, g = cls.transforms, case.dtype.itemsize, case.group
        tiles = case.images * prod(_tiles(case, f.step)) * f.places
        images, outs = tiles * case.channels * size, tiles * case.outputs * size
        kernels = f.places * weights // 9
        flops = 2 * tiles * case.outputs * case.channels // g
        product = Launch("GEMM", (images + outs + kernels) / g, flops / g)
        return [
            Launch("image", image + images, 0),
            Launch("kernels", weights + kernels, 0),
            *[product] * g,
            Launch("out", outs + out, 0),
        ]

    def run(
        self,
        image: DeviceArray,
        weights: DeviceArray,
        out: DeviceArray,
        bias: DeviceArray = None,
        rectify: bool = False,
    ) -> None:
        pad, direction = self.case.windows.pad, self.case.direction
        if direction is Direction.FILTER:
            self._weigh(image, weights, out)
        elif direction is Direction.FORWARD:
            self._filter(image, self._kernels(weights), out, pad, (bias, rectify))
        else:  # turned round, with all windows that see a pixel
            kernels = self._kernels(weights, turned=1).swapaxes(2, 3)
            self._filter(out, kernels, image, (2 - pad[0], 2 - pad[1]), (bias, rectify))

    def _filter(
        self,
        x: DeviceArray,
        kernels: DeviceArray,
        y: DeviceArray,
        pad: Sizes,
        behind: tuple[DeviceArray, bool],
    ) -> None:
        """Fill y; ``behind``: the bias, if there is one, and whether to rectify."""
        for images in pieces(len(x), self._together()):
            tiles = self._cut("image", x[images], pad)
            made = self._planes("made", y[images].shape)
            self._multiply(kernels, self._by_group(tiles), self._by_group(made))
            self._put(made, y[images], *behind)

    def _weigh(self, image: DeviceArray, total: DeviceArray, out: DeviceArray) -> None:
        sums = self._kernel_planes(total.shape)
        for images in pieces(len(out), self._together()):
            tiles = self._cut("image", image[images], self.case.windows.pad)
            made = self._cut("gradient", out[images], (0, 0))
            left, right = self._by_group(made), self._by_group(tiles).swapaxes(2, 3)
            self._multiply(left, right, sums, add=images.start > 0)
        self._launch("kernel_gradient", total.size // 9, sums, total)

    def _multiply(
        self, left: DeviceArray, right: DeviceArray, out: DeviceArray, add: bool = False
    ) -> None:
        """A product for each place of each group, (places, group, rows, columns)."""
        for g in range(self.case.group):
            self._product(left[:, g], right[:, g], out[:, g], add)

    # -- kernels of winograd.cu --------------------------------------------------------------

    def _kernels(self, weights: DeviceArray, turned: int = 0) -> Any:
        planes = self._kernel_planes(weights.shape)
        self._launch("kernels", weights.size // 9, turned, weights, planes)
        return planes

    def _cut(self, name: str, x: DeviceArray, pad: Sizes) -> Any:
        planes, (_, channels, *sizes) = self._planes(name, x.shape), x.shape
        numbers = channels, *sizes, *(-p for p in pad), *self._tiles
        self._launch(name, planes[0].size, *numbers, x, planes)
        return planes

    def _put(self, planes: DeviceArray, y: DeviceArray, bias: DeviceArray, rectify: bool) -> None:
        given = (0, planes) if bias is None else (1, bias)
        numbers = *y.shape[1:], *self._tiles, given[0], rectify
        self._launch("out", planes[0].size, *numbers, planes, given[1], y)

    def _launch(self, name: str, n: int, *args: Any) -> None:
        self.launch(f"winograd_{name}_{self.transforms.step}", n, *args)

    # -- planes ------------------------------------------------------------------------------

    @property
    def _tiles(self) -> Sizes:
        return _tiles(self.case, self.transforms.step)

    def _together(self) -> int:
        """Images whose planes fit the work space."""
        values = (self.case.channels + self.case.outputs) * prod(self._tiles)
        nbytes = self.transforms.places * values * self.case.dtype.itemsize
        return max(1, WORKSPACE // nbytes)

    def _planes(self, name: str, shape: Sizes) -> Any:
        """For the tiles of images."""
        images, channels = shape[:2]
        sizes = channels, images * prod(self._tiles)
        return self.spare(f"winograd {name}", (self.transforms.places, *sizes))

    def _kernel_planes(self, shape: Sizes) -> Any:
        """For kernels (M, C/group, 3, 3), by group."""
        group = self.case.group
        sizes = group, shape[0] // group, shape[1]
        return self.spare("winograd kernels", (self.transforms.places, *sizes))

    def _by_group(self, planes: DeviceArray) -> Any:
        places, channels, tiles = planes.shape
        return planes.reshape(places, self.case.group, channels // self.case.group, tiles)


def _tiles(case: Case, step: int) -> Sizes:
    """Rows and columns of tiles that cover what is made, or what its gradient comes from."""
    w = case.windows
    covered = w.image if case.direction is Direction.DATA else w.out
    return tuple(-(-size // step) for size in covered)


class Winograd2(Winograd):
    name = "winograd 2x2"
    transforms = winograd.F2


class Winograd4(Winograd):
    name = "winograd 4x4"
    transforms = winograd.F4
