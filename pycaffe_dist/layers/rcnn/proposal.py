"""Proposal of Faster R-CNN: from scores and shifts of anchors to regions of interest."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pycaffe_dist.aliases import Array, DType
from pycaffe_dist.blob import Views
from pycaffe_dist.boxes import nms
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.without_gradient import WithoutGradient
from pycaffe_dist.proto.caffe_pb2 import AnchorTargetParameter, LayerParameter, ProposalParameter

Make = Callable[[int, Sequence[float], Sequence[float]], Array]

RATIOS, SCALES = (0.5, 1.0, 2.0), (8.0, 16.0, 32.0)


@register("Proposal")
class Proposal(WithoutGradient):
    """The best boxes that a region proposal network finds, as regions (R, 5) for a ROIPooling.

    Probabilities (N, 2A, h, w), background before object, shifts (N, 4A, h, w) of A anchors, and
    for each image height, width, scale (or its two scales).  Tops: regions and, if wanted, their
    probabilities (R,).

    Anchors of every ratio and scale stand ``feat_stride`` pixels apart; they are shifted and cut
    off at the image's edges.  A box smaller than ``min_size`` scaled pixels counts as one of
    probability 0.  Of each image's ``pre_nms_topn`` best those stay that overlap no better one by
    more than ``nms_thresh``, at most ``post_nms_topn``.
    """

    bottoms = 3
    tops = (1, 2)
    label_bottoms = (2,)
    on_host = True

    def setup(self, bottom: Views, top: Views) -> None:
        self.anchors = checked_anchors(self, self.layer_param.proposal_param, self.make_anchors)

    def make_anchors(self, base: int, ratios: Sequence[float], scales: Sequence[float]) -> Array:
        return anchors(base, ratios, scales)

    def reshape(self, bottom: Views, top: Views) -> None:
        scores, shifts, info = (view.shape for view in bottom)
        count = len(self.anchors)
        self.check(len(scores) == 4, f"needs probabilities (N, 2A, h, w), found {scores}")
        self.check(
            scores[1] == 2 * count and shifts == (scores[0], 4 * count, *scores[2:]),
            f"{count} anchors need probabilities (N, {2 * count}, h, w) and shifts "
            f"(N, {4 * count}, h, w), found {scores} and {shifts}",
        )
        self.check(
            info[0] == scores[0] and bottom[2].count_from(1) in (3, 4),
            f"needs height, width and scale of each of {scores[0]} images, found {info}",
        )
        self._shape(top, self.layer_param.proposal_param.post_nms_topn)

    def forward(self, bottom: Views, top: Views) -> None:
        scores, shifts, infos = (view.data for view in bottom)
        found = [
            self.propose(score[len(self.anchors) :], shift, info)
            for score, shift, info in zip(
                scores, shifts, infos.reshape(len(scores), -1), strict=True
            )
        ]
        rows = [np.insert(boxes, 0, i, axis=1) for i, (boxes, _) in enumerate(found)]
        self._shape(top, sum(map(len, rows)))
        top[0].data[...] = np.concatenate(rows)
        for view in top[1:]:
            view.data[...] = np.concatenate([kept for _, kept in found])

    def propose(self, scores: Array, shifts: Array, info: Array) -> tuple[Array, Array]:
        """Boxes (R, 4) of one image and their probabilities (R,), the best first."""
        p = self.layer_param.proposal_param
        places = grid(self.anchors, p.feat_stride, scores.shape[1:], self.dtype)
        boxes = shifted(places, shifts.reshape(-1, 4, *shifts.shape[1:]))
        height, width, *scale = info
        boxes[:, 0::2] = np.clip(boxes[:, 0::2], 0, width - 1)
        boxes[:, 1::2] = np.clip(boxes[:, 1::2], 0, height - 1)
        least = p.min_size * np.array([scale[-1], scale[0]], self.dtype)
        large = (boxes[:, 2:] - boxes[:, :2] + 1 >= least).all(axis=1)
        probabilities = scores.transpose(1, 2, 0).reshape(-1) * large
        best = np.argsort(-probabilities, kind="stable")[: p.pre_nms_topn]
        kept = nms(boxes[best], p.nms_thresh, pixel=1, most=p.post_nms_topn)
        return boxes[best][kept], probabilities[best][kept]

    def flops(self, bottom: Views, top: Views) -> int:
        return 10 * bottom[1].count

    def _shape(self, top: Views, count: int) -> None:
        top[0].reshape(count, 5)
        for view in top[1:]:
            view.reshape(count)


def _in_pixels(param: LayerParameter) -> bool:
    p = param.proposal_param
    return bool(p.scale) and min(p.scale) > p.base_size


@register(
    "Proposal",
    dialect="happynear",
    when=_in_pixels,
    why="every scale is larger than base_size, so it is a size in pixels",
)
class PixelProposal(Proposal):
    """Proposal of happynear's fork: a ``scale`` is the side of a square anchor, in pixels.

    An anchor of the ratio r is scale/√r wide and that times r high, both rounded.
    """

    def make_anchors(self, base: int, ratios: Sequence[float], scales: Sequence[float]) -> Array:
        width = np.sqrt(1 / np.array(ratios, np.float64))[:, None] * np.array(scales, np.float64)
        height = width * np.array(ratios, np.float64)[:, None]
        sides = np.stack([width, height], axis=2).reshape(-1, 2)
        half = np.floor(sides - 0.5) / 2
        middle = (base - 1) / 2
        return np.concatenate([middle - half, middle + half], axis=1)


def checked_anchors(
    layer: Layer, p: ProposalParameter | AnchorTargetParameter, make: Make | None = None
) -> Array:
    """The anchors of a layer's settings, which have to make sense."""
    layer.check(p.feat_stride > 0, "feat_stride must be above 0")
    layer.check(p.base_size > 0, f"base_size must be above 0, found {p.base_size}")
    for name, values in (("ratio", p.ratio), ("scale", p.scale)):
        fit = all(0 < v < np.inf for v in values)
        layer.check(fit, f"each {name} must be above 0 and finite, found {[*values]}")
    return (make or anchors)(p.base_size, p.ratio or RATIOS, p.scale or SCALES)


