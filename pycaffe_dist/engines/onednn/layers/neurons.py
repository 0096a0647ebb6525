"""Element-wise layers as formulas, which run over memory in whatever layout it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.engines.onednn.core.accelerated import Accelerated, accelerates
from pycaffe_dist.engines.onednn.core.bfloat16 import widened
from pycaffe_dist.engines.onednn.core.formulas import Formula, Pass
from pycaffe_dist.engines.onednn.core.library import F32, OneDnnError
from pycaffe_dist.engines.onednn.core.primitives import Layout
from pycaffe_dist.engines.onednn.core.tape import do
from pycaffe_dist.layers import absval, bnll, clip, elu, exponential, power, relu, sigmoid, tanh
from pycaffe_dist.layers.mobile import relu6
from pycaffe_dist.layers.neuron import Neuron
from pycaffe_dist.memory import HOST, Home, Value

Formulas = list[tuple[str, Formula]]  # what is computed, and how, in this order
Passes = list[tuple[str, Pass]]
Made = tuple[Passes, Passes, dict[str, Array]]  # forward, backward, rooms of its own
BLOBS = ("x", "y", "gx", "gy")
POSITIVE = ("max", 0.0), ("gt", 0.0)  # 1 where v > 0, 0 elsewhere; "gt" alone is 1 for NaN


def home_of(value: Value, count: int, padded: bool = True) -> Home:
    """A home that holds ``count`` values now, with or without padding; a layout if there is one."""
    for home in value.current:
        fits = isinstance(home, Layout) and home.count == count
        if fits and (padded or length(home, count) == count):
            return home
    return HOST


def length(home: Home, count: int) -> int:
    """How many numbers, padding included, ``count`` values take there."""
    return home.length if isinstance(home, Layout) else count


def kind_of(home: Home) -> int:
    """The type of the numbers there."""
    return home.kind if isinstance(home, Layout) else F32


def finite(room: Array) -> bool:
    """Whether all are numbers, none NaN or infinite; False also if they are enormous."""
    if room.dtype == np.uint16:
        room = widened(room)
    with np.errstate(all="ignore"):
        return bool(np.isfinite(np.dot(room, room)))


class Elementwise(Accelerated, Neuron):
    """A layer whose passes are formulas of x, y, gy and gx, and of rooms of its own.

    Memory is seen as one long row, with the zeros that some layouts have behind the channels.
    """

    replays = True
    keeps_zero = True  # zeros stay zeros: padding may be computed as well
    backward_in_place = True  # else the generic one is used
    backward_of_numbers = False  # its formulas are wrong where x is not finite: generic as well

    def forward_formulas(self) -> Formulas:
        raise NotImplementedError

    def backward_formulas(self) -> Formulas:
        raise NotImplementedError

    def prepare(self, bottom: Views, top: Views) -> None:
        self._formulas = self.forward_formulas(), self.backward_formulas()
        self._read = {name for _, formula in self._formulas[1] for name in formula.names}
        self._made: dict[Home, Made] = {}
        self._home = self._settle(bottom)

    def _settle(self, bottom: Views) -> Home:
        """Where the bottom is now: there it is computed."""
        count = bottom[0].count
        home = home_of(bottom[0].blob.data_value, count, self.keeps_zero)
        if home not in self._made:
            size = length(home, count)
            kind = kind_of(home)
            passes = [[(name, f.over(size, kind)) for name, f in c] for c in self._formulas]
            named = {name for name, _ in (*passes[0], *passes[1])}
            own = {name: self.work(name, (size,)) for name in named.difference(BLOBS)}
            self._made[home] = passes[0], passes[1], own
        return home

    def fast_forward(self, bottom: Views, top: Views) -> None:
        home = self._home = self._settle(bottom)
        forward, _, own = self._made[home]
        x, y = bottom[0].blob.data_value, top[0].blob.data_value
        rooms = dict(own)
        if x is y:
            rooms["x"] = rooms["y"] = x.write(home)
        else:
            rooms["x"], rooms["y"] = x.read(home), y.replace(home)
        _run(forward, rooms)

    def fast_backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if not propagate_down[0]:
            return
        x, y, home = bottom[0].blob, top[0].blob, self._home
        in_place = x.diff_value is y.diff_value
        generic = in_place and not self.backward_in_place
        if self.backward_of_numbers:
            generic |= not finite(x.data_value.read(home)[: length(home, x.count)])
        if generic:
            super(Accelerated, self).backward_alone(top, propagate_down, bottom)
            return
        _, backward, own = self._made[home]
        rooms = dict(own)
        if "x" in self._read:
            rooms["x"] = x.data_value.read(home)
        if "y" in self._read:
            rooms["y"] = y.data_value.read(home)
        if in_place:
            rooms["gx"] = rooms["gy"] = x.diff_value.write(home)
        else:
            rooms["gy"], rooms["gx"] = y.diff_value.read(home), x.diff_value.replace(home)
        _run(backward, rooms)


def _run(passes: Passes, rooms: dict[str, Array]) -> None:
    for name, run in passes:
        do(run, *[rooms[n] for n in run.names], rooms[name])


@accelerates("ReLU")
class ReLU(Elementwise, relu.ReLU):
    __doc__ = relu.ReLU.__doc__

    def prepare(self, bottom: Views, top: Views) -> None:
        self.backward_of_numbers = bool(self.slope)
        super().prepare(bottom, top)

    def forward_formulas(self) -> Formulas:
        if self.slope:
            return [("y", Formula("x", ("relu", self.slope, 0)))]
        return [("y", Formula("x", ("gt", 0.0), ("mul", "x"), ("linear", 1, 0)))]  # never −0

    def backward_formulas(self) -> Formulas:
        leak = [("linear", 1 - self.slope, self.slope)] if self.slope else []
        return [("gx", Formula("x", *POSITIVE, *leak, ("mul", "gy")))]


@accelerates("ReLU6")
class ReLU6(Elementwise, relu6.ReLU6):
    __doc__ = relu6.ReLU6.__doc__

    def forward_formulas(self) -> Formulas:
        if self.slope:
            raise OneDnnError("it has a negative_slope")
        positive = Formula("x", ("gt", 0.0), ("mul", "x"), ("linear", 1, 0))
        # oneDNN's minimum is the second if the first is NaN.
        return [("y", positive), ("y", Formula("y", ("min", float(relu6.MOST)), ("min", "y")))]

    def backward_formulas(self) -> Formulas:
        below = Formula("x", ("lt", float(relu6.MOST)), ("mul", "gx"))
        return [("gx", Formula("x", *POSITIVE, ("mul", "gy"))), ("gx", below)]


@accelerates("ELU")
class ELU(Elementwise, elu.ELU):
    """With α = 1, (x > 0) + (α + y)·(x ≤ 0) is 1 + y·(x ≤ 0); y may be another layer's by now."""

    def forward_formulas(self) -> Formulas:
        if self.alpha != 1:
            raise OneDnnError("its slope jumps at 0")
        return [("y", Formula("x", ("elu", 1, 0)))]

    def backward_formulas(self) -> Formulas:
        return [("gx", Formula("x", ("le", 0.0), ("mul", "y"), ("linear", 1, 1), ("mul", "gy")))]


