"""DetectionOutput: boxes out of a detector's predictions."""

from __future__ import annotations

import numpy as np

from pycaffe_dist import boxes
from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.ssd.predictions import Predictions, read_priors
from pycaffe_dist.layers.ssd.save_output import SaveOutput

CORNERS = (0, 1, 2, 1, 2, 3, 0, 3)  # of a box, clockwise from the upper left, by its values
LEAST = np.finfo(np.float32).min  # the threshold where none is given


@register("DetectionOutput")
class DetectionOutput(Layer):
    """Decodes the boxes, drops those that better ones of their class overlap, keeps the best.

    Bottoms: offsets (N, P·L·4) with L = 1 or the classes, probabilities (N, P·K), priors
    (1, 2, P·4).  Top (1, 1, M, 7): image, class, probability, xmin, ymin, xmax, ymax, by image,
    class and probability.  If no image has any, M = N rows of −1 behind the image's number.

    A fourth bottom of RefineDet has the probabilities (N, P·2) of an earlier stage: priors with one
    below ``objectness_score`` are background.  A fifth has its offsets, by which priors are moved.
    Pictures are not drawn: ``visualize`` only says that the fourth bottom is an image.

    ``use_polygon`` (TextBoxes++): offsets (N, P·L·12), 4 of a box and 8 of the corners of a
    quadrilateral, x and y in turn, clockwise from the upper left: the prior's corner + offset ·
    variance · the prior's width or height.  Rows of the top have 15 values, with the corners last.

    ``normalized_bbox: false`` (OpenCV): priors are in pixels and include the last, as in R-CNN.
    With ``variance_encoded_in_target`` priors may come without variances, (1, 1, P·4).
    """

    bottoms = (3, 5)
    on_host = True

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.detection_output_param
        self.check(p.num_classes > 0, "needs num_classes")
        self.check(
            not (p.share_location and p.background_label_id == -1),
            "share_location needs a background_label_id of 0 or more",
        )
        self.check(p.nms_param.nms_threshold >= 0, "nms_threshold must not be below 0")
        self.check(0 < p.nms_param.eta <= 1, "eta must be above 0 and at most 1")
        self.variances = not p.variance_encoded_in_target
        self.pixel = 0 if p.normalized_bbox else 1
        self.corners = 8 if p.use_polygon else 0
        self.check(
            not p.use_polygon or (p.code_type == boxes.CENTER_SIZE and self.variances),
            "use_polygon goes with code_type CENTER_SIZE, and without variance_encoded_in_target",
        )
        given = p.HasField("confidence_threshold")
        self.threshold = np.float32(p.confidence_threshold) if given else LEAST
        self.top_k = p.nms_param.top_k if p.nms_param.HasField("top_k") else -1
        self.earlier = list(bottom[3:]) if not p.visualize else []
        self.saved = SaveOutput(self, p.save_output_param, p.background_label_id)
        self.remembers = self.saved.on

    def reshape(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.detection_output_param
        self.shape = Predictions(
            self,
            bottom,
            p.num_classes,
            p.share_location,
            values=4 + self.corners,
            with_variances=self.variances,
        )
        top[0].reshape(1, 1, 1, 7 + self.corners)

    def forward(self, bottom: Views, top: Views) -> None:
        s = self.shape
        offsets, scores = s.offsets(bottom[0].data), s.scores(bottom[1].data)
        priors, spread = read_priors(bottom[2].data)
        variances = spread if self.variances else None
        found = []
        for i in range(s.num):
            likely, near = self._refined(i, scores[i], priors, variances)
            found.append(self._one_image(i, offsets[i], likely, near, variances))
        rows = np.concatenate(found)
        if not len(rows):
            rows = np.full((s.num, 7 + self.corners), -1.0)
            rows[:, 0] = np.arange(s.num)
        top[0].reshape(1, 1, *rows.shape)
        top[0].data[0, 0] = rows
        self.saved.add(rows[:, :7], s.num)

    def _refined(
        self, i: int, scores: Array, priors: Array, variances: Array | None
    ) -> tuple[Array, Array]:
        """The scores and priors of an image after RefineDet's earlier stage, if there is one."""
        p = self.layer_param.detection_output_param
        if len(self.earlier) > 0:
            objects = self.earlier[0].data.reshape(self.shape.num, -1, 2)[i, :, 1]
            nothing = np.eye(1, p.num_classes, dtype=scores.dtype)
            scores = np.where(objects[:, None] < p.objectness_score, nothing, scores)
        if len(self.earlier) > 1:
            moved = self.earlier[1].data.reshape(self.shape.num, -1, 4)[i]
            priors = boxes.decode(p.code_type, priors, variances, moved, self.pixel)
        return scores, priors

    def _one_image(
        self, image: int, offsets: Array, scores: Array, priors: Array, variances: Array | None
    ) -> Array:
        """The rows of an image: (m, 7), or (m, 15) with the corners of polygons."""
        p = self.layer_param.detection_output_param
        found = [np.zeros((0, 7 + self.corners))]
        by_class = np.ascontiguousarray(scores.T)
        if p.share_location:
            shared = offsets[:, 0, :4]
            everywhere = boxes.decode(p.code_type, priors, variances, shared, self.pixel)
        for c in range(p.num_classes):
            if c == p.background_label_id:
                continue
            likely = self._candidates(by_class[c])
            if p.share_location:
                placed = everywhere[likely]
            else:
                spread = None if variances is None else variances[likely]
                own = offsets[likely, c, :4]
                placed = boxes.decode(p.code_type, priors[likely], spread, own, self.pixel)
            kept = boxes.nms(placed, p.nms_param.nms_threshold, p.nms_param.eta, self.pixel)
            which = likely[kept]
            rows = np.empty((len(kept), 7 + self.corners))
            rows[:, 0], rows[:, 1], rows[:, 2] = image, c, by_class[c, which]
            rows[:, 3:7] = placed[kept]
            if self.corners and variances is not None:
                own = offsets[which, 0 if p.share_location else c, 4:]
                rows[:, 7:] = _polygons(priors[which], variances[which], own)
            found.append(rows)
        rows = np.concatenate(found)
        if -1 < p.keep_top_k < len(rows):
            best = np.argsort(-rows[:, 2], kind="stable")[: p.keep_top_k]
            rows = rows[np.sort(best)]
        return rows

    def _candidates(self, scores: Array) -> Array:
        """The indices of the scores above the threshold, best first, at most ``top_k``."""
        likely = np.flatnonzero(scores > self.threshold)  # none that is no number
        if -1 < self.top_k < len(likely):  # sorting those is less work, of equals all stay
            least = -np.partition(-scores[likely], self.top_k)[self.top_k]
            likely = likely[scores[likely] >= least]
        likely = likely[np.argsort(-scores[likely], kind="stable")]
        return likely[: self.top_k] if self.top_k > -1 else likely

    def flops(self, bottom: Views, top: Views) -> int:
        return bottom[0].count + bottom[1].count


def _polygons(priors: Array, variances: Array, offsets: Array) -> Array:
    """(m, 8): the corners of priors, moved by offsets in parts of the priors' sizes."""
    size = priors[:, 2:] - priors[:, :2]
    moved = offsets.reshape(-1, 4, 2) * variances[:, None, :2] * size[:, None]
    corners = priors[:, CORNERS]
    polygons: Array = corners + moved.reshape(-1, 8)
    return polygons
