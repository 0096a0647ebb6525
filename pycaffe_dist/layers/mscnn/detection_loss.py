"""DetectionLoss of MS-CNN: what a map of boxes is to learn."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.loss import Loss
from pycaffe_dist.layers.mscnn.fields import BOX, COORDINATES, OVERLAP, Field, norm_of
from pycaffe_dist.layers.softmax import softmax
from pycaffe_dist.layers.softmax_loss import LEAST
from pycaffe_dist.layers.ssd.smooth_l1_loss import smooth_l1
from pycaffe_dist.rng import generator

FEWEST = 4  # background cells for each class, however few objects there are


@register("DetectionLoss")
class DetectionLoss(Loss):
    """(L, λ·L_box), L = mean w·(−log p[label]) + λ·L_box, L_box the mean of s(t − g) over the
    coordinates of cells with an object;  s: smooth L1 (``bb_smooth``), or a half of the square.

    Bottoms: predictions (N, classes + 4, h, w), labels (N, 6, h, w) of ImageGtData.  Top: (1, 1, 1,
    2); the weight of the loss is for the sum of both, its gradient that of L alone.

    Cells of the background count if no box overlaps their field by ``bg_threshold``, and only some
    of them, for each object ``bg_multiple``: drawn ("random"), those with the largest scores
    ("bootstrap"), half of each ("mixture"), with any other ``sample_mode`` all.  w is 1, or what
    the field overlaps its box (``iou_weighted``); ``pos_neg_weighted`` brings the sums of both
    kinds to 1 : bg_multiple.
    Predictions t are cut off to ±1/field_xyr and ±log field_whr, which their gradient passes.
    With bbox_reg_param t are (shift − mean)/std.
    """

    on_host = True

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        self.param = self.layer_param.detection_loss_param
        self.field = Field(self, self.param)
        norm = norm_of(self, self.layer_param.bbox_reg_param)
        self.mean, self.std = (v.reshape(1, COORDINATES, 1, 1) for v in norm)

    def reshape(self, bottom: Views, top: Views) -> None:
        self.field.check_maps(self, bottom)
        top[0].reshape(1, 1, 1, 2)

    def forward(self, bottom: Views, top: Views) -> None:
        x, labels, p = bottom[0].data, bottom[1].data, self.param
        kinds = self.field.kinds(labels)
        objects = (kinds != 0) & (kinds != self.ignored_label())
        wrong = kinds[objects & ((kinds < 0) | (kinds >= p.cls_num))]
        self.check(not len(wrong), f"a label is none of {p.cls_num} classes: {wrong[:1]}")
        background = self._sampled(x, kinds, labels[:, OVERLAP])
        used = objects | background
        weights = self._weights(objects, background, labels[:, OVERLAP]) * used
        shares, own = self._shares(x[:, : p.cls_num], np.where(used, kinds, 0))
        d = self._differences(x[:, p.cls_num :], labels[:, BOX]) * objects[:, None]
        self.divisors = self._divisors(used, objects)
        losses = -np.log(np.maximum((shares * own).sum(1), LEAST)) * weights
        boxes = smooth_l1(np, d) if p.bb_smooth else d * d / 2
        of_boxes = getattr(p, "lambda") * boxes.sum() / self.divisors[1]
        top[0].data[0, 0, 0] = losses.sum() / self.divisors[0] + of_boxes, of_boxes
        slope = np.clip(d, -1, 1) if p.bb_smooth else d
        self.gradients = (shares - own) * weights[:, None], slope / self.std

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.refuse_label_gradient(propagate_down)
        if propagate_down[0]:
            classes, gx = self.param.cls_num, bottom[0].diff
            weight = top[0].diff.reshape(-1)[0]
            scales = weight, weight * getattr(self.param, "lambda")
            parts = gx[:, :classes], gx[:, classes:]
            for i, (room, scale) in enumerate(zip(parts, scales, strict=True)):
                room[...] = self.gradients[i] * self.dtype.type(scale / self.divisors[i])

    def counts_labels(self) -> bool:
        """It is divided by the number of cells that count."""
        return True

    def _divisors(self, used: Array, objects: Array) -> list[float]:
        """Of the two means: of the whole batch, a P-th of it where it is in P parts."""
        counts = np.array([float(used.sum()), float(objects.sum()) * COORDINATES])
        whole = np.round(self.mean_over_ranks(counts) * self.ranks)
        return [max(1.0, float(count)) / self.ranks for count in whole]

    def _shares(self, scores: Array, kinds: Array) -> tuple[Array, Array]:
        """(N, classes, h, w): the softmax, and which entry is the label's."""
        folded = scores.reshape(*scores.shape[:2], -1)
        shares = np.empty_like(folded)
        softmax(np, folded, out=shares)
        own = kinds[:, None] == np.arange(scores.shape[1]).reshape(1, -1, 1, 1)
        return shares.reshape(scores.shape), own

    def _differences(self, shifts: Array, boxes: Array) -> Array:
        seen = self.field.within(shifts * self.std + self.mean)
        difference: Array = (seen - self.field.encoded(boxes)) / self.std
        return difference

    def _sampled(self, x: Array, kinds: Array, overlaps: Array) -> Array:
        """(N, h, w): the cells of the background that count."""
        mode = self.param.sample_mode
        free = (kinds == 0) & (overlaps < self.param.bg_threshold)
        if mode not in ("random", "bootstrap", "mixture"):
            return free
        part = 0.5 if mode == "mixture" else 1.0
        chosen = np.zeros((len(x), kinds[0].size), bool)
        for i, room in enumerate(chosen):
            multiple = self.param.bg_multiple * part
            if mode != "bootstrap":
                count = max(int((kinds[i] != 0).sum() * multiple), FEWEST * (x.shape[1] - 5))
                room[generator().randint(0, room.size, count)] = True
            room &= free[i].reshape(-1)
            if mode != "random":
                self._hardest(x[i], kinds[i], np.flatnonzero(free[i]), multiple, room)
        return chosen.reshape(free.shape)

    def _hardest(self, x: Array, kinds: Array, free: Array, multiple: float, room: Array) -> None:
        """Of each class the free cells with the largest scores; of equal ones the last."""
        for k in range(1, self.param.cls_num):
            count = max(FEWEST, int((kinds == k).sum() * multiple))
            order = np.argsort(-x[k].reshape(-1)[free][::-1], kind="stable")[:count]
            room[free[::-1][order]] = True

    def _weights(self, objects: Array, background: Array, overlaps: Array) -> Array:
        weights = np.ones(objects.shape, self.dtype)
        if self.param.iou_weighted:
            weights[objects] = overlaps[objects]
        both = weights[objects].sum(), weights[background].sum()
        if self.param.pos_neg_weighted and both[0]:
            part, count = 1 / (1 + self.param.bg_multiple), objects.sum() + background.sum()
            weights[objects] *= part * count / both[0]
            if both[1]:
                weights[background] *= (1 - part) * count / both[1]
        return weights
