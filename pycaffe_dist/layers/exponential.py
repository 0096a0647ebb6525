"""Exp and Log."""

from __future__ import annotations

import math

import numpy as np

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.neuron import Neuron


class Logarithmic(Neuron):
    """With a base: −1 stands for e."""

    def log_base(self, base: float) -> float:
        """The natural logarithm of the base."""
        if base == -1:
            return 1.0
        self.check(0 < base < math.inf, f"base must be above 0, or -1 to stand for e, not {base:g}")
        return math.log(base)


@register("Exp")
class Exp(Logarithmic):
    """y = base^(shift + scale·x);  ∂x = ∂y·y·scale·ln base."""

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.exp_param
        log_base = self.log_base(p.base)
        self.inner_scale = self.dtype.type(log_base * p.scale)
        with np.errstate(over="ignore"):
            self.outer_scale = np.exp(self.dtype.type(log_base * p.shift))

    def forward(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].data, top[0].data
        with np.errstate(all="ignore"):  # too large is infinite, no matter for a warning
            if self.inner_scale != 1:
                x = self.xp.multiply(x, self.inner_scale, out=y)
            self.xp.exp(x, out=y)
            if self.outer_scale != 1:
                y *= self.outer_scale

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            gx = bottom[0].diff
            with np.errstate(all="ignore"):
                self.xp.multiply(top[0].data, top[0].diff, out=gx)
                if self.inner_scale != 1:
                    gx *= self.inner_scale


@register("Log")
class Log(Logarithmic):
    """y = log_base(shift + scale·x);  ∂x = ∂y·scale / (ln base·(shift + scale·x))."""

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.log_param
        self.check(p.base != 1, "base is 1, whose logarithms are not defined")
        log_base = self.log_base(p.base)
        self.base_scale = self.dtype.type(1 / log_base)
        self.input_scale, self.input_shift = self.dtype.type(p.scale), self.dtype.type(p.shift)
        self.diff_scale = self.dtype.type(p.scale / log_base)

    def forward(self, bottom: Views, top: Views) -> None:
        y = top[0].data
        with np.errstate(all="ignore"):  # of 0 and below it is −∞ and NaN
            self.xp.multiply(bottom[0].data, self.input_scale, out=y)
            y += self.input_shift
            self.xp.log(y, out=y)
            if self.base_scale != 1:
                y *= self.base_scale

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            gx = bottom[0].diff
            with np.errstate(all="ignore"):
                self.xp.multiply(bottom[0].data, self.input_scale, out=gx)
                gx += self.input_shift
                self.xp.divide(self.diff_scale, gx, out=gx)
                # In place this is the square of what was just written: Caffe's answer, if wrong.
                self.xp.multiply(top[0].diff, gx, out=gx)
