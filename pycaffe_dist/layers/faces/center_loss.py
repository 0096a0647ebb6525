"""CenterLoss: how far features are from the centre of their class."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.loss import Loss, class_numbers


@register("CenterLoss")
class CenterLoss(Loss):
    """1/2M Σ ‖x − c[label]‖²;  ∂x = (x − c[label])/M, and as the "gradient" of a centre
    Σ (c − x)/(1 + n) over the n items of its class, whatever the weight of the loss.

    x: (M, …), flattened from ``axis`` on  labels: (M,)  centres: a parameter (``num_output``, K)

    Without a ``loss_weight`` nothing is trained: unlike that of other losses it is 0 then.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.center_loss_param
        self.check(p.distance_type == "L2", f"distance_type must be L2, found {p.distance_type!r}")
        self.classes, self.axis = p.num_output, bottom[0].axis(p.axis)
        self.features = bottom[0].count_from(self.axis)
        self.add_blob((self.classes, self.features), p.center_filler)
        self.difference = self.work_space()

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        features = bottom[0].count_from(self.axis)
        self.check(
            features == self.features,
            f"its centres have {self.features} values, items of {bottom[0].shape} {features}",
        )
        self.num = bottom[0].count_from(0, self.axis)
        self.check(
            bottom[1].count == self.num,
            f"needs {self.num} labels, one for each item, found the shape {bottom[1].shape}",
        )
        self.difference.reshape(self.num, self.features)

    def forward(self, bottom: Views, top: Views) -> None:
        d, x = self.difference.data, bottom[0].data
        self.xp.subtract(x.reshape(d.shape), self.params[0].data[self._labels(bottom)], out=d)
        top[0].data[...] = self.xp.vdot(d, d) / max(1, self.num) / 2

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.refuse_label_gradient(propagate_down)
        d, labels = self.difference.data, self._labels(bottom)
        if self.param_propagate_down[0]:
            counts = self.xp.bincount(labels, minlength=self.classes)
            change = -d / (1 + counts[labels]).astype(self.dtype)[:, None]
            self.xp.add.at(self.params[0].diff, labels, change)
        if propagate_down[0]:
            gx = bottom[0].diff.reshape(d.shape)
            self.xp.multiply(d, self.scaled_weight(top, max(1, self.num)), out=gx)

    def _labels(self, bottom: Views) -> Array:
        labels, _ = class_numbers(self, bottom[1], (self.num, self.classes, 1))
        return labels.reshape(-1)