def anchors(base: int, ratios: Sequence[float], scales: Sequence[float]) -> Array:
    """(A, 4): boxes around the middle of a base × base square, for every ratio and every scale.

    A ratio r has the width √(base²/r) and the height width·r, both rounded, times the scale.
    """
    ratio, scale = np.array(ratios, np.float64)[:, None], np.array(scales, np.float64)
    width = np.floor(np.sqrt(base * base / ratio) + 0.5)
    height = np.floor(width * ratio + 0.5)
    half = np.stack([width * scale - 1, height * scale - 1], axis=2).reshape(-1, 2) / 2
    middle = (base - 1) / 2
    return np.concatenate([middle - half, middle + half], axis=1)


def grid(anchors: Array, stride: int, size: Sequence[int], dtype: DType) -> Array:
    """The anchors of every place, (h, w, A, 4)."""
    y, x = np.meshgrid(*(np.arange(n) * stride for n in size), indexing="ij")
    corners = np.stack([x, y, x, y], axis=2)[:, :, None]
    places: Array = (corners + anchors).astype(dtype)
    return places


def shifted(boxes: Array, shifts: Array) -> Array:
    """(h·w·A, 4): centres moved by (dx, dy) of the size, sizes multiplied by exp(dw, dh).

    boxes: (h, w, A, 4), their last pixels included  shifts: (A, 4, h, w)
    """
    d = shifts.transpose(2, 3, 0, 1)
    size = boxes[..., 2:] - boxes[..., :2] + 1
    centre = d[..., :2] * size + boxes[..., :2] + size / 2
    half = np.exp(d[..., 2:]) * size / 2
    return np.concatenate([centre - half, centre + half], axis=-1).reshape(-1, 4)
