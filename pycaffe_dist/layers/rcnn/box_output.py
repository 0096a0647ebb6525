"""BoxOutput of MS-CNN: proposals from the heads of several scales."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Views
from pycaffe_dist.boxes import nms
from pycaffe_dist.layer import register
from pycaffe_dist.layers.mscnn.fields import COORDINATES, norm_of
from pycaffe_dist.layers.without_gradient import WithoutGradient

NOBODY = (0, 1, 1, 10, 10)  # the region where no box is found


@register("BoxOutput")
class BoxOutput(WithoutGradient):
    """Boxes of all scales that score well and do not overlap a better one by more than iou_thr.

    Each bottom (N, classes + 4, h, w): scores, background first, then shifts (dx, dy, log w, log h)
    of a field ``field_w`` × ``field_h`` around every cell, ``downsample_rate`` pixels apart.
    A box scores its best class less the background, at least ``fg_thr``; its sides are at least
    ``min_size``.  At most ``max_nms_num`` of an image are looked at, ``max_post_nms_num`` kept.
    Tops: regions (R, 5, 1, 1) and, if wanted, the same with their scores (R, 6, 1, 1).
    """

    bottoms = (1, None)
    tops = (1, 2)
    on_host = True

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.box_output_param
        for name in ("field_w", "field_h", "downsample_rate"):
            self.check(
                len(getattr(p, name)) == len(bottom),
                f"needs a {name} for each of {len(bottom)} bottoms, found {len(getattr(p, name))}",
            )
        self.check(p.nms_type == "IOU", f'knows only nms_type "IOU", not "{p.nms_type}"')
        self.mean, self.std = norm_of(self, self.layer_param.bbox_reg_param)

    def reshape(self, bottom: Views, top: Views) -> None:
        first = bottom[0].shape
        for view in bottom:
            shape = view.shape
            self.check(
                len(shape) == 4 and shape[:2] == first[:2] and shape[1] > COORDINATES + 1,
                f"needs bottoms (N, classes + {COORDINATES}, h, w), found {shape}",
            )
        self._shape(top, 1)

    def forward(self, bottom: Views, top: Views) -> None:
        data = [view.data for view in bottom]
        found = [self.propose([x[i] for x in data], i) for i in range(len(data[0]))]
        rows = np.concatenate(found)
        self._shape(top, max(1, len(rows)))
        top[0].data[..., 0, 0] = rows[:, :5] if len(rows) else NOBODY
        for view in top[1:]:
            view.data[..., 0, 0] = rows if len(rows) else 0

    def propose(self, maps: list[Array], image: int) -> Array:
        """(R, 6): image, x1, y1, x2, y2, score of one image, the best first."""
        p = self.layer_param.box_output_param
        parts = [self.candidates(x, i) for i, x in enumerate(maps)]
        boxes, scores = (np.concatenate(part) for part in zip(*parts, strict=True))
        large = (boxes[:, 2:] - boxes[:, :2] >= p.min_size).all(axis=1) & (scores >= p.fg_thr)
        boxes, scores = boxes[large], scores[large]
        order = np.argsort(-scores, kind="stable")[: p.max_nms_num or None]
        kept = order[nms(boxes[order], p.iou_thr, most=p.max_post_nms_num or None)]
        head = np.full((len(kept), 1), image)
        return np.concatenate([head, boxes[kept], scores[kept, None]], axis=1).astype(self.dtype)

    def candidates(self, x: Array, which: int) -> tuple[Array, Array]:
        """Boxes (h·w, 4) and scores (h·w,) of a bottom's cells."""
        p = self.layer_param.box_output_param
        field = np.array([p.field_w[which], p.field_h[which]], self.dtype)
        rate, (_, h, w) = p.downsample_rate[which], x.shape
        scores, shifts = x[:-COORDINATES], x[-COORDINATES:].transpose(1, 2, 0)
        shifts = shifts * self.std + self.mean
        cells = np.stack(np.meshgrid(np.arange(w), np.arange(h)), axis=2)
        near = np.clip(shifts[..., :2], -1 / p.field_xyr, 1 / p.field_xyr)
        size = np.exp(np.clip(shifts[..., 2:], -np.log(p.field_whr), np.log(p.field_whr))) * field
        first = np.maximum(near * field + (cells + 0.5) * rate - size / 2, 0)
        last = np.minimum(first + size, np.array([w * rate, h * rate]))
        boxes = np.concatenate([first, last], axis=2).reshape(-1, COORDINATES).astype(self.dtype)
        return boxes, (scores[1:].max(axis=0) - scores[0]).reshape(-1)

    def flops(self, bottom: Views, top: Views) -> int:
        return sum(4 * view.count for view in bottom)

    def _shape(self, top: Views, count: int) -> None:
        for view, columns in zip(top, (5, 6), strict=False):
            view.reshape(count, columns, 1, 1)
