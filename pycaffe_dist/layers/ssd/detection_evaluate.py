"""DetectionEvaluate: which detections are right, for the average precision of a test."""

from __future__ import annotations

import numpy as np

from pycaffe_dist import boxes
from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.ssd.image_sizes import ImageSizes


@register("DetectionEvaluate")
class DetectionEvaluate(Layer):
    """Detections (1, 1, M, 7) against the truth (1, 1, G, 8), as DetectionOutput and AnnotatedData
    give them.

    Top (1, 1, R, 5): for each class but the background −1, class, boxes in truth, −1, −1; then for
    each detection, by image and class, and by score where the truth has that class: image, class,
    score, right, wrong.  A detection is right if no better one of its class has the same box of the
    truth as its best, which it overlaps by ``overlap_threshold``.  Where that box is difficult and
    does not count, it is neither.
    """

    bottoms = 2
    on_host = True

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.detection_evaluate_param
        self.check(p.num_classes > 0, "needs num_classes")
        self.check(p.overlap_threshold > 0, "overlap_threshold must be above 0")
        resize = p.resize_param if p.HasField("resize_param") else None
        self.sizes = ImageSizes(p.name_size_file, resize)
        self.image, self.remembers = 0, self.sizes.known  # images are told by their order

    def reshape(self, bottom: Views, top: Views) -> None:
        for view, width in zip(bottom, (7, 8), strict=True):
            self.check(
                view.shape[:2] == (1, 1) and view.shape[3:] == (width,),
                f"takes a bottom of the shape (1, 1, n, {width}), found {view.shape}",
            )
        p = self.layer_param.detection_evaluate_param
        classes = p.num_classes - (p.background_label_id < p.num_classes)
        top[0].reshape(1, 1, classes + bottom[0].shape[2], 5)

    def forward(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.detection_evaluate_param
        found, truth = bottom[0].data[0, 0], bottom[1].data[0, 0]
        truth = truth[np.logical_and.accumulate(truth[:, 0] != -1)]  # SSD stops at the first −1
        found = found[found[:, 0] != -1]
        images = np.unique(found[:, 0])  # also those where nothing was found: rows of class −1
        found = found[found[:, 1] != -1]
        self._refuse_background(truth, "the truth")
        self._refuse_background(found, "a detection")
        counted = np.ones(len(truth), bool) if p.evaluate_difficult_gt else truth[:, 7] == 0
        rows = [self._positives(truth[counted, 1])]
        for image in images:
            self._one_image(found[found[:, 0] == image], truth, counted, rows)
        table = np.concatenate(rows)
        top[0].reshape(1, 1, len(table), 5)
        top[0].data[0, 0] = table

    def _refuse_background(self, rows: Array, what: str) -> None:
        background = self.layer_param.detection_evaluate_param.background_label_id
        self.check(
            not (rows[:, 1] == background).any(),
            f"{what} has the class {background}, which is the background",
        )

    def _positives(self, classes: Array) -> Array:
        p = self.layer_param.detection_evaluate_param
        labels = np.arange(p.num_classes)
        counts = (classes == labels[:, None]).sum(1)
        none = np.full(p.num_classes, -1)
        rows: Array = np.stack([none, labels, counts, none, none], 1).astype(float)
        return rows[labels != p.background_label_id, :]

    def _one_image(self, found: Array, truth: Array, counted: Array, rows: list[Array]) -> None:
        for label in np.unique(found[:, 1]):
            of_class = (truth[:, 0] == found[0, 0]) & (truth[:, 1] == label)
            own = found[found[:, 1] == label]
            if of_class.any():  # else all are wrong, and SSD leaves them as they come
                own = own[np.argsort(-own[:, 2], kind="stable")]
            right, wrong = self._verdicts(own[:, 3:], truth[of_class, 3:7], counted[of_class])
            rows.append(np.concatenate([own[:, [0, 1, 2]], right[:, None], wrong[:, None]], 1))
        self.image += 1

    def _verdicts(self, found: Array, truth: Array, counted: Array) -> tuple[Array, Array]:
        """Which of the sorted detections are right, and which are wrong."""
        pixel = int(self.sizes.known)
        found, truth = (self.sizes.to_pixels(b, self.image) for b in (found, truth))
        threshold = self.layer_param.detection_evaluate_param.overlap_threshold
        return boxes.verdicts(found, truth, counted, np.float32(threshold), pixel)

    def flops(self, bottom: Views, top: Views) -> int:
        return bottom[0].count
