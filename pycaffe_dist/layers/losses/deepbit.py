"""The losses of DeepBit, which learns binary codes: half the bits 1, all of them sure.

Their gradients are no derivatives: one number for all values.
"""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.loss import Loss


class Bits(Loss):
    """Codes x (N, K) as bits x > ½; nets give x twice, the second is not looked at."""

    label_bottoms = ()

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        self.num, self.count = max(1, bottom[0].shape[0]), max(1, bottom[0].count)

    def bits(self, x: Array) -> Array:
        return (x > 0.5).astype(self.dtype)

    def pull(self, x: Array) -> Array:
        """The sum that is everybody's gradient, before it is divided by K·N²."""
        raise NotImplementedError

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            total = self.pull(bottom[0].data.reshape(bottom[0].shape[0], -1))
            bottom[0].diff[...] = total * self.scaled_weight(top, self.num) / self.count
        if propagate_down[1]:
            bottom[1].diff[...] = 0


@register("EvenDistLoss")
class EvenDistLoss(Bits):
    """1/2N Σ (m − ½)², m the mean of a bit over the batch;  ∂x = Σ (m − ½)/(K·N²) for all."""

    def forward(self, bottom: Views, top: Views) -> None:
        off = self._off(bottom[0].data.reshape(bottom[0].shape[0], -1))
        top[0].data[...] = self.xp.vdot(off, off) / self.num / 2

    def pull(self, x: Array) -> Array:
        return self._off(x).sum()

    def _off(self, x: Array) -> Array:
        return self.bits(x).sum(axis=0) / self.num - self.dtype.type(0.5)


@register("MinQuantizeLoss")
class MinQuantizeLoss(Bits):
    """1/2N Σ (b − x)², b the bit of x;  ∂x = −Σ (b − x)·x/(K·N²) for every value.

    The fork adds this up over all iterations, for it never clears its buffer; here it is that of
    the batch.
    """

    def forward(self, bottom: Views, top: Views) -> None:
        x = bottom[0].data
        d = self.bits(x) - x
        top[0].data[...] = self.xp.vdot(d, d) / self.num / 2

    def pull(self, x: Array) -> Array:
        return -self.xp.vdot(self.bits(x) - x, x)


@register("TransformLoss")
class TransformLoss(Loss):
    """1/2N Σ v·w·‖a − b‖²;  ∂a = −∂b = (a − b)/N, without the weights.

    a, b: (N, K)  v, w: (N,)
    """

    bottoms = 4
    label_bottoms = (2, 3)

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        a, b = bottom[0], bottom[1]
        self.check(a.count == b.count, f"bottoms 0 and 1 differ: {a.shape} and {b.shape}")
        for view in bottom[2:]:
            self.check(
                view.count == a.shape[0],
                f"needs {a.shape[0]} weights, one for each item, found {view.shape}",
            )
        self.num = max(1, a.shape[0])

    def forward(self, bottom: Views, top: Views) -> None:
        d = self._difference(bottom)
        v, w = (view.data.reshape(-1) for view in bottom[2:])
        top[0].data[...] = (v * w * self.xp.einsum("nk,nk->n", d, d)).sum() / self.num / 2

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.refuse_label_gradient(propagate_down)
        step = self._difference(bottom) * self.scaled_weight(top, self.num)
        for view, wanted, sign in zip(bottom, propagate_down, (1, -1), strict=False):
            if wanted:
                view.diff.reshape(step.shape)[...] = sign * step

    def _difference(self, bottom: Views) -> Array:
        a, b = (view.data.reshape(bottom[0].shape[0], -1) for view in bottom[:2])
        return a - b
