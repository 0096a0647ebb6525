"""Scale."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, View, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.bias import Broadcast
from pycaffe_dist.proto.caffe_pb2 import FillerParameter


@register("Scale")
class Scale(Broadcast):
    """y = s·x, with ``bias_term`` s·x + b;  ∂x = s·∂y   ∂s = Σ x·∂y   ∂b = Σ ∂y.

    s is the operand, b a parameter of its shape.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.scale_param
        self.axis, self.bias_term = p.axis, p.bias_term
        num_axes = p.num_axes if len(bottom) == 1 else len(bottom[1].shape)
        if len(bottom) == 1:
            filler = p.filler if p.HasField("filler") else FillerParameter(value=1)
            self.add_blob(self.operand_shape(bottom[0], p.axis, num_axes), filler)
        if p.bias_term:
            self.add_blob(self.operand_shape(bottom[0], p.axis, num_axes), p.bias_filler)

    def reshape(self, bottom: Views, top: Views) -> None:
        self.shape = self.spread(bottom[0], self._scale(bottom), self.axis)
        if self.bias_term:
            self.spread(bottom[0], self.params[-1], self.axis)  # both bottoms may have changed
        top[0].reshape_like(bottom[0])

    def forward(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].data.reshape(self.shape), top[0].data.reshape(self.shape)
        if top[0].blob is bottom[0].blob:
            self.work("input", self.shape)[...] = x
        self.xp.multiply(x, self._scale(bottom).data.reshape(-1, 1), out=y)
        if self.bias_term:
            y += self.params[-1].data.reshape(-1, 1)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        gy = top[0].diff.reshape(self.shape)
        if self.bias_term and self.param_propagate_down[-1]:
            gb = self.params[-1].diff.reshape(-1)
            gb += self.xp.einsum("obi->b", gy)
        if propagate_down[1] if len(bottom) > 1 else self.param_propagate_down[0]:
            in_place = top[0].blob is bottom[0].blob
            x = self.work("input", self.shape) if in_place else bottom[0].data.reshape(self.shape)
            gs = self._scale(bottom).diff.reshape(-1)
            product = self.xp.einsum("osi,osi->s", gy, x)
            if not propagate_down[0] and not in_place and self.shape[0] * self.shape[2] > 1:
                # Caffe keeps the products there on the way to their sum, asked for or not.
                self.xp.multiply(gy, x, out=bottom[0].diff.reshape(self.shape))
            if len(bottom) > 1 or self._overwrites():
                gs[...] = product
            else:
                gs += product
        if propagate_down[0]:
            gx = bottom[0].diff.reshape(self.shape)
            self.xp.multiply(gy, self._scale(bottom).data.reshape(-1, 1), out=gx)

    def flops(self, bottom: Views, top: Views) -> int:
        return (2 if self.bias_term else 1) * top[0].count

    def _scale(self, bottom: Views) -> View:
        return bottom[1] if len(bottom) > 1 else self.params[0]

    def _overwrites(self) -> bool:
        """Whether the gradient of the parameter s replaces that of the pass before, as in Caffe.

        It does where no sum over outer axes is needed, except for a single s: with a batch of 1
        and iter_size above 1, only the last pass counts.
        """
        outer, operand, inner = self.shape
        return outer == 1 and (operand > 1 or inner == 1)
