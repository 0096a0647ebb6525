"""SigmoidCrossEntropyLoss: independent yes-or-no answers, each with a probability as target."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.loss import Loss
from pycaffe_dist.proto.caffe_pb2 import LossParameter


@register("SigmoidCrossEntropyLoss")
class SigmoidCrossEntropyLoss(Loss):
    """−1/n Σ t log σ(x) + (1 − t) log(1 − σ(x));  ∂x = (σ(x) − t)/n.

    x and t: as many values.  A target that, cut off to an integer, is ``ignore_label`` does not
    count.  n is the batch size unless ``normalization`` says otherwise.
    """

    default_normalization = LossParameter.BATCH_SIZE

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        self.terms, self.decay = self.work_space(), self.work_space()

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        self.check(
            bottom[0].count == bottom[1].count,
            f"bottoms must have as many values, found {bottom[0].shape} and {bottom[1].shape}",
        )
        self.folded = bottom[0].shape[0], 1, bottom[0].count_from(1)
        self.terms.reshape_like(bottom[0])
        self.decay.reshape_like(bottom[0])

    def forward(self, bottom: Views, top: Views) -> None:
        # x·([x ≥ 0] − t) + log(1 + exp(−|x|)): nothing overflows, nothing cancels.
        xp, terms, decay = self.xp, self.terms.data, self.decay.data
        x, t = bottom[0].data, bottom[1].data.reshape(terms.shape)
        xp.subtract(x >= 0, t, out=terms)
        terms *= x
        xp.absolute(x, out=decay)
        xp.negative(decay, out=decay)
        xp.exp(decay, out=decay)
        decay += 1
        terms += xp.log(decay, out=decay)
        counted = self._counted(t)
        if counted is not None:
            xp.copyto(terms, 0, where=~counted)
        top[0].data[...] = terms.sum() / self.normalizer(self.folded, counted)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.refuse_label_gradient(propagate_down)
        if not propagate_down[0]:
            return
        xp, gx = self.xp, bottom[0].diff
        t = bottom[1].data.reshape(gx.shape)
        # σ(x) = ½ tanh(½x) + ½
        xp.multiply(bottom[0].data, self.dtype.type(0.5), out=gx)
        xp.tanh(gx, out=gx)
        gx += 1
        gx *= self.dtype.type(0.5)
        gx -= t
        counted = self._counted(t)
        if counted is not None:
            gx *= counted
        gx *= self.scaled_weight(top, self.normalizer(self.folded, counted))

    def flops(self, bottom: Views, top: Views) -> int:
        return 8 * bottom[0].count

    def _counted(self, t: Array) -> Array | None:
        ignored = self.ignored_label()
        return None if ignored is None else self.xp.trunc(t) != ignored
