"""MultiBoxLoss: what a detector's boxes and their classes are to learn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pycaffe_dist import boxes
from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.loss import Loss
from pycaffe_dist.layers.ssd import matching
from pycaffe_dist.layers.ssd.predictions import Predictions, read_priors
from pycaffe_dist.layers.ssd.smooth_l1_loss import smooth_l1
from pycaffe_dist.proto.caffe_pb2 import LossParameter
from pycaffe_dist.proto.caffe_pb2 import MultiBoxLossParameter as P

LABEL, BOX, DIFFICULT = 1, slice(3, 7), 7  # columns of the truth
SMALLEST = np.finfo(np.float32).tiny


Matched = tuple[tuple[Array, Array], Array, int]  # (priors, locations), errors, image
Labelled = tuple[Array, Array, Array]  # images, priors, classes


@dataclass
class Part:
    """Entries of a bottom that are in the loss, their loss and its gradient."""

    at: tuple[Array, ...]
    loss: float
    gradient: Array


@register("MultiBoxLoss")
class MultiBoxLoss(Loss):
    """(loc_weight·L_loc + L_conf)/M over the priors that are matched with boxes of the truth.

    Bottoms: offsets (N, P·L·4), scores (N, P·K) before any softmax, priors (1, 2, P·4), the truth
    (1, 1, G, 8): image, class, number, xmin, ymin, xmax, ymax, difficult.
    L_loc: SMOOTH_L1 or L2 of the offsets of matched priors against the encoded boxes.
    L_conf: softmax loss, or logistic losses (LOGISTIC), of matched priors and mined negatives, or
    of all priors if nothing is mined (then LOGISTIC has the targets of all images but the first at
    other priors, as SSD has).  M: the matches (VALID), N·P, N or 1.
    A part whose ``propagate_down`` is false counts 0.
    """

    bottoms = 4
    label_bottoms = (2, 3)
    on_host = True

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        p = self.layer_param.multibox_loss_param
        self.check(p.num_classes > 0, "needs num_classes")
        self.mines = p.mining_type != P.NONE
        self.check(
            not p.HasField("do_neg_mining") or p.do_neg_mining == self.mines,
            "do_neg_mining and mining_type contradict each other; leave do_neg_mining out",
        )
        self.check(p.share_location or not self.mines, "mining needs share_location")
        self.check(
            p.conf_loss_type != P.SOFTMAX or p.background_label_id < p.num_classes,
            f"background_label_id must be one of the {p.num_classes} classes",
        )
        self.check(p.mining_type != P.HARD_EXAMPLE or p.sample_size > 0, "needs a sample_size")
        self.counts = [*self.layer_param.propagate_down][:2] or [True, True]

    def reshape(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.multibox_loss_param
        self.shape = Predictions(self, bottom, p.num_classes, p.share_location)
        self.check(
            bottom[3].shape[:2] == (1, 1) and bottom[3].shape[3:] == (8,),
            f"takes a truth of the shape (1, 1, G, 8), found {bottom[3].shape}",
        )
        top[0].reshape()

    # -- forward -------------------------------------------------------------------------------

    def forward(self, bottom: Views, top: Views) -> None:
        p, s = self.layer_param.multibox_loss_param, self.shape
        offsets, scores = s.offsets(bottom[0].data), s.scores(bottom[1].data)
        self.priors, self.variances = read_priors(bottom[2].data)
        truths = self._truths(bottom[3].data[0, 0])
        pieces, where, matches = [], [], 0
        for i, truth in truths.items():
            found, best = self._matches(offsets[i], truth)
            negatives = np.empty(0, np.intp)
            if self.mines:
                negatives = self._mined(found[0], best[0], offsets[i], scores[i], truth)
            pieces.append(self._location(i, offsets[i], found, truth))
            matches += len(pieces[-1][0][0])
            where.append(self._labelled(i, found, negatives, truth))
        self.parts = [self._location_part(pieces), self._class_part(scores, where)]
        self.divisor = self._divisor(matches)
        weights = (p.loc_weight, 1.0)
        top[0].data[...] = sum(
            weight * part.loss / self.divisor
            for weight, part, counts in zip(weights, self.parts, self.counts, strict=True)
            if counts
        )

    def _truths(self, rows: Array) -> dict[int, Array]:
        """The boxes of each image that has any."""
        p = self.layer_param.multibox_loss_param
        rows = rows[rows[:, 0] != -1]
        self.check(
            not (rows[:, LABEL] == p.background_label_id).any(),
            f"the truth has the class {p.background_label_id}, which is the background",
        )
        images = range(self.shape.num)
        for number in rows[~np.isin(rows[:, 0], images), 0]:
            raise self.error(
                f"the truth has a box of image {number:g}; the batch has {len(images)}, numbered "
                "from 0"
            )
        if not p.use_difficult_gt:
            rows = rows[rows[:, DIFFICULT] == 0]
        return {int(i): rows[rows[:, 0] == i] for i in np.unique(rows[:, 0])}

    def _matches(self, offsets: Array, truth: Array) -> tuple[Array, Array]:
        """(L, P): the matches of priors for each location, and their overlaps."""
        p, s = self.layer_param.multibox_loss_param, self.shape
        if p.use_prior_for_matching:
            found, best = matching.match(p, truth[:, BOX], self.priors)
            if p.share_location:
                return found[None], best[None]
            label = np.append(truth[:, LABEL], -1)[np.maximum(found, -1)]  # of none: of no class
            per_class = np.where(label == np.arange(s.locations)[:, None], found, matching.NONE)
            return per_class, np.tile(best, (s.locations, 1))
        results = []
        for c in range(s.locations):
            mine = np.arange(len(truth))
            if not p.share_location:
                own = (truth[:, LABEL] == c) & (c != p.background_label_id)
                mine = np.flatnonzero(own)
            found, best = matching.match(p, truth[mine, BOX], self._placed(offsets[:, c]))
            boxes_of = np.append(mine, 0)[np.maximum(found, -1)]
            results.append((np.where(found >= 0, boxes_of, found), best))
        matches, overlaps = zip(*results, strict=True)
        return np.array(matches), np.array(overlaps)

    def _placed(self, offsets: Array) -> Array:
        p = self.layer_param.multibox_loss_param
        spread = None if p.encode_variance_in_target else self.variances
        return boxes.decode(p.code_type, self.priors, spread, offsets)

    def _mined(
        self, found: Array, best: Array, offsets: Array, scores: Array, truth: Array
    ) -> Array:
        p = self.layer_param.multibox_loss_param
        label = truth[np.maximum(found, 0), LABEL]
        label = np.where(found >= 0, label, p.background_label_id).astype(int)
        self._check_labels(label)
        loss = self._class_losses(scores, self._one_hot(label))[0]
        if p.mining_type == P.HARD_EXAMPLE:
            (priors, _), difference, _ = self._location(0, offsets, found[None], truth)
            loss[priors] += self._distance(difference).sum(1)
        placed = self.priors if p.use_prior_for_nms else self._placed(offsets[:, 0])
        return matching.mine(p, found, best, loss, placed)

    # -- the two losses ------------------------------------------------------------------------

    def _location(self, image: int, offsets: Array, found: Array, truth: Array) -> Matched:
        """Of an image: the (priors, locations) that are matched, their errors, and its number."""
        p = self.layer_param.multibox_loss_param
        location, prior = np.nonzero(found >= 0)
        box = truth[found[location, prior], BOX]
        near, spread = self.priors[prior], self.variances[prior]
        target = boxes.encode(p.code_type, near, None, box)
        given = offsets[prior, location]
        if not p.encode_variance_in_target:
            target = target / spread
        difference = given - target
        if p.bp_inside:
            own = near if p.use_prior_for_matching else self._placed_at(given, prior)
            difference[(own < 0) | (own > 1)] = 0
        if p.encode_variance_in_target:
            difference = difference / spread
        return (prior, location), difference, image

    def _placed_at(self, given: Array, prior: Array) -> Array:
        p = self.layer_param.multibox_loss_param
        spread = None if p.encode_variance_in_target else self.variances[prior]
        return boxes.decode(p.code_type, self.priors[prior], spread, given)

    def _distance(self, d: Array) -> Array:
        squared = self.layer_param.multibox_loss_param.loc_loss_type == P.L2
        return d * d / 2 if squared else smooth_l1(np, d)

    def _location_part(self, pieces: list[Matched]) -> Part:
        p = self.layer_param.multibox_loss_param
        none = np.empty(0, int)
        images = [np.full(len(where[0]), i) for where, _, i in pieces]
        at = [np.concatenate([none, *images])]
        for k in (0, 1):
            at.append(np.concatenate([none, *(where[k] for where, _, _ in pieces)]))
        d = np.concatenate([d for _, d, _ in pieces] or [np.zeros((0, 4), self.dtype)])
        gradient = d if p.loc_loss_type == P.L2 else np.clip(d, -1, 1)
        return Part(tuple(at), float(self._distance(d).sum()), gradient * p.loc_weight)

    def _labelled(self, image: int, found: Array, negatives: Array, truth: Array) -> Labelled:
        """Of an image: the priors whose class counts or is not background, and their classes."""
        p = self.layer_param.multibox_loss_param
        location, prior = np.nonzero(found >= 0)
        label = truth[found[location, prior], LABEL].astype(int)
        if p.map_object_to_agnostic:
            label[:] = p.background_label_id + 1
        self._check_labels(label)
        prior = np.concatenate([prior, negatives])
        label = np.concatenate([label, np.full(len(negatives), p.background_label_id)])
        return np.full(len(prior), image), prior, label

    def _check_labels(self, label: Array) -> None:
        classes = self.shape.classes
        wrong = label[(label < 0) | (label >= classes)]
        self.check(not len(wrong), f"the truth has a class that is none of {classes}: {wrong[:1]}")

    def _class_part(self, scores: Array, where: list[Labelled]) -> Part:
        p, s = self.layer_param.multibox_loss_param, self.shape
        empty = np.empty(0, int)
        image, prior, label = (np.concatenate([w[k] for w in where] or [empty]) for k in (0, 1, 2))
        hot = self._one_hot(label)
        if not self.mines:
            hot = self._hot_everywhere(image, prior, label)
            image, prior = (a.reshape(-1) for a in np.indices((s.num, s.priors)))
        # SSD fills its logistic targets with the number of the background, which is 0 as a rule.
        losses, gradient = self._class_losses(scores[image, prior], hot, p.background_label_id)
        return Part((image, prior), float(losses.sum()), gradient)

    def _one_hot(self, label: Array) -> Array:
        hot: Array = label[:, None] == np.arange(self.shape.classes)
        return hot

    def _hot_everywhere(self, image: Array, prior: Array, label: Array) -> Array:
        """(N·P, K): which class each prior of the batch is to have, where nothing is mined."""
        p, s = self.layer_param.multibox_loss_param, self.shape
        if p.conf_loss_type == P.SOFTMAX:
            labels = np.full((s.num, s.priors), p.background_label_id)
            labels[image, prior] = label
            return self._one_hot(labels.reshape(-1))
        # SSD's pointer to logistic targets goes on by P for each image, in place of P·K: from the
        # second image on they are those of other priors.  Nets were trained with that.
        hot = np.zeros(s.num * s.priors * s.classes, bool)
        hot[image * s.priors + prior * s.classes + label] = True
        return hot.reshape(-1, s.classes)

    def _class_losses(self, scores: Array, hot: Array, other: float = 0) -> tuple[Array, Array]:
        """The loss of each row of scores, and its gradient; ``other`` is LOGISTIC's target of the
        classes that are not ``hot``.
        """
        p = self.layer_param.multibox_loss_param
        if p.conf_loss_type == P.SOFTMAX:
            shifted = np.exp(scores - scores.max(1, keepdims=True, initial=-np.inf))
            shares = shifted / shifted.sum(1, keepdims=True)
            own = shares[hot]
            return -np.log(np.maximum(own, SMALLEST)), shares - hot
        target = np.where(hot, 1, other).astype(scores.dtype)
        size = np.exp(-np.abs(scores))
        losses = np.maximum(scores, 0) - scores * target + np.log1p(size)
        sigmoid = np.where(scores >= 0, 1, size) / (1 + size)
        return losses.sum(1), sigmoid - target

    def _divisor(self, matches: int) -> float:
        """Of the whole batch, a P-th of it where it is in P parts whose losses are averaged."""
        mode, s = self.normalization(), self.shape
        if self.counts_labels():
            matches = round(float(self.mean_over_ranks(np.array([float(matches)]))[0] * self.ranks))
        sizes = {
            int(LossParameter.FULL): self.ranks * s.num * s.priors,
            int(LossParameter.BATCH_SIZE): self.ranks * s.num,
            int(LossParameter.VALID): matches,
            int(LossParameter.NONE): 1,
        }
        self.check(mode in sizes, "this normalization is not one of MultiBoxLoss")
        return max(1, sizes[mode]) / self.ranks

    def counts_labels(self) -> bool:
        """Whether it is divided by the number of matches."""
        return self.normalization() == LossParameter.VALID

    # -- backward ------------------------------------------------------------------------------

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.refuse_label_gradient(propagate_down)
        scale = self.scaled_weight(top, self.divisor)
        rooms = self.shape.offsets, self.shape.scores
        for i, part in enumerate(self.parts):
            if propagate_down[i]:
                room = rooms[i](bottom[i].diff)
                room[...] = 0
                room[part.at] = part.gradient * scale
