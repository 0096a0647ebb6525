"""Engine: what every engine is, and the one that is always there."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from pycaffe_dist.aliases import Array, ArrayModule, DeviceArray
from pycaffe_dist.errors import NetError, PcdError
from pycaffe_dist.memory import HOST, Home, Value
from pycaffe_dist.pool import Pool
from pycaffe_dist.update_step import Multipliers, ParamValues, UpdateStep

if TYPE_CHECKING:
    from pycaffe_dist.blob import View
    from pycaffe_dist.layer import Layer
    from pycaffe_dist.learnable import Param
    from pycaffe_dist.proto.caffe_pb2 import LayerParameter, NetParameter
    from pycaffe_dist.recycling import Recycling

# What else can: the CPU engine, from AVX-512 on, has bf16.
NEEDED = {
    "bf16": "the engine onednn, or a GPU",
    "fp16": "a GPU (-gpu 0)",
    "tf32": "a GPU (-gpu 0)",
}
L = TypeVar("L", bound="type[Layer]")
ImagePass = Callable[..., bool]
Loss = Any  # a float, or a number on a device: arithmetic stays there, ``float()`` waits for it


class NetView(Protocol):
    """What engines look at in a net that is built."""

    layers: list[Layer]
    bottoms: list[list[View]]
    tops: list[list[View]]
    layer_need_backward: list[bool]
    bottom_need_backward: list[list[bool]]
    recycling: Recycling | None

    @property
    def phase(self) -> int: ...


class Fusions:
    """Layers of a net that an engine computes together; none, unless it brings its own."""

    def during(self, first: int, last: int, watched: bool) -> Fusions:
        """A context for a pass over these layers, which somebody may watch one by one."""
        return self

    def layers(self, first: int, last: int) -> Iterable[int]:
        """The layers that a forward pass nobody watches is to run; others were run meanwhile."""
        return range(first, last + 1)

    def last(self, layer: int) -> int:
        """The layer at whose turn this one's work is done."""
        return layer

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


class Forms:
    """An engine's own classes of layer types, which its decorator names where they are written.

        accelerates = Forms("pycaffe_dist.engines.onednn.layers")

        @accelerates("ReLU")
        class ReLU(Elementwise, relu.ReLU): ...

    Args:
        package: whose modules hold them; all are imported when somebody asks for the classes.
    """

    def __init__(self, package: str) -> None:
        self._package = package
        self._classes: dict[str, type[Layer]] = {}

    def __call__(self, *types: str) -> Callable[[L], L]:
        def add(cls: L) -> L:
            self._classes.update(dict.fromkeys(types, cls))
            return cls

        return add

    def classes(self) -> Mapping[str, type[Layer]]:
        package = importlib.import_module(self._package)
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{self._package}.{module.name}")
        return self._classes


