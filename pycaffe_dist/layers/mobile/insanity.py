"""Insanity: a leaky ReLU whose leak is random."""

from __future__ import annotations

from math import log

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.neuron import Neuron
from pycaffe_dist.proto.caffe_pb2 import TRAIN
from pycaffe_dist.rng import generator


@register("Insanity")
class Insanity(Neuron):
    """y = x where x > 0, x/a elsewhere;  ∂x = ∂y where x > 0, ∂y/a elsewhere.

    TRAIN draws a between ``lb`` and ``ub`` for each value; TEST has (ub − lb)/(log ub − log lb).
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.insanity_param
        self.check(0 < p.lb <= p.ub, f"needs 0 < lb <= ub, found lb {p.lb:g} and ub {p.ub:g}")
        self.mean = (p.ub - p.lb) / (log(p.ub) - log(p.lb)) if p.ub > p.lb else p.lb

    def forward(self, bottom: Views, top: Views) -> None:
        x, p = bottom[0].data, self.layer_param.insanity_param
        leak = self.work("leak", x.shape)
        if self.phase == TRAIN:
            drawn = generator().uniform(p.lb, p.ub, x.shape)
            leak[...] = self.xp.asarray((1 / drawn).astype(self.dtype))
        else:
            leak[...] = 1 / self.mean
        self.xp.multiply(x, self.xp.where(x > 0, self.dtype.type(1), leak), out=top[0].data)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            slopes = self.slopes(bottom[0].data, self.work("leak", top[0].shape))
            self.xp.multiply(top[0].diff, slopes, out=bottom[0].diff)
