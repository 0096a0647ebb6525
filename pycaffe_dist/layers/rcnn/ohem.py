"""R-FCN's online hard example mining: losses that also tell every region's own, and a picker."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.loss import Folded, Loss
from pycaffe_dist.layers.rcnn.smooth_l1_loss import smooth_l1
from pycaffe_dist.layers.softmax_loss import SoftmaxWithLoss
from pycaffe_dist.proto.caffe_pb2 import LossParameter


class FixedNormalizer(Loss):
    """``normalization: PRE_FIXED``: the sum is divided by ``pre_fixed_normalizer``."""

    fork_fields = ("LossParameter.normalization", "LossParameter.pre_fixed_normalizer")

    def normalizer(self, folded: Folded, counted: Array | None) -> float:
        if self.normalization() == LossParameter.PRE_FIXED:
            return max(1.0, self.layer_param.loss_param.pre_fixed_normalizer) / self.ranks
        return super().normalizer(folded, counted)


@register("SoftmaxWithLossOHEM")
class SoftmaxWithLossOHEM(FixedNormalizer, SoftmaxWithLoss):
    """SoftmaxWithLoss with a third top: −log p[label] of every position, in the labels' shape."""

    tops = (1, 3)

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top[:2])
        for view in top[2:]:
            view.reshape_like(bottom[1])

    def forward(self, bottom: Views, top: Views) -> None:
        own, counted = self.gains(bottom)
        top[0].data[...] = 0 - own.sum() / self.normalizer(self.folded, counted)
        for view in top[2:]:
            view.data[...] = (0 - own).reshape(view.shape)


@register("SmoothL1LossOHEM")
class SmoothL1LossOHEM(FixedNormalizer):
    """Σ s(w·(a − b)) / n, s(d) = d²/2 below 1 and |d| − ½ above;  ∂a = clip(w·(a − b), ±1)/n.

    a, b, w: (N, C, H, W); without w it is 1.  n = N·H·W, or what loss_param says.
    Tops: the loss and, if wanted, Σ_c s, (N, 1, H, W).  The gradient is not multiplied by w again.
    Without a ``loss_weight`` its weight is 0.
    """

    bottoms = (2, 3)
    tops = (1, 2)
    label_bottoms = (2,)
    auto_tops = False

    def setup(self, bottom: Views, top: Views) -> None:
        self.slope = self.work_space()

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        shape = bottom[0].shape
        for view in bottom[1:]:
            self.check(
                view.count == bottom[0].count and view.shape[0] == shape[0],
                f"the bottoms must have one shape, found {shape} and {view.shape}",
            )
        self.check(len(shape) > 1, f"needs bottoms (N, C, ...), found {shape}")
        self.slope.reshape(*shape)
        for view in top[1:]:
            view.reshape(shape[0], 1, *(*shape[2:], 1, 1)[: max(2, len(shape) - 2)])

    def forward(self, bottom: Views, top: Views) -> None:
        a = bottom[0].data
        difference = a - bottom[1].data.reshape(a.shape)
        for view in bottom[2:]:
            difference *= view.data.reshape(a.shape)
        errors, self.slope.data[...] = smooth_l1(self.xp, difference, 1.0)
        own = errors.sum(axis=1)
        top[0].data[...] = own.sum() / self._amount(bottom)
        for view in top[1:]:
            view.data[...] = own.reshape(view.shape)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        weight = self.scaled_weight(top, self._amount(bottom))
        for view, wanted, sign in zip(bottom, propagate_down, (1, -1, 0), strict=False):
            if wanted:
                slope = self.slope.data.reshape(view.shape)
                self.xp.multiply(slope, weight * sign, out=view.diff)

    def _amount(self, bottom: Views) -> float:
        shape = bottom[0].shape
        return self.normalizer((shape[0], shape[1], bottom[0].count_from(2)), None)


@register("BoxAnnotatorOHEM")
class BoxAnnotatorOHEM(Layer):
    """Labels and weights of the regions with the largest losses, of each image ``roi_per_img``.

    Regions (R, 5), losses (R,), labels (R,), weights (R, K) to labels (R, 1, 1, 1) and weights
    (R, K, 1, 1): regions not picked get ``ignore_label`` and weights of 0.  Of equal losses the
    first count.
    """

    bottoms = 4
    tops = 2
    label_bottoms = (0, 1, 2, 3)

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.box_annotator_ohem_param
        self.most, self.ignored = p.roi_per_img, p.ignore_label
        self.check(self.most > 0, f"roi_per_img must be above 0, found {self.most}")

    def reshape(self, bottom: Views, top: Views) -> None:
        count = bottom[0].shape[0]
        self.check(bottom[0].count == 5 * count, f"needs regions (R, 5), found {bottom[0].shape}")
        for view in bottom[1:]:
            self.check(view.shape[0] == count, f"needs {count} rows, found {view.shape}")
        for name, view in (("a loss", bottom[1]), ("a label", bottom[2])):
            self.check(view.count == count, f"needs {name} for each region, found {view.shape}")
        top[0].reshape(count, 1, 1, 1)
        top[1].reshape(count, bottom[3].count_from(1), 1, 1)

    def forward(self, bottom: Views, top: Views) -> None:
        xp, count = self.xp, bottom[0].shape[0]
        images = bottom[0].data.reshape(count, 5)[:, 0]
        order = xp.argsort(-bottom[1].data.reshape(-1), kind="stable")
        # Sorted by image, then by loss: a region's rank is how far behind its image's first it is.
        order = order[xp.argsort(images[order], kind="stable")]
        sorted_images = images[order]
        place = xp.arange(count)
        begins = xp.ones(count, bool)
        begins[1:] = sorted_images[1:] != sorted_images[:-1]
        firsts = place[begins][xp.cumsum(begins) - 1]
        picked = xp.zeros(count, bool)
        picked[order] = place - firsts < self.most
        labels = bottom[2].data.reshape(-1)
        weights = bottom[3].data.reshape(count, bottom[3].count_from(1))
        chosen = xp.where(picked, labels, self.dtype.type(self.ignored))
        top[0].data[...] = chosen.reshape(top[0].shape)
        top[1].data[...] = (weights * picked[:, None]).reshape(top[1].shape)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.check(not any(propagate_down), "has no gradient, but one is asked of it")

    def flops(self, bottom: Views, top: Views) -> int:
        return bottom[3].count
