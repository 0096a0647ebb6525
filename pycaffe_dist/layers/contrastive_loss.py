"""ContrastiveLoss: pulls pairs together, or apart up to a margin."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.loss import Loss


@register("ContrastiveLoss")
class ContrastiveLoss(Loss):
    """1/2N Σ (d² if similar, else max(0, margin − d)²), with d = ‖a − b‖.

    ``legacy_version``: max(0, margin − d²) for those that are not similar.
    a, b: (N, C)  similar: (N,), 0 or not
    ∂a = −∂b = 1/N (a − b) · (1 if similar, else −(margin − d) / (d + 10⁻⁴) where that is < 0)
    """

    bottoms = 3
    label_bottoms = (2,)

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        p = self.layer_param.contrastive_loss_param
        self.margin, self.legacy = self.dtype.type(p.margin), p.legacy_version
        self.difference = self.work_space()

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        shapes = [view.legacy_shape() for view in bottom]
        num, channels = shapes[0][:2]
        self.check(
            shapes[0] == shapes[1] == (num, channels, 1, 1),
            f"compares vectors (N, C) of one shape, found {bottom[0].shape} and {bottom[1].shape}",
        )
        self.check(
            shapes[2] == (num, 1, 1, 1),
            f"needs {num} labels, one for each pair, found the shape {bottom[2].shape}",
        )
        self.difference.reshape(num, channels)

    def forward(self, bottom: Views, top: Views) -> None:
        xp, d = self.xp, self.difference.data
        xp.subtract(bottom[0].data.reshape(d.shape), bottom[1].data.reshape(d.shape), out=d)
        squares = self._squares()
        if self.legacy:
            apart = xp.maximum(self.margin - squares, 0)
        else:
            apart = xp.square(xp.maximum(self.margin - xp.sqrt(squares), 0))
        terms = xp.where(self._similar(bottom), squares, apart)
        top[0].data[...] = terms.sum() / max(1, len(d)) / 2

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        xp, d = self.xp, self.difference.data
        if self.legacy:
            room = self.margin - self._squares()
            pull = xp.full_like(room, -1)
        else:
            distance = xp.sqrt(self._squares())
            room = self.margin - distance
            pull = -room / (distance + self.dtype.type(1e-4))
        pull[~(room > 0)] = 0
        pull[self._similar(bottom)] = 1
        pull *= self.scaled_weight(top, max(1, len(d)))
        for i, sign in enumerate((1, -1)):
            if propagate_down[i]:
                xp.multiply(d, sign * pull[:, None], out=bottom[i].diff.reshape(d.shape))

    def _squares(self) -> Array:
        d = self.difference.data
        return self.xp.einsum("nc,nc->n", d, d)

    def _similar(self, bottom: Views) -> Array:
        return self.xp.trunc(bottom[2].data.reshape(-1)) != 0
