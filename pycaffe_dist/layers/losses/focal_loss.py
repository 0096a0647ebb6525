"""FocalLoss: labels that are recognised already count less.  Two forks' layers of this name."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.loss import places
from pycaffe_dist.layers.softmax_loss import LEAST, SoftmaxWithLoss
from pycaffe_dist.proto.caffe_pb2 import FocalLossParameter, LayerParameter

EPS = 1e-10


class Focal(SoftmaxWithLoss):
    """−1/n Σ w(p) log p, p the probability of a label;  ∂x = q·(p − [label])/n.

    q = w(p) + w′(p) · p log p.  A subclass writes ``weights``: w(p) and −w′(p).
    """

    def weights(self, p: Array) -> tuple[Array, Array]:
        raise NotImplementedError

    def forward(self, bottom: Views, top: Views) -> None:
        p = self.prob.data.reshape(self.folded)
        self.probabilities(bottom[0].data.reshape(self.folded), out=p)
        own, log_own, counted = self._own(bottom)
        terms = self.weights(own)[0] * log_own
        if counted is not None:
            terms *= counted
        top[0].data[...] = 0 - terms.sum() / self.normalizer(self.folded, counted)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        super().backward(top, propagate_down, bottom)
        if propagate_down[0]:
            own, log_own, _ = self._own(bottom)
            weight, fall = self.weights(own)
            gx = bottom[0].diff.reshape(self.folded)
            gx *= (weight - fall * own * log_own)[:, None]

    def _own(self, bottom: Views) -> tuple[Array, Array, Array | None]:
        """P and log p of the labels, (outer, inner), and which count."""
        labels, counted = self.labels(bottom)
        own = self.prob.data.reshape(-1)[places(self.xp, labels, self.folded)]
        return own, self.xp.log(self.xp.maximum(own, self.dtype.type(LEAST))), counted


def _is_happynear(param: LayerParameter) -> bool:
    p = param.focal_loss_param
    return p.HasField("type") or p.HasField("beta")


@register(
    "FocalLoss",
    dialect="happynear",
    when=_is_happynear,
    why="focal_loss_param has type or beta",
)
class HappynearFocalLoss(Focal):
    """−1/n Σ (α − p)^γ log p, p the softmax probability of the label: α is in the place of the 1 of
    the paper.  That is ``type`` ORIGIN, and LINEAR too; ONEADDP is −1/n Σ (α + p)^γ log p.

    ∂x = q·(p − [label])/n, q = (α − p)^γ · (1 − γ p log p / (1 − p)), the true gradient for α = 1.
    Labels, n and tops as those of SoftmaxWithLoss.
    """

    def weights(self, p: Array) -> tuple[Array, Array]:
        given = self.layer_param.focal_loss_param
        alpha, gamma = self.dtype.type(given.alpha), self.dtype.type(given.gamma)
        rising = given.type == FocalLossParameter.ONEADDP
        s = self.dtype.type(1 if rising else -1)
        weight = (alpha + s * p) ** gamma
        return weight, -s * gamma * weight / self.xp.maximum(1 + s * p, self.dtype.type(EPS))


@register("FocalLoss", dialect="ssd")
class FocalLoss(Focal):
    """−1/n Σ α (1 − p)^γ log p, p the softmax probability of the label;  ∂x is the derivative.

    α is 0.25 and γ 2 unless given.  Labels, n and tops as those of SoftmaxWithLoss.
    """

    def weights(self, p: Array) -> tuple[Array, Array]:
        given = self.layer_param.focal_loss_param
        alpha = self.dtype.type(given.alpha if given.HasField("alpha") else 0.25)
        gamma = self.dtype.type(given.gamma)
        rest = self.xp.maximum(1 - p, self.dtype.type(EPS))
        weight = alpha * rest**gamma
        return weight, gamma * weight / rest
