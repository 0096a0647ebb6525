"""LabelSpecificAdd, LabelSpecificRescale, LabelSpecificMargin: the score of an item's own label
changed in training, so that it has to be better by a margin.
"""

from __future__ import annotations

from math import cos, pi, sin

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.counted import Counted
from pycaffe_dist.layers.loss import class_numbers
from pycaffe_dist.layers.work import Working
from pycaffe_dist.proto.caffe_pb2 import TRAIN


class LabelSpecific(Working):
    """Scores (N, K) and labels (N,) in, scores out; if ``applies``, the labelled ones changed."""

    bottoms = 2
    label_bottoms = (1,)

    def setup(self, bottom: Views, top: Views) -> None:
        self.applies = self.phase == TRAIN

    def reshape(self, bottom: Views, top: Views) -> None:
        x = bottom[0]
        self.check(len(x.shape) > 1, f"needs scores (N, K), found {x.shape}")
        self.folded = (x.shape[0], x.count_from(1), 1)
        self.check(
            bottom[1].count == x.shape[0],
            f"needs {x.shape[0]} labels, one for each item, found the shape {bottom[1].shape}",
        )
        top[0].reshape_like(x)
        for view in top[1:]:
            view.reshape(1)

    def changed(self, own: Array) -> Array:
        """The new scores of the labels, (N,)."""
        raise NotImplementedError

    def slope(self, own: Array) -> Array:
        """What their gradient is multiplied by."""
        raise NotImplementedError

    def others(self) -> float:
        """What the scores of all other classes are multiplied by."""
        return 1

    def forward(self, bottom: Views, top: Views) -> None:
        x, y = (view.data.reshape(self.folded[:2]) for view in (bottom[0], top[0]))
        if not self.applies:
            y[...] = x
            return
        at = self._labelled(bottom)
        own = self.work("own", (len(x),))
        own[...] = x[at]
        self.xp.multiply(x, self.dtype.type(self.others()), out=y)
        y[at] = self.changed(own)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.check(not propagate_down[1], "cannot give its labels a gradient")
        if not propagate_down[0]:
            return
        gy, gx = (view.diff.reshape(self.folded[:2]) for view in (top[0], bottom[0]))
        if not self.applies:
            gx[...] = gy
            return
        at = self._labelled(bottom)
        own = gy[at] * self.slope(self.work("own", (len(gy),)))
        self.xp.multiply(gy, self.dtype.type(self.others()), out=gx)
        gx[at] = own

    def _labelled(self, bottom: Views) -> tuple[Array, Array]:
        labels, _ = class_numbers(self, bottom[1], self.folded)
        return self.xp.arange(self.folded[0]), labels.reshape(-1)


