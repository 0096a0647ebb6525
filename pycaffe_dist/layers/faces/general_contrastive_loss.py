"""GeneralContrastiveLoss."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.faces.distances import LabelledDistances

REFUSED = ("max_positive_only", "add_intra_mae")


@register("GeneralContrastiveLoss")
class GeneralContrastiveLoss(LabelledDistances):
    """1/N Σ v·min(c, max(0, d − m)) for the label + w·max(0, n − d) for all other classes.

    v ``positive_weight``, m ``positive_margin``, c ``positive_outlier_thresh``,
    w ``negative_weight``, n ``negative_margin``; ``exp_negative_weight``: w·e^−d for others with
    d < n; ``max_negative_only``: only the nearest of them; ``positive_first``: none of an item
    whose own d is above ``positive_upper_bound``, which gives that d the gradient v.
    ∂d/N: v where m < d < c (so c is of d here), −w or −w·e^−d for others that count; those are
    divided by s = |Σ|/N over ``normalize_negative``, if it is given and s is above v.
    Bottoms: distances (N, K), labels (N,) and, if given, distances that are looked at in place of
    the first.  Tops: the loss and, if wanted, (2,): the means of both terms without their weights.
    """

    bottoms = (2, 3)
    label_bottoms = (1, 2)
    tops = (1, 2)

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        for field in REFUSED:
            wanted = getattr(self.layer_param.general_contrastive_loss_param, field)
            self.check(not wanted, f"{field} is not supported")

    def check_extra(self, bottom: Views) -> None:
        for view in bottom[2:]:
            self.check(
                view.shape == bottom[0].shape,
                f"its third bottom must be like the first, found {view.shape}",
            )

    def forward(self, bottom: Views, top: Views) -> None:
        p, xp = self.layer_param.general_contrastive_loss_param, self.xp
        d, at = self.distances(bottom[2:] or bottom), self.labelled(bottom)
        near = xp.minimum(xp.maximum(d[at] - p.positive_margin, 0), p.positive_outlier_thresh)
        total = abs(near * p.positive_weight).sum()
        slopes = self._slopes(d, at)
        far = xp.where(self._others(d, at), p.negative_margin - d, 0)
        values = slopes if p.exp_negative_weight else slopes * far
        total = total + abs(values).sum()
        top[0].data[...] = total / self.num
        for view in top[1:]:
            view.data[0] = near.sum() / self.num
            view.data[1] = far.sum() / self.num / max(1, self.classes - 1)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.refuse_label_gradient(propagate_down)
        if not propagate_down[0]:
            return
        p = self.layer_param.general_contrastive_loss_param
        d, at = self.distances(bottom[2:] or bottom), self.labelled(bottom)
        g = -self._slopes(d, at)
        if p.HasField("normalize_negative"):
            size = abs(float(g.sum())) / p.normalize_negative / self.num
            g /= self.dtype.type(size if size > p.positive_weight else 1)
        near = (d[at] > p.positive_margin) & (d[at] < p.positive_outlier_thresh)
        g[at] = (near | self._alone(d[at])) * self.dtype.type(p.positive_weight)
        self.xp.multiply(g, self.scaled_weight(top, self.num), out=bottom[0].diff.reshape(g.shape))

    def _slopes(self, d: Array, at: tuple[Array, Array]) -> Array:
        """How fast the loss falls with the distance to each other class, (N, K)."""
        p, xp = self.layer_param.general_contrastive_loss_param, self.xp
        counts = self._others(d, at) & ~self._alone(d[at])[:, None]
        if p.max_negative_only:
            far = d.copy()
            far[at] = float("inf")
            counts = counts & (xp.arange(d.shape[1]) == far.argmin(axis=1)[:, None])
        slopes: Array = counts * self.dtype.type(p.negative_weight)
        return slopes * xp.exp(-d) if p.exp_negative_weight else slopes

    def _others(self, d: Array, at: tuple[Array, Array]) -> Array:
        """The classes that are none of the labels and nearer than their margin."""
        below: Array = d < self.layer_param.general_contrastive_loss_param.negative_margin
        below[at] = False
        return below

    def _alone(self, own: Array) -> Array:
        """The items of which nothing but the own distance counts."""
        p = self.layer_param.general_contrastive_loss_param
        far: Array = (own > p.positive_upper_bound) & p.positive_first
        return far
