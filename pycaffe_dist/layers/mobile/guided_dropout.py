"""GuidedDropout: channels that mean something in a domain are kept."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.sigmoid import sigmoid
from pycaffe_dist.layers.work import Working, planes
from pycaffe_dist.proto.caffe_pb2 import TRAIN
from pycaffe_dist.rng import generator


@register("GuidedDropout")
class GuidedDropout(Working):
    """y = x·m, m for each channel of each item from the guidance g;  ∂x = ∂y·m.

    deterministic: m = C/k where g > ``guidance_threshold``, k such channels, 0 elsewhere.
    stochastic: in TRAIN m = C/Σp with probability p = σ(g·``sigmoid_scaler``), else 0; in TEST 1.

    x, y: (N, C, …)  g: (N, C), or with ones behind
    """

    bottoms = 2
    label_bottoms = (1,)

    def setup(self, bottom: Views, top: Views) -> None:
        self.kind = self.layer_param.guided_dropout_param.type
        self.check(
            self.kind in ("deterministic", "stochastic"),
            f"type must be deterministic or stochastic, found {self.kind!r}",
        )

    def reshape(self, bottom: Views, top: Views) -> None:
        x, g = bottom[0].shape, bottom[1]
        self.check(
            len(x) > 1 and g.count == x[0] * x[1],
            f"needs a guidance for each channel of the bottom {x}, found {g.shape}",
        )
        top[0].reshape(*x)

    def forward(self, bottom: Views, top: Views) -> None:
        x = planes(bottom[0].data)
        mask = self.work("mask", x.shape[:2])
        mask[...] = self._mask(bottom[1].data.reshape(x.shape[:2]))
        self.xp.multiply(x, mask[:, :, None], out=planes(top[0].data))

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.check(not propagate_down[1], "cannot give its guidance a gradient")
        if propagate_down[0]:
            gy = planes(top[0].diff)
            mask = self.work("mask", gy.shape[:2])
            self.xp.multiply(gy, mask[:, :, None], out=planes(bottom[0].diff))

    def _mask(self, g: Array) -> Array:
        p, xp = self.layer_param.guided_dropout_param, self.xp
        if self.kind == "deterministic":
            kept = (g > p.guidance_threshold).astype(self.dtype)
            total = kept.sum(axis=1, keepdims=True)
        elif self.phase == TRAIN:
            chance = xp.empty_like(g)
            sigmoid(xp, g, self.dtype.type(p.sigmoid_scaler), out=chance)
            drawn = xp.asarray(generator().random_sample(g.shape).astype(self.dtype))
            kept = (drawn < chance).astype(self.dtype)
            total = chance.sum(axis=1, keepdims=True)
        else:
            return self.dtype.type(1)
        return kept * (g.shape[1] / xp.maximum(total, self.dtype.type(1e-20)))
