"""GeneralContrastiveLoss."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.faces.distances import LabelledDistances

REFUSED = ("max_positive_only", "positive_first", "add_intra_mae", "need_balance", "square")


@register("GeneralContrastiveLoss")
class GeneralContrastiveLoss(LabelledDistances):
    """1/N Σ v·min(c, max(0, d − m)) for the label + w·max(0, n − d) for all other classes.

    v ``positive_weight``, m ``positive_margin``, c ``positive_outlier_thresh``,
    w ``negative_weight``, n ``negative_margin``; ``exp_negative_weight``: w·e^−d for others;
    ``max_negative_only``: only the nearest of them.  ∂d is the derivative.
    Bottoms: distances (N, K), labels (N,).  Tops: the loss and, if wanted, (2,): the mean distance
    of own and others.
    """

    tops = (1, 2)

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        p = self.layer_param.general_contrastive_loss_param
        for field in REFUSED:
            self.check(not getattr(p, field), f"{field} is not supported")

    def forward(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.general_contrastive_loss_param
        own, others, mask = self._parts(bottom)
        near = self.xp.maximum(own - p.positive_margin, 0)
        near = self.xp.minimum(near, p.positive_outlier_thresh)
        far = self.xp.exp(-others) if p.exp_negative_weight else p.negative_margin - others
        far = self.xp.maximum(far, 0) * mask
        total = near.sum() * p.positive_weight + far.sum() * p.negative_weight
        top[0].data[...] = total / self.num
        self.write_means(bottom, top)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.refuse_label_gradient(propagate_down)
        if not propagate_down[0]:
            return
        p = self.layer_param.general_contrastive_loss_param
        own, others, mask = self._parts(bottom)
        over = own - p.positive_margin
        near = (over > 0) & (over < p.positive_outlier_thresh)
        inside = self.xp.exp(-others) if p.exp_negative_weight else others < p.negative_margin
        g = self.dtype.type(-p.negative_weight) * inside * mask
        g[self.labelled(bottom)] = near * self.dtype.type(p.positive_weight)
        weight = self.scaled_weight(top, self.num)
        self.xp.multiply(g, weight, out=bottom[0].diff.reshape(g.shape))

    def _parts(self, bottom: Views) -> tuple[Array, Array, Array]:
        """Distances to the own class (N,), all (N, K), and which of them count as others'."""
        p = self.layer_param.general_contrastive_loss_param
        d, at = self.distances(bottom), self.labelled(bottom)
        mask = self.xp.ones(d.shape, bool)
        mask[at] = False
        if p.max_negative_only:
            far = self.xp.where(mask, d, self.dtype.type(float("inf")))
            mask = self.xp.arange(d.shape[1]) == far.argmin(axis=1)[:, None]
        return d[at], d, mask
