"""Kernels: compiled once, launched by name; and what the layers that launch them have in common."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import DTypeLike

from pycaffe_dist.aliases import ArrayModule, DeviceArray, DType, Facts
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.engines.base import Forms, Loss
from pycaffe_dist.engines.chains import Chainable
from pycaffe_dist.engines.cupy import kernels
from pycaffe_dist.layer import Layer
from pycaffe_dist.memory import Value
from pycaffe_dist.rng import draw

if TYPE_CHECKING:
    from pycaffe_dist.engines.cupy.engine import CupyEngine

accelerates = Forms("pycaffe_dist.engines.cupy.layers")
BLOCKS = 512  # that a sum is spread over, if there is enough to add: they fill any device
LEAST = 1024  # values that are worth a block
MOST_SPLITS = 64
MOST_PREPARED = 10_000  # launches that are kept


class Launcher:
    """The kernels of one device.  CuPy keeps what it compiled on disk, too.

    A step makes the same launches as the one before it, with other arrays perhaps: the function,
    its grid and its numbers, converted to C's types, are kept.
    """

    def __init__(self, xp: ArrayModule, enter: Callable[[], object]) -> None:
        self.xp, self.enter = xp, enter
        self._modules: dict[tuple[str, str], Any] = {}
        self._prepared: dict[tuple[Any, ...], tuple[Any, tuple[int], tuple[int], list[Any]]] = {}

    def __call__(self, name: str, dtype: DType, n: int, *args: Any) -> None:
        """Launch a kernel for n elements, or rows, of number type ``dtype``."""
        if n == 0:
            return
        self.enter()
        pointers = kernels.KERNELS[name].pointers
        numbers = [None if p else a for a, p in zip(args, pointers, strict=False)]
        key = (name, dtype.char, n, len(args), *numbers)
        prepared = self._prepared.get(key)
        if prepared is None:
            prepared = self._prepare(key, name, dtype, (n, *args))
        function, grid, block, numbers = prepared
        passed = numbers[:1]
        passed += [a if p else x for a, p, x in zip(args, pointers, numbers[1:], strict=True)]
        function(grid, block, passed)

    def function(self, name: str, dtype: DType) -> Any:
        """A kernel, compiled."""
        return self._module(kernels.KERNELS[name].file, dtype).get_function(name)

    def _prepare(self, key: tuple[Any, ...], name: str, dtype: DType, args: tuple[Any, ...]) -> Any:
        kernel = kernels.KERNELS[name]
        function = self.function(name, dtype)
        blocks, threads = kernel.launch_size(args[0])
        numbers = [
            None if p.pointer else x
            for p, x in zip(kernel.parameters, kernel.arguments(args, dtype), strict=True)
        ]
        if len(self._prepared) >= MOST_PREPARED:  # of seeds, or of rates that change
            self._prepared.clear()
        self._prepared[key] = function, (blocks,), (threads,), numbers
        return self._prepared[key]

    def _module(self, file: str, dtype: DType) -> Any:
        key = (file, dtype.char)
        if key not in self._modules:
            code, options = kernels.source(file), kernels.options(dtype)
            self._modules[key] = self.xp.RawModule(code=code, options=options)
        return self._modules[key]


class OnDevice(Layer):
    """A layer with kernels; mixed in before the generic layer that it is faster than."""

    @property
    def engine(self) -> CupyEngine:
        return self.context.engine  # type: ignore[return-value]

    def run_forward(self, bottom: Views, top: Views) -> Loss:
        for view in top:
            self.overwrite(view.blob.data_value)
        return super().run_forward(bottom, top)

    def run_backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        for view, wanted in zip(bottom, propagate_down, strict=True):
            if wanted:
                self.overwrite(view.blob.diff_value)
        super().run_backward(top, propagate_down, bottom)

    def overwrite(self, value: Value) -> None:
        """Somebody will write all of it: where memory is used in turn, it is not cleared before."""
        if value.is_zero and value.pool is not None:
            value.replace(self.context.home)

    def launch(self, name: str, n: int, *args: Any) -> None:
        self.engine.launch(name, self.dtype, n, *args)

    def computed_by(self) -> tuple[str, str]:
        """What computes its forward and backward passes, for people."""
        return self.engine.name, self.engine.name

    def kept(self, name: str, shape: Sequence[int], dtype: DTypeLike | None = None) -> Any:
        """An array of the layer's own, which keeps its values between forward and backward."""
        rooms: Facts = self.__dict__.setdefault("_kept", {})
        count = math.prod(shape)
        room = rooms.get(name)
        if room is None or room.size < count:
            room = rooms[name] = self.xp.zeros(max(1, count), dtype or self.dtype)
        return room[:count].reshape(shape)

    def spare(self, name: str, shape: Sequence[int]) -> Any:
        """Work space until the layer returns, which all layers share."""
        return self.engine.spare(name, shape, self.dtype)

    def sums(
        self,
        kind: str,
        shape: tuple[int, int, int],
        *arrays: DeviceArray,
        out: DeviceArray,
        scale: float = 1,
        keep: float = 0,
    ) -> None:
        """out ← keep·out + scale·Σ over (outer, ·, inner), for each channel."""
        outer, channels, inner = shape
        splits = split(outer * inner, channels)
        partial = self.spare("partial", (channels * splits,))
        settings = splits, outer, channels, inner, scale, keep
        sums = partial, self.engine.tickets(channels), out
        self.launch(kind, channels * splits, *settings, *arrays, *sums)


class Multiplying(Chainable, OnDevice):
    """A layer made of products, which can compute the ReLU behind it as it writes its top.

    Attributes:
        rectifies: whether it does so in the pass under way.
    """

    rectifies = False

    def run_forward(self, bottom: Views, top: Views) -> Loss:
        with self.engine.multiply.of(self._kept_values(bottom)):
            return super().run_forward(bottom, top)

    def run_backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        with self.engine.multiply.of(self._kept_values(bottom, top)):
            super().run_backward(top, propagate_down, bottom)

    def _kept_values(self, bottom: Views, top: Views = ()) -> list[Value]:
        """Factors that may be kept in 16 bits: those which nobody changes without a word.

        Inner blobs of a net that keeps them all would need half as much memory again.
        """
        values = [x.blob.data_value for x in bottom] + [y.blob.diff_value for y in top]
        kept = [value for value in values if value.pool is not None]
        if not self.engine.home.addresses_given:
            kept += [param.blob.data_value for param in self.params[:1]]
        return kept

    def forward_rectified(self, bottom: Views, top: Views) -> None:
        self.rectifies = True
        try:
            self.forward_alone(bottom, top)
        finally:
            self.rectifies = False


def split(values: int, channels: int) -> int:
    """How many blocks share the sum of a channel."""
    wanted = -(-BLOCKS // max(1, channels))
    return max(1, min(MOST_SPLITS, wanted, values // LEAST))


def seed() -> int:
    """64 random bits of the process's generator, with which a kernel draws its own numbers."""
    return draw() << 32 | draw()
