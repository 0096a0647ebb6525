"""LogSoftmax."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.neuron import Neuron

LEAST = 1e-20  # probabilities below it count as this


@register("LogSoftmax")
class LogSoftmax(Neuron):
    """y = log p, p = exp x / Σ exp x along ``axis``, at least 10⁻²⁰;  ∂x = ∂y − p Σ ∂y."""

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        x = bottom[0]
        axis = x.axis(self.layer_param.log_softmax_param.axis)
        self.folded = x.count_from(0, axis), x.shape[axis], x.count_from(axis + 1)

    def forward(self, bottom: Views, top: Views) -> None:
        xp, x, y = self.xp, *(view.data.reshape(self.folded) for view in (bottom[0], top[0]))
        centred = x - x.max(axis=1, keepdims=True)
        xp.subtract(centred, xp.log(xp.exp(centred).sum(axis=1, keepdims=True)), out=y)
        xp.maximum(y, xp.log(self.dtype.type(LEAST)), out=y)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            y, gy = top[0].data.reshape(self.folded), top[0].diff.reshape(self.folded)
            share = self.xp.exp(y) * gy.sum(axis=1, keepdims=True)
            self.xp.subtract(gy, share, out=bottom[0].diff.reshape(self.folded))

    def flops(self, bottom: Views, top: Views) -> int:
        return 5 * top[0].count