@accelerates("TanH")
class TanH(Elementwise, tanh.TanH):
    __doc__ = tanh.TanH.__doc__

    def forward_formulas(self) -> Formulas:
        return [("y", Formula("x", ("tanh",)))]

    def backward_formulas(self) -> Formulas:
        return [("gx", Formula("y", ("mul", "y"), ("linear", -1, 1), ("mul", "gy")))]


@accelerates("Sigmoid")
class Sigmoid(Elementwise, sigmoid.Sigmoid):
    __doc__ = sigmoid.Sigmoid.__doc__
    keeps_zero = False

    def forward_formulas(self) -> Formulas:
        return [("y", Formula("x", ("logistic",)))]

    def backward_formulas(self) -> Formulas:
        return [("gx", Formula("y", ("linear", -1, 1), ("mul", "y"), ("mul", "gy")))]


@accelerates("Swish")
class Swish(Elementwise, sigmoid.Swish):
    __doc__ = sigmoid.Swish.__doc__

    def forward_formulas(self) -> Formulas:
        gate = Formula("x", ("mul", self.beta), ("logistic",))
        return [("gate", gate), ("y", Formula("x", ("mul", "gate")))]

    def backward_formulas(self) -> Formulas:
        turned = ("linear", -self.beta, self.beta)
        return [("gx", Formula("gate", turned, ("mul", "y"), ("add", "gate"), ("mul", "gy")))]


