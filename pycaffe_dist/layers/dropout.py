"""Dropout."""

from __future__ import annotations

from math import sqrt

import numpy as np

from pycaffe_dist.aliases import Shape
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.neuron import Neuron
from pycaffe_dist.proto.caffe_pb2 import TRAIN
from pycaffe_dist.rng import generator


@register("Dropout")
class Dropout(Neuron):
    """TRAIN: y = x·m, with m drawn anew: 0 with probability r, else 1/(1 − r);  TEST: y = x.

    ∂x = ∂y·m, in TEST ∂y.  Of forks: with ``sample_weights_test`` (SegNet) or ``test_enabled``
    TEST draws too; with ``scale_train: false`` (Fast R-CNN) m is 0 or 1, and in TEST y = (1 − r)·x;
    with ``sqrt_scale`` (happynear) m is 0 or 1/√(1 − r).
    """

    fork_fields = (
        "DropoutParameter.sample_weights_test",
        "DropoutParameter.test_enabled",
        "DropoutParameter.scale_train",
        "DropoutParameter.sqrt_scale",
    )

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.dropout_param
        ratio = p.dropout_ratio
        self.check(0 <= ratio < 1, f"dropout_ratio must be at least 0 and below 1, not {ratio:g}")
        self.draws = self.phase == TRAIN or p.sample_weights_test or p.test_enabled
        scale = 1 / (1 - ratio) if p.scale_train else 1
        self.scale = self.dtype.type(sqrt(scale) if p.sqrt_scale else scale)
        self.share = self.dtype.type(1 if p.scale_train else 1 - ratio)  # kept in TEST
        self.limit = np.uint32(ratio * 2**32)  # that share of all 32-bit numbers lies below it

    def mask_shape(self, shape: Shape) -> Shape:
        """The shape of m for a bottom's."""
        return shape

    def forward(self, bottom: Views, top: Views) -> None:
        x = bottom[0].data
        if not self.draws:
            top[0].data[...] = x if self.share == 1 else x * self.share
            return
        shape = self.mask_shape(x.shape)
        mask, kept = self.work("mask", shape), self.work("kept", shape, bool)
        draws = generator().randint(0, 1 << 32, shape, dtype=np.uint32)
        self.xp.greater_equal(self.xp.asarray(draws), self.limit, out=kept)
        self.xp.multiply(kept, self.scale, out=mask)
        self.xp.multiply(x, mask, out=top[0].data)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if not propagate_down[0]:
            return
        if not self.draws:
            dy = top[0].diff
            bottom[0].diff[...] = dy if self.share == 1 else dy * self.share
            return
        mask = self.work("mask", self.mask_shape(top[0].shape))
        self.xp.multiply(top[0].diff, mask, out=bottom[0].diff)

    def flops(self, bottom: Views, top: Views) -> int:
        return top[0].count if self.draws else 0
