"""Running one kernel on plain arrays, watched: for tests of the CUDA sources."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from pycaffe_dist.aliases import Array, ArrayModule, DType
from pycaffe_dist.engines.cupy import kernels
from pycaffe_dist.engines.cupy.kernels import KERNELS, Argument, Kernel
from pycaffe_dist.layers.loss import Loss
from pycaffe_dist.testing import cupy_standin
from pycaffe_dist.testing.emulation import Way, running
from pycaffe_dist.testing.layers import LayerCase, LayerRun

FEW_THREADS = 32  # of a checked block: small arrays have several blocks, and these several turns
GUARD = 64  # values before and behind every array, which no kernel may touch
MARK = 0x5A  # a byte of them

Check = TypeVar("Check", bound=Callable[..., None])


launched: Counter[str] = Counter()  # by kernel, how often a Runner ran it


class Runner:
    """Kernels for one number type: ``run("relu_forward", n, slope, x, y)`` with plain arrays.

    A table of arrays is given as a list of them.

    Args:
        dtype: of ``Real``.
        xp: CuPy, to run them on a GPU; by default the stand-in, which runs them on the CPU:
            backwards, in float32 with every access to memory checked, and forwards.
        source: the text of a kernel's file, if not that of the file itself.
    """

    def __init__(
        self,
        dtype: DTypeLike,
        xp: ArrayModule = cupy_standin,
        source: Callable[[Kernel], str] = lambda kernel: kernels.source(kernel.file),
    ) -> None:
        self.dtype, self.xp, self.source = np.dtype(dtype), xp, source
        backwards = Way(backwards=True, checked=self.dtype == np.float32)
        self.ways = [backwards, Way()] if xp is cupy_standin else [Way()]

    def __call__(self, name: str, n: int, *args: Any) -> None:
        """Run a kernel; the same array given twice is one array for it, too.

        Raises:
            AssertionError: it wrote outside of its arrays, or to one that it declares const.
        """
        kernel = KERNELS[name]
        pairs = list(zip(kernel.parameters[1:], args, strict=True))
        written = {id(x) for p, value in pairs if not p.constant for x in _arrays(p, value)}
        results = [self._launch(kernel, n, pairs, way) for way in self.ways]
        launched[name] += 1
        for argument, value in pairs:
            for array in _arrays(argument, value):
                what = f"{name}: {argument.name}"
                free = id(array) in written
                made = [self._check(what, rooms[id(array)], array, free) for rooms in results]
                for way, other in zip(self.ways[1:], made[1:], strict=True):
                    self.close(other, made[0], f"{what} depends on the order of threads: {way}")
                array[...] = made[0]

    def _launch(
        self, kernel: Kernel, n: int, pairs: list[tuple[Argument, Any]], way: Way
    ) -> dict[int, Array]:
        """The arrays, by id, with their surroundings, after a launch on copies of them."""
        rooms: dict[int, Any] = {}
        values = []
        for argument, value in pairs:
            here = []
            for array in _arrays(argument, value):
                room = rooms.setdefault(id(array), self.xp.asarray(_guarded(array)))
                here.append(room[GUARD : GUARD + array.size])
            if argument.table:
                addresses = [array.data.ptr for array in here]
                here = [self.xp.asarray(np.array(addresses, np.uint64))]
            values.append(here[0] if argument.pointer else value)
        grid, block = kernel.launch_size(n)
        if way.checked and not kernel.by_tiles:  # several rows or elements for each of them
            grid, block = max(1, grid * block // FEW_THREADS // 2), FEW_THREADS
        function = _module(self.xp, self.source(kernel), self.dtype).get_function(kernel.name)
        with running(way):
            function((grid,), (block,), kernel.arguments((n, *values), self.dtype))
        return {key: room.get() for key, room in rooms.items()}

    @staticmethod
    def _check(what: str, whole: Array, value: Array, written: bool) -> Array:
        """What was written within the array; nothing was elsewhere."""
        edges = whole[:GUARD].tobytes() + whole[GUARD + value.size :].tobytes()
        assert edges == bytes([MARK]) * len(edges), f"{what}: written outside of it"
        inside = whole[GUARD : GUARD + value.size].reshape(value.shape)
        if not written:
            assert inside.tobytes() == value.tobytes(), f"{what} is const, but was changed"
        return inside

    def array(self, values: Any) -> Array:
        return np.array(values, self.dtype)

    def empty(self, *shape: int) -> Array:
        """Filled with NaN of all bits: what a kernel leaves out shows, and what it reads, too."""
        made = np.empty(shape, self.dtype)
        made.reshape(-1).view(np.uint8)[...] = 0xFF
        return made

    @staticmethod
    def tickets(count: int) -> Array:
        """By which blocks count who comes last; zeros again after a launch."""
        return np.zeros(count, np.uint32)

    def sums(
        self,
        kind: str,
        shape: tuple[int, int, int],
        *arrays: Array,
        out: Array,
        splits: int = 1,
        scale: float = 1,
        keep: float = 0,
    ) -> None:
        """out ← keep·out + scale·Σ over (outer, ·, inner), as layers have it made."""
        channels, tickets = shape[1], self.tickets(shape[1])
        partial = self.empty(channels * splits)
        self(kind, partial.size, splits, *shape, scale, keep, *arrays, partial, tickets, out)
        assert not tickets.any(), f"{kind}: it leaves its tickets at {tickets}"

    def close(self, got: Array, want: Any, why: str = "") -> None:
        """As near as the number type allows; NaN and infinities where they should be."""
        within = 2e-5 if self.dtype == np.float32 else 1e-11
        np.testing.assert_allclose(got, np.asarray(want), rtol=within, atol=within, err_msg=why)


def _arrays(argument: Argument, value: Any) -> Sequence[Array]:
    """The arrays that an argument stands for."""
    if argument.table:
        return list(value)
    return [value] if argument.pointer else []


def _guarded(value: Array) -> Array:
    whole = np.empty(value.size + 2 * GUARD, value.dtype)
    whole.view(np.uint8)[...] = MARK
    whole[GUARD : GUARD + value.size] = value.reshape(-1)
    return whole


@np.errstate(all="ignore")  # infinities and NaN are welcome
def layer_numbers(
    layer: str,
    *inputs: Array,
    tops: int = 1,
    phase: str = "TRAIN",
    fill: Sequence[Array] = (),
    down: Sequence[int] | None = None,
) -> LayerNumbers:
    """What the generic layer makes of the inputs, in float64.

    ``down`` are the bottoms that get a gradient, by default all but labels; () asks for no
    backward at all, (-1,) for that of the parameters only.
    """
    run = LayerRun(LayerCase(layer, inputs, tops=tops, phase=phase, fill=fill))
    outputs = run.forward()
    rng = np.random.default_rng(7)
    is_loss = isinstance(run.layer, Loss)
    weights = [np.array(0.7) if is_loss else rng.standard_normal(y.shape) for y in outputs]
    flags = [
        run.layer.force_backward_allowed(i) if down is None else i in down
        for i in range(len(inputs))
    ]
    if down != ():
        run.backward(weights, flags)
    return LayerNumbers(
        outputs,
        weights,
        [view.blob.diff.copy() for view in run.bottom],
        [blob.data.copy() for blob in run.layer.blobs],
        [blob.diff.copy() for blob in run.layer.blobs],
    )


@dataclass(frozen=True)
class LayerNumbers:
    """Tops, their gradients (given), the bottoms' gradients, parameters and theirs."""

    tops: list[Array]
    top_diffs: list[Array]
    bottom_diffs: list[Array]
    params: list[Array]
    param_diffs: list[Array]


@cache
def _module(xp: ArrayModule, code: str, dtype: DType) -> Any:
    return xp.RawModule(code=code, options=kernels.options(dtype))


def numbers_of(*names: str) -> Callable[[Check], Check]:
    """Say which kernels a test is about; it fails if it does not run them all."""

    def decorate(check: Check) -> Check:
        @functools.wraps(check)
        def watched(*args: Any, **kwargs: Any) -> None:
            before = launched.copy()
            check(*args, **kwargs)
            idle = [name for name in names if launched[name] == before[name]]
            assert not idle, f"never run: {', '.join(idle)}"

        watched.kernels = names  # type: ignore[attr-defined]
        return watched  # type: ignore[return-value]

    return decorate