@accelerates("AbsVal")
class AbsVal(Elementwise, absval.AbsVal):
    __doc__ = absval.AbsVal.__doc__

    def forward_formulas(self) -> Formulas:
        return [("y", Formula("x", ("abs",)))]

    def backward_formulas(self) -> Formulas:
        below = Formula("x", ("lt", 0.0))
        return [("below", below), ("gx", Formula("x", *POSITIVE, ("sub", "below"), ("mul", "gy")))]


@accelerates("BNLL")
class BNLL(Elementwise, bnll.BNLL):
    __doc__ = bnll.BNLL.__doc__
    keeps_zero = False

    def forward_formulas(self) -> Formulas:
        return [("y", Formula("x", ("soft_relu", 1, 0)))]

    def backward_formulas(self) -> Formulas:
        power = ("min", float(bnll.THRESHOLD)), ("min", "x")
        return [("gx", Formula("x", *power, ("logistic",), ("mul", "gy")))]


@accelerates("Clip")
class Clip(Elementwise, clip.Clip):
    __doc__ = clip.Clip.__doc__

    def prepare(self, bottom: Views, top: Views) -> None:
        self.keeps_zero = bool(self.min <= 0 <= self.max)
        super().prepare(bottom, top)

    def forward_formulas(self) -> Formulas:
        return [("y", Formula("x", ("max", self.min), ("min", self.max), ("max", self.min)))]

    def backward_formulas(self) -> Formulas:
        above = Formula("x", ("ge", self.min), ("mul", "gy"))
        return [("gx", above), ("gx", Formula("x", ("le", self.max), ("mul", "gx")))]


@accelerates("Exp")
class Exp(Elementwise, exponential.Exp):
    __doc__ = exponential.Exp.__doc__
    keeps_zero = False

    def forward_formulas(self) -> Formulas:
        # oneDNN's exponential of NaN is infinite; that of a number is larger than the number.
        outer = ("linear", self.outer_scale, 0)
        inner = [("y", Formula("x", ("mul", self.inner_scale)))] * bool(self.inner_scale != 1)
        power = "y" if inner else "x"
        return [*inner, ("y", Formula(power, ("exp",), ("max", power), outer))]

    def backward_formulas(self) -> Formulas:
        return [("gx", Formula("y", ("mul", "gy"), ("linear", self.inner_scale, 0)))]


@accelerates("Log")
class Log(Elementwise, exponential.Log):
    __doc__ = exponential.Log.__doc__
    keeps_zero = False
    backward_in_place = False

    def forward_formulas(self) -> Formulas:
        return [("y", Formula("x", *self._inner(), ("log",), ("linear", self.base_scale, 0)))]

    def backward_formulas(self) -> Formulas:
        return [("gx", Formula("x", *self._inner(), ("pow", self.diff_scale, -1), ("mul", "gy")))]

    def _inner(self) -> tuple[Any, ...]:
        return ("mul", self.input_scale), ("linear", 1, self.input_shift)


@accelerates("Power")
class Power(Elementwise, power.Power):
    __doc__ = power.Power.__doc__
    keeps_zero = False
    backward_in_place = False

    def forward_formulas(self) -> Formulas:
        if self.diff_scale == 0:
            raise OneDnnError("it is constant")
        if self.power == 0.5:
            raise OneDnnError("NumPy takes square roots as fast, and that of −∞ as C does")
        outer = {1: [], 2: [("square",)]}.get(self.power, [("pow", 1, self.power)])
        return [("y", Formula("x", *self._inner(1), *outer))]

    def backward_formulas(self) -> Formulas:
        if self.power == 1:
            return [("gx", Formula("gy", ("mul", self.diff_scale)))]
        if self.power == 2:
            return [("gx", Formula("x", *self._inner(self.diff_scale), ("mul", "gy")))]
        quotient = ("pow", self.diff_scale, -1), ("mul", "y")
        return [("gx", Formula("x", *self._inner(1), *quotient, ("mul", "gy")))]

    def _inner(self, factor: Any) -> tuple[Any, ...]:
        return ("mul", factor * self.scale), ("linear", 1, factor * self.shift)
