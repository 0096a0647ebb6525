"""Dropout."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.neuron import Neuron
from pycaffe_dist.proto.caffe_pb2 import TRAIN
from pycaffe_dist.rng import generator


@register("Dropout")
class Dropout(Neuron):
    """TRAIN: y = x·m, with m drawn anew: 0 with probability r, else 1/(1 − r);  TEST: y = x.

    ∂x = ∂y·m, in TEST ∂y.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        ratio = self.layer_param.dropout_param.dropout_ratio
        self.check(0 <= ratio < 1, f"dropout_ratio must be at least 0 and below 1, not {ratio:g}")
        self.scale = self.dtype.type(1 / (1 - ratio))
        self.limit = np.uint32(ratio * 2**32)  # that share of all 32-bit numbers lies below it

    def forward(self, bottom: Views, top: Views) -> None:
        x = bottom[0].data
        if self.phase != TRAIN:
            top[0].data[...] = x
            return
        mask, kept = self.work("mask", x.shape), self.work("kept", x.shape, bool)
        draws = generator().randint(0, 1 << 32, x.shape, dtype=np.uint32)
        self.xp.greater_equal(self.xp.asarray(draws), self.limit, out=kept)
        self.xp.multiply(kept, self.scale, out=mask)
        self.xp.multiply(x, mask, out=top[0].data)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if not propagate_down[0]:
            return
        if self.phase != TRAIN:
            bottom[0].diff[...] = top[0].diff
            return
        self.xp.multiply(top[0].diff, self.work("mask", top[0].shape), out=bottom[0].diff)

    def flops(self, bottom: Views, top: Views) -> int:
        return top[0].count if self.phase == TRAIN else 0