@register("LabelSpecificAdd")
class LabelSpecificAdd(Counted, LabelSpecific):
    """In TRAIN the label's score s becomes s + bias if s > −bias (AM-softmax);  ∂x = ∂y.

    With ``bias_base`` the bias is base − 1 + (1 + gamma·i)^power within bias_min and bias_max, i
    counting training passes from ``iteration`` on.  Tops: scores and, if wanted, the bias: (1,).
    """

    tops = (1, 2)

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        p = self.layer_param.label_specific_add_param
        self.start(p.iteration)
        self.bias, self.remembers = p.bias, p.HasField("bias_base")

    def forward(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.label_specific_add_param
        if self.applies and p.HasField("bias_base"):
            bias = p.bias_base + (1 + p.bias_gamma * self.iteration) ** p.bias_power - 1
            self.bias = min(max(bias, p.bias_min), p.bias_max)
            self.iteration += 1
        super().forward(bottom, top)
        for view in top[1:]:
            view.data[...] = self.bias

    def changed(self, own: Array) -> Array:
        bias = self.dtype.type(self.bias)
        return own + bias * (own > -bias)

    def slope(self, own: Array) -> Array:
        return self.dtype.type(1)


@register("LabelSpecificRescale")
class LabelSpecificRescale(Counted, LabelSpecific):
    """In TRAIN (in TEST too with ``rescale_test``) the label's score is multiplied by w =
    ``positive_weight``, all others by ``negative_weight``;  ∂x is the derivative.

    ``for_ip``: only where the label's score is positive.  ``bias_fix`` adds 1 − w to it.
    ``power_on_positive``: sign(s)·|s|ʷ in place of w·s.  With ``positive_weight_base``
    w = base·(1 + gamma·i)^−power, i counting training passes, within positive_weight_min and _max.
    Tops: the scores and, if wanted, w: (1,).
    """

    tops = (1, 2)

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.label_specific_rescale_param
        self.applies = self.phase == TRAIN or p.rescale_test
        self.start(p.iteration)
        self.weight = p.positive_weight

    def others(self) -> float:
        return float(self.layer_param.label_specific_rescale_param.negative_weight)

    def forward(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.label_specific_rescale_param
        if p.HasField("positive_weight_base") and self.phase == TRAIN:
            self.iteration += 1
            weight = p.positive_weight_base * (1 + p.gamma * self.iteration) ** -p.power
            if p.HasField("positive_weight_min"):
                weight = max(weight, p.positive_weight_min)
            if p.HasField("positive_weight_max"):
                weight = min(weight, p.positive_weight_max)
            self.weight = weight
        super().forward(bottom, top)
        for view in top[1:]:
            view.data[...] = self.weight

    def changed(self, own: Array) -> Array:
        p, w = self.layer_param.label_specific_rescale_param, self.dtype.type(self.weight)
        new = self.xp.sign(own) * abs(own) ** w if p.power_on_positive else own * w
        if p.bias_fix:
            new = new + (1 - w)
        return self.xp.where(own > 0, new, own) if p.for_ip else new

    def slope(self, own: Array) -> Array:
        p, w = self.layer_param.label_specific_rescale_param, self.dtype.type(self.weight)
        slope = w * abs(own) ** (w - 1) if p.power_on_positive else own * 0 + w
        return self.xp.where(own > 0, slope, self.dtype.type(1)) if p.for_ip else slope


@register("LabelSpecificMargin")
class LabelSpecificMargin(Counted, LabelSpecific):
    """In TRAIN the label's score c = cos θ becomes cos(θ + m), m in degrees (ArcFace);
    ∂x = ∂y·(cos m + c / √(1 − c² + 10⁻¹²) · sin m).

    m is a parameter (1,) that no solver changes.  With ``margin_base`` it is base − 1 +
    (1 + gamma·i)^power, i counting training passes from ``iteration`` on; it is at most
    ``margin_max``, if that is given.  Tops: the scores and, if wanted, m: (1,).
    """

    tops = (1, 2)
    EPS = 1e-12

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        self.start(self.layer_param.label_specific_margin_param.iteration)
        self.add_blob((1,))
        specs = self.layer_param.param
        (specs[0] if specs else specs.add()).lr_mult = 0
        specs[0].decay_mult = 0

    def forward(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.label_specific_margin_param
        if self.applies and p.HasField("margin_base"):
            m = p.margin_base + (1 + p.gamma * self.iteration) ** p.power - 1
            self.params[0].change_data()[...] = m
            self.iteration += 1
        if p.HasField("margin_max") and self.params[0].data[0] > p.margin_max:
            self.params[0].change_data()[...] = p.margin_max
        super().forward(bottom, top)
        for view in top[1:]:
            view.data[...] = self.params[0].data

    def changed(self, own: Array) -> Array:
        turn = self._turn()
        return own * cos(turn) - self.xp.sqrt(1 - own * own + self.EPS) * sin(turn)

    def slope(self, own: Array) -> Array:
        turn = self._turn()
        return own / self.xp.sqrt(1 - own * own + self.EPS) * sin(turn) + cos(turn)

    def _turn(self) -> float:
        return float(self.params[0].data[0]) * pi / 180
