"""SmoothL1Loss of Fast R-CNN, with weights."""

from __future__ import annotations

from pycaffe_dist.aliases import Array, ArrayModule
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.loss import Loss


def smooth_l1(xp: ArrayModule, d: Array, sharpness: float) -> tuple[Array, Array]:
    """s(d) and its slope: s = σ²d²/2 where |d| < 1/σ², else |d| − 1/(2σ²); ``sharpness`` is σ²."""
    size = abs(d)
    near = size < 1 / sharpness
    values = xp.where(near, d * d * (0.5 * sharpness), size - 0.5 / sharpness)
    return values, xp.where(near, d * sharpness, xp.sign(d))


@register(
    "SmoothL1Loss",
    dialect="frcnn",
    when=lambda param: len(param.bottom) == 4 or param.HasField("smooth_l1_loss_param"),
    why="it has four bottoms or a smooth_l1_loss_param",
)
class WeightedSmoothL1Loss(Loss):
    """Σ w_out·s(w_in·(a − b)) / N, s(d) = σ²d²/2 where |d| < 1/σ², else |d| − 1/(2σ²).

    a, b, w_in, w_out: (N, ...); without weights they are 1.
    ∂a = w_in·w_out·s′/N,  ∂b = −∂a;  that of weights is 0.
    Without a ``loss_weight`` its weight is 0.
    """

    bottoms = (2, 4)
    label_bottoms = (2, 3)
    auto_tops = False

    def setup(self, bottom: Views, top: Views) -> None:
        self.check(len(bottom) != 3, "takes two bottoms, or four with the inner and outer weights")
        self.sharpness = self.layer_param.smooth_l1_loss_param.sigma**2
        self.check(self.sharpness > 0, "sigma must not be 0")
        self.slope = self.work_space()

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        for view in bottom[1:]:
            self.check(
                view.count == bottom[0].count and view.shape[0] == bottom[0].shape[0],
                f"the bottoms must have one shape, found {bottom[0].shape} and {view.shape}",
            )
        self.slope.reshape_like(bottom[0])

    def forward(self, bottom: Views, top: Views) -> None:
        a = bottom[0].data
        d = a - bottom[1].data.reshape(a.shape)
        if len(bottom) == 2:
            values, self.slope.data[...] = smooth_l1(self.xp, d, self.sharpness)
        else:
            inside, outside = (view.data.reshape(a.shape) for view in bottom[2:])
            values, slope = smooth_l1(self.xp, d * inside, self.sharpness)
            values *= outside
            self.slope.data[...] = slope * inside * outside
        top[0].data[...] = values.sum() / max(1, a.shape[0])

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        weight = self.scaled_weight(top, max(1, bottom[0].shape[0]))
        for view, wanted, sign in zip(bottom, propagate_down, (1, -1, 0, 0), strict=False):
            if wanted:
                slope = self.slope.data.reshape(view.shape)
                self.xp.multiply(slope, weight * sign, out=view.diff)
