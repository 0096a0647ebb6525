"""EuclideanLoss: half the mean squared distance."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.loss import Loss


@register("EuclideanLoss")
class EuclideanLoss(Loss):
    """1/2N Σ (a − b)²;  ∂a = (a − b)/N,  ∂b = −∂a.  Both (N, ...) with as many values."""

    label_bottoms: tuple[int, ...] = ()

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        self.difference = self.work_space()

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        self.check(
            bottom[0].count_from(1) == bottom[1].count_from(1),
            f"bottoms must have as many values, found {bottom[0].shape} and {bottom[1].shape}",
        )
        self.difference.reshape_like(bottom[0])
        self.num = max(1, bottom[0].shape[0])

    def forward(self, bottom: Views, top: Views) -> None:
        d = self.difference.data
        self.xp.subtract(bottom[0].data, bottom[1].data.reshape(d.shape), out=d)
        top[0].data[...] = self.xp.vdot(d, d) / self.num / 2

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        d, scale = self.difference.data, self.scaled_weight(top, self.num)
        for view, wanted, factor in zip(bottom, propagate_down, (scale, -scale), strict=True):
            if wanted:
                self.xp.multiply(d, factor, out=view.diff.reshape(d.shape))
