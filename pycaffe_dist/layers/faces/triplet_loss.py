"""TripletLoss and GeneralTripletLoss: nearer to one's own than to others, by a margin."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.faces.distances import LabelledDistances
from pycaffe_dist.layers.loss import Loss

LEAST = 1e-9  # terms below it get no gradient


@register("TripletLoss")
class TripletLoss(Loss):
    """1/2N Σ max(0, margin + ‖a − p‖² − ‖a − n‖²);  ∂a = (n − p)/N, ∂p = (p − a)/N, ∂n = (a − n)/N
    where the term is above 0.

    Anchors a, positives p, negatives n: (N, …) of one shape
    """

    bottoms = 3
    label_bottoms = ()

    def reshape(self, bottom: Views, top: Views) -> None:
        shapes = [view.shape for view in bottom]
        self.check(
            len({*shapes}) == 1 and len(shapes[0]) > 0,
            f"bottoms must have one shape, found {shapes}",
        )
        self.num = max(1, shapes[0][0])
        top[0].reshape()

    def forward(self, bottom: Views, top: Views) -> None:
        top[0].data[...] = self._terms(bottom).sum() / (2 * self.num)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        a, p, n = self._items(bottom)
        weight = self.scaled_weight(top, self.num) * (self._terms(bottom) >= LEAST)[:, None]
        for view, wanted, one, other in zip(
            bottom, propagate_down, (n, p, a), (p, a, n), strict=True
        ):
            if wanted:
                self.xp.multiply(one - other, weight, out=view.diff.reshape(a.shape))

    def _items(self, bottom: Views) -> list[Array]:
        return [view.data.reshape(view.shape[0], -1) for view in bottom]

    def _terms(self, bottom: Views) -> Array:
        a, p, n = self._items(bottom)
        near, far = (self.xp.einsum("nk,nk->n", d, d) for d in (a - p, a - n))
        margin = self.dtype.type(self.layer_param.triplet_loss_param.margin)
        return self.xp.maximum(margin + near - far, 0)


@register("GeneralTripletLoss")
class GeneralTripletLoss(LabelledDistances):
    """1/N Σ v·max(0, d[label] + margin − d[j]) over all other classes j, v ``negative_weight``.

    ∂d/N, not the true gradient: −v for each j whose term is above 0, ``positive_weight`` for the
    label if there is one, or always with ``add_center_loss``.  ``hardest_only``: only the j with
    the largest term.  ``positive_first``: items whose d[label] is above ``positive_upper_bound``
    have no terms, and a gradient of the label.  Bottoms: distances (N, K), labels (N,), and, if
    given, weights (N,) of the items' gradients.  Tops: the loss and, if wanted, (2,): the mean
    distance of own and others.
    """

    bottoms = (2, 3)
    label_bottoms = (1, 2)
    tops = (1, 2)

    def check_extra(self, bottom: Views) -> None:
        self.check_values(bottom, 2)

    def forward(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.general_triplet_loss_param
        terms, alone = self._terms(bottom)
        weighted = abs(terms * p.negative_weight).sum(axis=1) * ~alone
        top[0].data[...] = weighted.sum() / self.num
        for view in top[1:]:
            d = self.distances(bottom)
            own = d[self.labelled(bottom)].sum()
            view.data[0] = own / self.num
            view.data[1] = (d.sum() - own) / self.num / max(1, self.classes - 1)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.refuse_label_gradient(propagate_down)
        if not propagate_down[0]:
            return
        p = self.layer_param.general_triplet_loss_param
        terms, alone = self._terms(bottom)
        active = (terms > 0) & ~alone[:, None]
        g = active * self.dtype.type(-p.negative_weight)
        learns = active.any(axis=1) | alone | p.add_center_loss
        g[self.labelled(bottom)] = learns * self.dtype.type(p.positive_weight)
        for weights in bottom[2:]:
            g *= weights.data.reshape(-1, 1)
        gx = bottom[0].diff.reshape(g.shape)
        self.xp.multiply(g, self.scaled_weight(top, self.num), out=gx)

    def _terms(self, bottom: Views) -> tuple[Array, Array]:
        """The terms (N, K) without their weight, and the items that are to have none."""
        p = self.layer_param.general_triplet_loss_param
        d, at = self.distances(bottom), self.labelled(bottom)
        terms = self.xp.maximum(d[at][:, None] + self.dtype.type(p.margin) - d, 0)
        terms[at] = 0
        if p.hardest_only:
            terms *= self.xp.arange(d.shape[1]) == terms.argmax(axis=1)[:, None]
        return terms, (d[at] > p.positive_upper_bound) & p.positive_first
