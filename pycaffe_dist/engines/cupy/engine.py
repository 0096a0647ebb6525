"""CupyEngine: one device, its two streams, its kernels and the layers that launch them."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pycaffe_dist.aliases import Array, ArrayModule, DeviceArray, DType
from pycaffe_dist.engines.base import Engine, Fusions, NetView
from pycaffe_dist.engines.cupy import backend, devices, updates
from pycaffe_dist.engines.cupy.convolution.choice import Convolutions
from pycaffe_dist.engines.cupy.cudnn import Handle
from pycaffe_dist.engines.cupy.gemm import Products
from pycaffe_dist.engines.cupy.home import DeviceHome, DevicePool
from pycaffe_dist.engines.cupy.launch import Launcher, OnDevice, accelerates
from pycaffe_dist.engines.cupy.precision import check, of_layer
from pycaffe_dist.engines.cupy.scalar import Places, Scalar
from pycaffe_dist.engines.cupy.tables import Tables
from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.optional import install_command
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, NetParameter
from pycaffe_dist.update_step import Multipliers, ParamValues, UpdateStep

if TYPE_CHECKING:
    from pycaffe_dist.layer import Layer
    from pycaffe_dist.memory import Value

_engines: dict[tuple[str, int], CupyEngine] = {}
TICKETS = 4096  # to begin with
_here = threading.local()  # .home: whose device and stream are this thread's


@dataclass
class Check:
    """Numbers looked at on the device; ``bad`` is how many there are from the first bad one on."""

    layer: OnDevice
    values: DeviceArray
    bad: DeviceArray
    message: Callable[[float, int], str]


class CupyEngine(Engine):
    """Computes on one GPU.

    Attributes:
        device: its number.
        launch: launches a kernel by its name.
        multiply: multiplies matrices.
        convolutions: convolve, each in the way that was chosen for it.
    """

    name = "cupy"

    def __init__(self, xp: ArrayModule, device: int) -> None:
        self.xp = xp
        self.device: int = device
        xp.cuda.Device(device).use()
        self.home: DeviceHome = DeviceHome(xp, self.enter, self.tell_what_is_wrong)
        self.launch = Launcher(xp, self.enter)
        self.layers = accelerates.classes()
        self.asked: str | None = None  # the precision, if somebody asked for one
        self.multiply = Products(self.home, self.launch)
        self.convolutions = Convolutions(self)
        self._at: dict[tuple[str, bool], CupyEngine] = {}  # the same device in other precisions
        self._checks: dict[int, Check] = {}
        self.places = Places(xp)
        self.tables = Tables(xp)
        self._spare: dict[tuple[str, str], DeviceArray] = {}
        self._constants: dict[tuple[str, bytes], DeviceArray] = {}
        self._tickets: DeviceArray = None

    def enter(self) -> None:
        """Make the device and its compute stream those of this thread, if they are not."""
        if getattr(_here, "home", None) is not self.home:
            self.xp.cuda.Device(self.device).use()
            self.home.compute.use()
            self.multiply.enter()
            _here.home = self.home

    # -- precision ---------------------------------------------------------------------------

    def at(self, precision: str) -> CupyEngine:
        capability = self.xp.cuda.Device(self.device).compute_capability
        check(precision, f"GPU {self.device}", capability)
        return self._in(precision, asked=True)

    def of_layer(self, net: NetParameter, layer: LayerParameter) -> CupyEngine:
        return self._in(of_layer(net, layer, self.asked), asked=self.asked is not None)

    def _in(self, precision: str, asked: bool) -> CupyEngine:
        """The same device, memory and kernels; products in this precision."""
        if precision == self.precision and asked == (self.asked is not None):
            return self
        key = precision, asked
        if key not in self._at:
            made = self._at[key] = copy(self)
            made.precision, made.asked = precision, precision if asked else None
            made.multiply = Products(self.home, self.launch, precision)
            made.convolutions = self.convolutions.at(made)
        return self._at[key]

    def scales_loss(self, net: NetView) -> bool:
        return any(layer.context.engine.precision == "fp16" for layer in net.layers)

    # ----------------------------------------------------------------------------------------

    def try_out(self) -> None:
        """Compile, launch and multiply once: what is missing shows now, and not in mid-training."""
        one = self.one(np.dtype(np.float32))
        self.launch("fill", one.dtype, 1, 1, one)
        matrix = one.reshape(1, 1)
        self.multiply(matrix, matrix, out=self.xp.add(matrix, matrix))  # by CuPy's own compiler
        self.wait()

    def pool(self) -> DevicePool:
        return DevicePool(self.home)

    def wait(self) -> None:
        self.home.compute.synchronize()

    def pointer(self, value: Value) -> int:
        """Where a value is, when all kernels that write it are done.

        Libraries work on the default stream, which nothing orders with ours.
        """
        self.home.addresses_given = True
        array: DeviceArray = value.write(self.home)
        where = int(array.data.ptr)
        self.wait()
        return where

    @property
    def device_name(self) -> str:
        return str(devices.properties(self.device)["name"])

    def spare(self, name: str, shape: Sequence[int], dtype: DType) -> Any:
        """Work space for one use, until the next: what the largest user needs."""
        count = math.prod(shape)
        room = self._spare.get((name, dtype.char))
        if room is None or room.size < count:
            room = self._spare[name, dtype.char] = self.xp.empty(max(1, count), dtype)
        return room[:count].reshape(shape)

    def constants(self, values: Sequence[int]) -> Any:
        """Integers on the device, brought there once."""
        return self.constant(np.array(tuple(values), np.int32))

    def finish(self, net: NetView) -> Fusions:
        from pycaffe_dist.engines.cupy.fusion import find

        return find(net)

    # -- numbers that stay on the device -----------------------------------------------------

    def dot(self, a: DeviceArray, b: DeviceArray) -> Scalar:
        return Scalar(self, self.xp.vdot(a, b))

    def one(self, dtype: DType) -> Any:
        """An array of one 1."""
        return self.constant(np.ones(1, dtype))

    def constant(self, values: Array) -> Any:
        """An array as it is here, brought over once."""
        key = values.dtype.char, values.tobytes()
        if key not in self._constants:
            self.enter()
            self._constants[key] = self.xp.asarray(values)
        return self._constants[key]

    def tickets(self, count: int) -> Any:
        """Zeros, by which blocks count who comes last, and which they leave as zeros."""
        if self._tickets is None or self._tickets.size < count:
            self._tickets = self.xp.zeros(max(TICKETS, 2 * count), np.uint32)
        return self._tickets[:count]

    def outer(self, left: DeviceArray, right: DeviceArray, out: DeviceArray) -> None:
        self.enter()
        self.multiply(left.T, right, out)

    # -- checks ------------------------------------------------------------------------------

    def check_numbers(
        self,
        layer: OnDevice,
        values: DeviceArray,
        limit: int,
        message: Callable[[float, int], str],
        has_ignore: int = 0,
        ignore: int = 0,
    ) -> None:
        """Look on the device whether ``values`` are numbers from 0 to below ``limit``.

        What is wrong is told when somebody next reads a result: until then nobody waits.
        """
        bad = layer.kept("bad", (1,), np.int32)
        layer.launch("check_labels", values.size, limit, has_ignore, ignore, values, bad)
        self._checks[id(layer)] = Check(layer, values, bad, message)

    def tell_what_is_wrong(self) -> None:
        """Raise what a check has found.

        Raises:
            NetError: of the layer that asked for the check.
        """
        while self._checks:
            _, check = self._checks.popitem()
            left = int(check.bad[0])
            if left:
                check.bad.fill(0)
                at = check.values.size - left
                value = float(check.values.reshape(-1)[at])
                raise check.layer.error(check.message(value, at))

    # -- which way computes ------------------------------------------------------------------

    @cached_property
    def cudnn(self) -> Handle | None:
        """None: it is not there, or the device is emulated, whose memory it cannot reach."""
        return None if backend.is_emulated() else Handle.on(int(self.home.compute.ptr))

    def fix_choices(self) -> None:
        self.convolutions.choices.measuring = False

    def choices(self) -> dict[str, str]:
        return {"machine": self.machine, **self.convolutions.choices.used}

    def give_choices(self, choices: Mapping[str, str]) -> None:
        if choices.get("machine") == self.machine:  # on another one, others are faster
            self.convolutions.choices.give(choices)

    def computed_by(self, layer: Layer) -> tuple[str, str]:
        if isinstance(layer, OnDevice):
            return layer.computed_by()
        return self.name, self.name

    @property
    def machine(self) -> str:
        """For whom a choice holds."""
        return f"CuPy {self.xp.__version__}, {self.device_name}"

    # -- the solver's update -----------------------------------------------------------------

    def updates(self, rule: Any) -> bool:
        return rule.type in updates.RULES and not rule.whole

    def update(self, values: ParamValues, rule: Any, step: UpdateStep) -> None:
        updates.update(self, values, rule, step)

    def update_all(
        self,
        params: Sequence[ParamValues],
        multipliers: Sequence[Multipliers],
        rule: Any,
        step: UpdateStep,
    ) -> None:
        updates.update_all(self, params, multipliers, rule, step)

    def clear(self, values: Sequence[Value]) -> None:
        updates.clear(self, values)

    def unscale(self, values: Sequence[Value], scale: DeviceArray, bad: DeviceArray) -> None:
        updates.unscale(self, values, scale, bad)

    def clip(self, params: Sequence[DeviceArray], limit: float) -> tuple[Scalar, Scalar]:
        return updates.clip(self, params, limit)


def create(device: int = 0) -> CupyEngine:
    """The engine of a device; always the same one, so that values of several nets have one home.

    Raises:
        MissingPartError: CuPy, the driver or the device is missing.
    """
    xp = backend.cupy()
    count = backend.device_count(xp)
    if not 0 <= device < count:
        raise MissingPartError(
            f"GPU {device} was asked for, but this machine has {count}, numbered from 0. "
            "`pcd device_query -gpu all` lists them."
        )
    key = (xp.__name__, device)
    if key not in _engines:
        try:
            engine = CupyEngine(xp, device)
            engine.enter()
            engine.try_out()
        except Exception as e:  # of CuPy's many kinds: a library or a header that is not found
            reason = str(e).split("\n")[0]
            raise MissingPartError(
                f"GPU {device} was asked for, but CuPy does not compute on it ({reason}). "
                f"Its libraries come with: {install_command('gpu')}"
            ) from e
        _engines[key] = engine
    _engines[key].enter()
    return _engines[key]
