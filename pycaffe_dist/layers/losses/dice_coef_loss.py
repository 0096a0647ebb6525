"""DiceCoefLoss."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.loss import Loss

SMOOTH = 1.0


@register("DiceCoefLoss")
class DiceCoefLoss(Loss):
    """1 − (2 Σ p·g + 1)/(Σ p + Σ g + 1);  ∂p = (D − 2 g)/(Σ p + Σ g + 1), D = 1 − loss.

    p: what the net says, g: what is true, both of as many values, between 0 and 1
    """

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        self.check(
            bottom[0].count == bottom[1].count,
            f"bottoms must have as many values, found {bottom[0].shape} and {bottom[1].shape}",
        )

    def forward(self, bottom: Views, top: Views) -> None:
        p, g = (view.data.reshape(-1) for view in bottom)
        top[0].data[...] = 1 - (2 * self.xp.vdot(p, g) + SMOOTH) / (p.sum() + g.sum() + SMOOTH)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.refuse_label_gradient(propagate_down)
        if propagate_down[0]:
            p, g = (view.data.reshape(-1) for view in bottom)
            gp = bottom[0].diff.reshape(-1)
            self.xp.subtract(1 - top[0].data, 2 * g, out=gp)
            gp *= top[0].diff / (p.sum() + g.sum() + SMOOTH)
