"""ProposalTarget of MS-CNN: the regions that are learned from."""

from __future__ import annotations

import numpy as np

from pycaffe_dist import boxes
from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.mscnn.fields import COORDINATES, norm_of
from pycaffe_dist.layers.rcnn.targets import Target, encoded
from pycaffe_dist.rng import generator

LABEL, IGNORED = 5, 6  # columns of the truth behind image, x1, y1, x2, y2
LEAST_SIDE = 32  # of regions that are drawn
TRIALS = 100
NO_BOX = -1


@register("ProposalTarget")
class ProposalTarget(Target):
    """``batch_size`` regions, their classes and boxes, from proposals (R, 5) and the truth (G, 7):
    image, x1, y1, x2, y2, class, whether it is ignored.

    Tops, with ones behind: regions (B, 5), classes (B,), shifts to their boxes (B, 4K) in the
    columns of the class, inner and outer weights (B, 4K), 1 in those columns, the boxes (B, 6):
    class, corners, overlap; and, if wanted, weights (B,) for the loss of the classes.

    The boxes of the truth are regions too.  A region is an object if it overlaps one by ``fg_thr``,
    unless that is ignored; of those a ``fg_fraction`` of the batch is drawn.  Others are background
    from ``bg_thr_lw`` to below ``bg_thr_hg``, drawn; if they are too few, the first of the rest,
    then random ones of an image of ``img_width`` × ``img_height``.
    """

    bottoms = 2
    tops = (6, 7)
    label_bottoms = (0, 1)

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.param = self.layer_param.proposal_target_param
        self.check(p.cls_num > 1 and p.batch_size > 0, "needs a cls_num above 1 and a batch_size")
        self.check(0 <= p.fg_fraction <= 1, f"fg_fraction is 0 to 1, not {p.fg_fraction:g}")
        self.check(
            p.fg_thr > p.bg_thr_hg,
            f"fg_thr must be above bg_thr_hg, found {p.fg_thr:g} and {p.bg_thr_hg:g}",
        )
        self.mean, self.std = norm_of(self, self.layer_param.bbox_reg_param)

    def reshape(self, bottom: Views, top: Views) -> None:
        for view, columns in zip(bottom, (5, 7), strict=True):
            self.check(
                view.count_from(1) == columns, f"needs rows of {columns}, found {view.shape}"
            )
        all_columns = COORDINATES * self.param.cls_num
        sizes = (5, 1, all_columns, all_columns, all_columns, 6, 1)
        for view, size in zip(top, sizes, strict=False):
            view.reshape(self.param.batch_size, size, 1, 1)

    def forward(self, bottom: Views, top: Views) -> None:
        given, truth = (view.data.reshape(view.shape[0], -1) for view in bottom)
        labels = truth[:, LABEL]
        self.check(
            bool(((labels > 0) & (labels < self.param.cls_num)).all()),
            f"a box of the truth is of no class from 1 to {self.param.cls_num - 1}",
        )
        regions = np.concatenate([given, truth[:, :5]])
        overlaps = overlaps_of(regions, truth)
        best = overlaps.max(1, initial=0)
        match = overlaps.argmax(1) if len(truth) else np.full(len(regions), NO_BOX)
        objects, others = self._chosen(best, match, truth)
        more = self.param.batch_size - len(objects) - len(others)
        kept = np.concatenate([regions[objects], regions[others], self._drawn(more, truth)])
        for view in top:
            view.data[...] = 0
        top[0].data[..., 0, 0] = kept
        if len(objects):
            self._objects(top, kept, truth[match[objects]], best[objects])
        for view in top[6:]:
            view.data[:, 0, 0, 0] = self._weights(len(objects), best[objects])

    def _chosen(self, best: Array, match: Array, truth: Array) -> tuple[Array, Array]:
        """The numbers of the regions with objects and of the others, as far as there are any."""
        p = self.param
        near = best >= p.fg_thr
        ignored = np.append(truth[:, IGNORED], 0)[match] != 0
        objects = self.some(np.flatnonzero(near & ~ignored), self._most_objects())
        room = p.batch_size - len(objects)
        good = ~near & (best >= p.bg_thr_lw) & (best < p.bg_thr_hg)
        others = self.some(np.flatnonzero(good), room)
        rest = np.flatnonzero(~near & ~good)[: room - len(others)]
        return objects, np.concatenate([others, rest])

    def _most_objects(self) -> int:
        return int(np.floor(self.param.fg_fraction * self.param.batch_size + 0.5))

    def _drawn(self, count: int, truth: Array) -> Array:
        """(count, 5): random regions that overlap no box by ``fg_thr``."""
        found = np.zeros((0, 5), self.dtype)
        size = np.array([self.param.img_width, self.param.img_height])
        self.check(
            count == 0 or bool((size > LEAST_SIDE).all()),
            f"has {count} regions too few: give img_width and img_height above {LEAST_SIDE}",
        )
        random = generator()
        for _ in range(TRIALS):
            missing = count - len(found)
            if not missing:
                return found
            first = np.floor(random.random_sample((missing, 2)) * (size - LEAST_SIDE))
            side = np.floor(random.random_sample((missing, 2)) * (size - first))
            last = first + np.maximum(side, LEAST_SIDE) - 1
            image = random.randint(0, max(1, self.param.num_img_per_batch), (missing, 1))
            new = np.concatenate([image, first, last], axis=1).astype(self.dtype)
            fine = overlaps_of(new, truth).max(1, initial=0) < self.param.fg_thr
            found = np.concatenate([found, new[fine]])
        raise self.error(f"no region of {TRIALS} overlaps all boxes by less than fg_thr")

    def _objects(self, top: Views, kept: Array, matched: Array, overlaps: Array) -> None:
        rows, labels = np.arange(len(matched)), matched[:, LABEL].astype(int)
        top[1].data[rows, 0, 0, 0] = labels
        shifts = (encoded(kept[rows, 1:], matched[:, 1:5]) - self.mean) / self.std
        for view, values in zip(top[2:5], (shifts, 1, 1), strict=True):
            view.data.reshape(len(kept), -1, COORDINATES)[rows, labels] = values
        boxed = np.concatenate([labels[:, None], matched[:, 1:5], overlaps[:, None]], axis=1)
        top[5].data[rows, :, 0, 0] = boxed

    def _weights(self, count: int, overlaps: Array) -> Array:
        """(B,): of the classes' loss; objects together have ``fg_fraction`` of it."""
        weights, share = np.ones(self.param.batch_size), self.param.fg_fraction
        if self.param.iou_weighted:
            weights[:count] = overlaps
        if count:
            for part, own in ((weights[:count], share), (weights[count:], 1 - share)):
                part *= own * len(weights) / max(part.sum(), np.finfo(float).tiny)
        return weights


def overlaps_of(regions: Array, truth: Array) -> Array:
    """(R, G): of regions and boxes, 0 where they are of different images."""
    found = boxes.iou(regions[:, 1:5], truth[:, 1:5], pixel=1)
    return np.where(regions[:, :1] == truth[:, 0], found, 0)