class Engine:
    """Where the generic layers keep their values, what they compute with, and who is faster.

    Attributes:
        home: the plain home of values: its rooms are flat arrays of ``xp``.
        xp: the array module that generic layers are run with.
        device: the number of its GPU, if it computes on one.
        precision: of the factors of its products: "fp32", "bf16", ...; sums are fp32 all the same.
        layers: by layer type, a subclass of the generic layer that is to be used instead.  It
            falls back to its base class, case by case, where it has nothing better.
    """

    name = "numpy"
    precision = "fp32"
    home: Home = HOST
    xp: ArrayModule = np
    device: int | None = None
    layers: Mapping[str, type[Layer]] = {}

    def at(self, precision: str) -> Engine:
        """The engine that computes with this precision.

        Raises:
            NetError: it cannot; the message says why.
        """
        if precision != self.precision:
            raise NetError(
                f"the engine {self.name} computes with fp32: --precision {precision} needs "
                f"{NEEDED.get(precision, 'the engine onednn')}"
            )
        return self

    def of_layer(self, net: NetParameter, layer: LayerParameter) -> Engine:
        """The engine that computes a layer, for which the file may ask for a precision."""
        return self

    def scales_loss(self, net: NetView) -> bool:
        """Whether gradients could overflow, so that a step may have to be left out."""
        return False

    def layer_class(self, layer_type: str, generic: type[Layer]) -> type[Layer]:
        """The engine's own class, unless forks call something else by this name."""
        own = self.layers.get(layer_type, generic)
        return own if issubclass(own, generic) else generic

    def finish(self, net: NetView) -> Fusions:
        """Look at a net that is built; what may be computed together in it."""
        return Fusions()

    def fix_choices(self) -> None:
        """Choose by rule from now on, not by what was faster: the same numbers always."""

    def choices(self) -> dict[str, str]:
        """What computes each case that came up in this process; its numbers depend on it."""
        return {}

    def give_choices(self, choices: Mapping[str, str]) -> None:
        """Let these compute from now on, as they did when ``choices`` was asked for."""

    def computed_by(self, layer: Layer) -> tuple[str, str]:
        """What computes a layer's forward and backward passes, for people."""
        return self.name, self.name

    def converting(self) -> tuple[int, float]:
        """How many values were brought into another layout so far, and the seconds it took."""
        return 0, 0.0

    def dot(self, a: DeviceArray, b: DeviceArray) -> Loss:
        """Σ a·b, of which the loss is made."""
        return float(self.xp.vdot(a, b))

    def outer(self, left: DeviceArray, right: DeviceArray, out: DeviceArray) -> None:
        """Write leftᵀ right, of matrices in ``home``."""
        self.xp.matmul(left.T, right, out=out)

    def updates(self, rule: Any) -> bool:
        """Whether it updates parameters by a rule where they are; else it is done in HOST."""
        return False

    def update(self, values: ParamValues, rule: Any, step: UpdateStep) -> None:
        """Update values of a parameter in ``home``; ``step`` has its rate and its decay."""
        raise NotImplementedError

    def update_all(
        self,
        params: Sequence[ParamValues],
        multipliers: Sequence[Multipliers],
        rule: Any,
        step: UpdateStep,
    ) -> None:
        """Update some parameters; ``step`` has the rate and the decay that all start from."""
        for values, own in zip(params, multipliers, strict=True):
            self.update(values, rule, step.times(*own))

    def clear(self, values: Sequence[Value]) -> None:
        """Make values in ``home`` zeros."""
        for value in values:
            value.zero()

    def one_pass(self, work: Callable[..., object], arrays: Sequence[Array], rooms: int) -> bool:
        """Run NumPy code that works element by element as one pass over memory; False: it cannot.

        ``work`` takes flat arrays of one length, which it changes, and so many rooms besides that
        hold nothing before and after.  Equal works are the same: they are looked at once.
        """
        return False

    def image_pass(self) -> ImagePass | None:
        """What crops, mirrors and scales an image in one pass; None: NumPy does it in several.

        It is called with an image, the mean, the scale, the place of the crop and the room for the
        result, and returns False for what it cannot do.
        """
        return None

    def clip(self, params: Sequence[Param], limit: float) -> tuple[Loss, Loss] | None:
        """Scale gradients to a norm of at most ``limit`` where they are: the norm and the scale.

        None: it is done in plain memory.
        """
        return None

    def pool(self) -> Pool:
        """Where the memory of values that are used in turn comes from."""
        return Pool()

    def enter(self) -> None:
        """Called by a thread that is about to compute."""

    def wait(self) -> None:
        """Until everything that was begun is done."""

    def pointer(self, value: Value) -> int:
        """Where a value is in the memory of a GPU."""
        raise PcdError("there are no GPU pointers where the CPU computes: call set_mode_gpu first")

    def __repr__(self) -> str:
        return f"<engine {self.name}>"


NUMPY = Engine()

_chosen: list[Engine | None] = [None]


def chosen_engine() -> Engine | None:
    """The engine that this process was told to use, by ``set_mode_gpu`` or a flag."""
    return _chosen[-1]


def default_engine() -> Engine:
    """The engine of contexts that name none."""
    return _chosen[-1] or NUMPY


def set_default_engine(engine: Engine | None) -> None:
    _chosen[-1] = engine
