"""GradientScaler: what is above learns a task, what is below learns to make it impossible."""

from __future__ import annotations

from math import exp

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.counted import Counted
from pycaffe_dist.layers.neuron import Neuron
from pycaffe_dist.proto.caffe_pb2 import TRAIN


@register("GradientScaler")
class GradientScaler(Counted, Neuron):
    """y = x;  ∂x = −c·∂y, c = l + (u − l)·(2 / (1 + exp(−alpha·p)) − 1), p = min(1, i / max_iter).

    l and u are ``lower_bound`` and ``upper_bound``, i counts the passes of TRAIN.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.gradient_scaler_param
        self.check(
            p.lower_bound <= p.upper_bound,
            f"lower_bound {p.lower_bound:g} must not be above upper_bound {p.upper_bound:g}",
        )
        self.check(p.alpha >= 0, f"alpha must not be negative, found {p.alpha:g}")
        self.check(p.max_iter >= 1, f"max_iter must be 1 or more, found {p.max_iter:g}")
        self.coefficient = self.dtype.type(p.lower_bound)
        self.start(0)

    def forward(self, bottom: Views, top: Views) -> None:
        top[0].data[...] = bottom[0].data
        if self.phase == TRAIN:
            p = self.layer_param.gradient_scaler_param
            progress = min(1.0, self.iteration / p.max_iter)
            rise = 2 / (1 + exp(-p.alpha * progress)) - 1
            self.coefficient = self.dtype.type(
                p.lower_bound + (p.upper_bound - p.lower_bound) * rise
            )
            self.iteration += 1

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            self.xp.multiply(top[0].diff, -self.coefficient, out=bottom[0].diff)
