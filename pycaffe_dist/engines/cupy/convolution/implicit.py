"""One product of matrices, whose right factor is looked up in the image: no columns are made."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pycaffe_dist.aliases import DeviceArray
from pycaffe_dist.engines.cupy.convolution.case import Case, Direction
from pycaffe_dist.engines.cupy.convolution.geometry import Product, gathered, spread
from pycaffe_dist.engines.cupy.convolution.way import Way
from pycaffe_dist.engines.cupy.launch import split
from pycaffe_dist.engines.cupy.paper import REACHED_BY_OURS, Launch

if TYPE_CHECKING:
    from pycaffe_dist.engines.cupy.engine import CupyEngine

BLOCKS = 216  # that an A100 runs at a time: fewer large tiles leave some of it idle


class Tiling(NamedTuple):
    """The kernel for a size of tiles, and rows and columns of one."""

    name: str
    side: int

    def tiles(self, product: Product, columns: int) -> int:
        down, across = (-(-n // self.side) for n in (product.rows, columns))
        return down * across * product.geometry.groups


SMALL, LARGE = Tiling("small", 64), Tiling("large", 128)


class Plan(NamedTuple):
    """How one of the products of a case is made."""

    product: Product
    tiling: Tiling
    splits: int  # of sums over windows

    @staticmethod
    def of(case: Case, product: Product) -> Plan:
        windows = product.columns(case.images)
        weighs = case.direction is Direction.FILTER
        columns = product.depth if weighs else windows
        enough = product.rows > SMALL.side and LARGE.tiles(product, columns) >= BLOCKS
        tiling = LARGE if enough and case.dtype == np.float32 else SMALL
        splits = split(windows, tiling.tiles(product, columns)) if weighs else 1
        return Plan(product, tiling, splits)


@lru_cache(maxsize=64)
def plans(case: Case) -> tuple[Plan, ...]:
    sizes = case.windows, case.channels, case.outputs, case.group
    products = spread(*sizes) if case.direction is Direction.DATA else [gathered(*sizes)]
    return tuple(Plan.of(case, product) for product in products)


class Implicit(Way):
    name = "implicit"

    def __init__(self, engine: CupyEngine, case: Case) -> None:
        super().__init__(engine, case)
        self.plans = [(plan, engine.xp.asarray(plan.product.table())) for plan in plans(case)]

    @classmethod
    def can(cls, case: Case) -> bool:
        """Where each window is a pixel, the image is its columns.

        Factors are never rounded: what asks for less gets more.
        """
        return len(case.windows.image) <= 2 and not case.windows.identity

    @classmethod
    def work(cls, case: Case) -> list[Launch]:
        arrays, (_, weights, _) = sum(case.nbytes), case.nbytes
        found = []
        for product, tiling, splits in plans(case):
            columns, depth = product.columns(case.images), product.depth
            if case.direction is Direction.FILTER:
                columns, depth = depth, columns
                found.append(Launch("add_parts", (splits + 2) * weights, 0))
            flops = 2 * tiling.tiles(product, columns) * tiling.side**2 * depth
            found.append(Launch("product", arrays / len(plans(case)), flops, REACHED_BY_OURS))
        return found

    def run(
        self,
        image: DeviceArray,
        weights: DeviceArray,
        out: DeviceArray,
        bias: DeviceArray = None,
        rectify: bool = False,
    ) -> None:
        if self.case.direction is Direction.FILTER:
            self._weigh(image, weights, out)
            return
        source, target = (image, out) if self.case.direction is Direction.FORWARD else (out, image)
        given, b = (0, weights) if bias is None else (1, bias)
        for (product, tiling, _), table in self.plans:
            columns, packed = product.columns(len(image)), int(product.packed(self.case.dtype))
            sizes = product.rows, columns, product.depth, packed, given, rectify
            arrays = table, weights, source, b, target
            self.launch(f"convolve_{tiling.name}", tiling.tiles(product, columns), *sizes, *arrays)

    def _weigh(self, image: DeviceArray, total: DeviceArray, out: DeviceArray) -> None:
        (((product, tiling, splits), table),) = self.plans
        partial = self.spare("partial", (splits, *total.shape))
        sizes = splits, product.rows, product.columns(len(image)), product.depth
        tiles = tiling.tiles(product, product.depth) * splits
        self.launch(f"weigh_{tiling.name}", tiles, *sizes, table, out, image, partial)
        self.launch("add_parts", total.size, splits, partial, total)
