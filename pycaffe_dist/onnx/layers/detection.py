"""Layers that make boxes of a detector's predictions.

Their tops have as many rows as boxes are found, so the graph has the same loops over classes and
images that the layers have, but for those within NonMaxSuppression.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pycaffe_dist.boxes import CORNER, CORNER_SIZE
from pycaffe_dist.layers.rcnn.proposal import Proposal, grid
from pycaffe_dist.layers.ssd.detection_output import CORNERS, DetectionOutput
from pycaffe_dist.layers.yolo.detection_output import (
    YoloDetectionOutput,
    Yolov3DetectionOutput,
)
from pycaffe_dist.onnx.exporters import exports
from pycaffe_dist.onnx.graph import Graph, Value

Values = Sequence[Value]
Yolo = YoloDetectionOutput | Yolov3DetectionOutput
ALL = 1 << 30  # more boxes than there are


@exports(DetectionOutput)
def detection_output(g: Graph, layer: DetectionOutput, x: Values) -> str:
    p, s = layer.layer_param.detection_output_param, layer.shape
    if p.nms_param.eta != 1:
        raise layer.error(
            "an eta other than 1 has no form in ONNX: its threshold changes as it runs"
        )
    if layer.earlier:
        raise layer.error("RefineDet's further bottoms have no form in ONNX yet")
    offsets = g.reshape(x[0], [s.num, s.priors, s.locations, s.values])
    scores = g.op("Transpose", g.reshape(x[1], [s.num, s.priors, s.classes]), perm=[0, 2, 1])
    boxes = _decoded(g, layer, offsets, x[2])  # (N, L, P, 4), or 12 with the corners of polygons
    classes = [c for c in range(s.classes) if c != p.background_label_id]
    scores = g.op("Gather", scores, g.ints(*classes), axis=1)
    scores = _best(g, scores, layer, s.priors)
    rows = []
    for i in range(s.num):
        found = [_suppressed(g, layer, scores, boxes, i, j, c) for j, c in enumerate(classes)]
        one = found[0] if len(found) == 1 else g.op("Concat", *found, axis=0)
        rows.append(_kept(g, one, p.keep_top_k))
    every = rows[0] if len(rows) == 1 else g.op("Concat", *rows, axis=0)
    return g.op("Unsqueeze", _or_nothing(g, every, s.num, 7 + layer.corners), g.ints(0, 1))


def _decoded(g: Graph, layer: DetectionOutput, offsets: str, priors: str) -> str:
    """Boxes (N, L, P, 4) from offsets (N, P, L, 4); where those are 12, corners behind."""
    p, s = layer.layer_param.detection_output_param, layer.shape
    rows = g.reshape(priors, [-1, s.priors, 1, 4])
    prior = g.reshape(g.slice(rows, 0, 0, 1), [s.priors, 1, 4])
    variance = ""
    if layer.variances:
        variance = g.reshape(g.slice(rows, 0, 1, 2), [s.priors, 1, 4])
    corners = ""
    if layer.corners:
        offsets, moves = g.split(offsets, [4, 8], 3)
        corners = _corners(g, moves, prior, variance)
    moved = g.op("Mul", offsets, variance) if layer.variances else offsets
    low, high = g.split(prior, [2, 2], 2)
    size = g.op("Sub", high, low)
    if layer.pixel:
        size = g.shifted(size, 1.0)
    first, last = g.split(moved, [2, 2], 3)
    if p.code_type == CORNER:
        boxes = g.op("Concat", g.op("Add", first, low), g.op("Add", last, high), axis=3)
    elif p.code_type == CORNER_SIZE:
        boxes = g.op(
            "Concat",
            g.op("Add", g.op("Mul", first, size), low),
            g.op("Add", g.op("Mul", last, size), high),
            axis=3,
        )
    else:
        centre = g.scaled(g.op("Add", low, high), 0.5)
        if layer.pixel:
            centre = g.shifted(centre, 0.5)
        centre = g.op("Add", g.op("Mul", first, size), centre)
        half = g.scaled(g.op("Mul", g.op("Exp", last), size), 0.5)
        boxes = g.op("Concat", g.op("Sub", centre, half), g.op("Add", centre, half), axis=3)
    boxes = g.op("Concat", boxes, corners, axis=3) if corners else boxes
    return g.op("Transpose", boxes, perm=[0, 2, 1, 3])


def _corners(g: Graph, moves: str, prior: str, variance: str) -> str:
    """The corners of polygons (N, P, L, 8), of priors and variances (P, 1, 4)."""
    low, high = g.split(prior, [2, 2], 2)
    shares = g.op("Mul", g.op("Sub", high, low), g.slice(variance, 2, 0, 2))
    moved = g.op("Mul", moves, g.op("Concat", *[shares] * 4, axis=2))
    return g.op("Add", moved, g.op("Gather", prior, g.ints(*CORNERS), axis=2))


def _best(g: Graph, scores: str, layer: DetectionOutput, priors: int) -> str:
    """Scores (N, K, P), of which all but each class's ``top_k`` best are −1."""
    if not 0 < layer.top_k < priors:
        return scores
    best = g.several("TopK", scores, g.ints(layer.top_k), count=2, axis=2)[0]
    least = g.slice(best, 2, layer.top_k - 1, layer.top_k)
    enough = g.op("GreaterOrEqual", scores, least)
    return g.op("Where", enough, scores, g.constant(-1.0))


def _suppressed(
    g: Graph, layer: DetectionOutput, scores: str, boxes: str, image: int, row: int, label: int
) -> str:
    """Rows (m, 7) of one class of one image, the best first; 15 with the corners of polygons."""
    p, s = layer.layer_param.detection_output_param, layer.shape
    own = g.slice(g.slice(scores, 0, image, image + 1), 1, row, row + 1)  # (1, 1, P)
    at = 0 if p.share_location else label
    placed = g.slice(g.slice(boxes, 0, image, image + 1), 1, at, at + 1)
    placed = g.reshape(placed, [1, s.priors, s.values])
    threshold = -0.5 if layer.threshold is None else float(np.float32(layer.threshold))
    found = g.op(
        "NonMaxSuppression",
        _extended(g, layer, placed),
        own,
        g.ints(ALL),
        g.constant([p.nms_param.nms_threshold]),
        g.constant([threshold]),
    )
    which = g.reshape(g.slice(found, 1, 2, 3), [-1])
    taken = g.op("Gather", g.reshape(placed, [-1, s.values]), which, axis=0)
    score = g.reshape(g.op("Gather", g.reshape(own, [-1]), which, axis=0), [-1, 1])
    zeros = g.op("Mul", score, g.constant(0.0))
    head = [g.shifted(zeros, float(image)), g.shifted(zeros, float(label))]
    return g.op("Concat", *head, score, taken, axis=1)


def _extended(g: Graph, layer: DetectionOutput, placed: str) -> str:
    """The boxes alone; those that include their last pixel overlap as if they ended behind it."""
    placed = g.slice(placed, 2, 0, 4) if layer.corners else placed
    return g.op("Add", placed, g.constant([0, 0, 1, 1])) if layer.pixel else placed


def _kept(g: Graph, rows: str, most: int) -> str:
    """The ``most`` best rows, in the order in which they are."""
    if most < 0:
        return rows
    scores = g.reshape(g.slice(rows, 1, 2, 3), [-1])
    count = g.op("Min", g.op("Shape", scores), g.ints(most))
    places = g.several("TopK", scores, count, count=2, axis=0)[1]
    ordered = g.several("TopK", places, count, count=2, axis=0, largest=0)[0]
    return g.op("Gather", rows, ordered, axis=0)


def _or_nothing(g: Graph, rows: str, images: int, width: int = 7) -> str:
    """Where there is no row, one of −1 behind each image's number."""
    nothing = np.full((images, width), -1.0)
    nothing[:, 0] = np.arange(images)
    count = g.slice(g.op("Shape", rows), 0, 0, 1)
    none = g.op("Sub", g.ints(1), g.op("Min", count, g.ints(1)))
    spare = g.op(
        "Slice", g.constant(nothing), g.ints(0), g.op("Mul", none, g.ints(images)), g.ints(0)
    )
    return g.op("Concat", rows, spare, axis=0)


# -- Faster R-CNN ---------------------------------------------------------------------------------


@exports(Proposal)
def proposal(g: Graph, layer: Proposal, x: Values) -> list[str]:
    images, _, h, w = x[0].shape
    count = len(layer.anchors)
    stride = layer.layer_param.proposal_param.feat_stride
    places = g.constant(grid(layer.anchors, stride, (h, w), layer.dtype).reshape(-1, 4))
    found = []
    for i in range(images):
        scores, shifts, info = (g.slice(v, 0, i, i + 1) for v in x)
        objects = g.slice(scores, 1, count, 2 * count)
        objects = g.reshape(g.op("Transpose", objects, perm=[0, 2, 3, 1]), [-1])
        moves = g.reshape(shifts, [count, 4, h, w])
        moves = g.reshape(g.op("Transpose", moves, perm=[2, 3, 0, 1]), [-1, 4])
        boxes, large = _shifted(g, layer, places, moves, g.reshape(info, [-1]), x[2])
        found.append(
            _proposed(g, layer, boxes, g.op("Mul", objects, g.to_float(large)), i, h * w * count)
        )
    rows, kept = zip(*found, strict=True)
    tops = [g.op("Concat", *part, axis=0) if images > 1 else part[0] for part in (rows, kept)]
    return tops[: len(g.out)]


def _shifted(
    g: Graph, layer: Proposal, anchors: str, moves: str, info: str, sizes: Value
) -> tuple[str, str]:
    """Boxes (K, 4) moved and cut off at the image's edges, and whether they are large enough."""
    low, high = g.split(anchors, [2, 2], 1)
    size = g.shifted(g.op("Sub", high, low), 1.0)
    by, grown = g.split(moves, [2, 2], 1)
    centre = g.op("Add", g.op("Add", g.op("Mul", by, size), low), g.scaled(size, 0.5))
    half = g.scaled(g.op("Mul", g.op("Exp", grown), size), 0.5)
    height, width = (g.shifted(g.slice(info, 0, k, k + 1), -1.0) for k in (0, 1))
    edge = g.op("Concat", width, height, axis=0)
    corners = [
        g.op("Min", g.clip(corner, low=0.0), edge)
        for corner in (g.op("Sub", centre, half), g.op("Add", centre, half))
    ]
    last = int(np.prod(sizes.shape[1:])) - 1
    scale = [g.slice(info, 0, k, k + 1) for k in (last, 2)]
    least = g.scaled(
        g.op("Concat", *scale, axis=0), float(layer.layer_param.proposal_param.min_size)
    )
    sides = g.shifted(g.op("Sub", corners[1], corners[0]), 1.0)
    enough = g.to_float(g.op("GreaterOrEqual", sides, least))
    return g.op("Concat", *corners, axis=1), g.reduce("ReduceMin", enough, [1], keep=False)


def _proposed(
    g: Graph, layer: Proposal, boxes: str, scores: str, image: int, boxes_there: int
) -> tuple[str, str]:
    """Regions (R, 5) of one image and their probabilities (R,), the best first."""
    p = layer.layer_param.proposal_param
    count = min(p.pre_nms_topn, boxes_there) if p.pre_nms_topn > 0 else boxes_there
    best, places = g.several("TopK", scores, g.ints(count), count=2, axis=0)
    taken = g.op("Gather", boxes, places, axis=0)
    # Boxes have their last pixel; without it they would be smaller by one.
    outer = g.op("Add", taken, g.constant([0.0, 0.0, 1.0, 1.0]))
    found = g.op(
        "NonMaxSuppression",
        g.op("Unsqueeze", outer, g.ints(0)),
        g.reshape(best, [1, 1, -1]),
        g.ints(p.post_nms_topn if p.post_nms_topn > 0 else ALL),
        g.constant([p.nms_thresh]),
        g.constant([-1.0]),
    )
    which = g.reshape(g.slice(found, 1, 2, 3), [-1])
    kept = g.op("Gather", best, which, axis=0)
    number = g.shifted(g.op("Mul", g.reshape(kept, [-1, 1]), g.constant(0.0)), float(image))
    return g.op("Concat", number, g.op("Gather", taken, which, axis=0), axis=1), kept


# -- YOLO -----------------------------------------------------------------------------------------


@exports(YoloDetectionOutput, Yolov3DetectionOutput)
def yolo(g: Graph, layer: Yolo, x: Values) -> str:
    """All boxes of an image with all their classes at once; NMS does not look at the labels."""
    images, rows = x[0].shape[0], []
    for i in range(images):
        parts = [_cells(g, layer, g.slice(v, 0, i, i + 1), v.shape, k) for k, v in enumerate(x)]
        boxes, labels, scores = (
            part[0] if len(part) == 1 else g.op("Concat", *part, axis=0)
            for part in zip(*parts, strict=True)
        )
        rows.append(_yolo_rows(g, layer, boxes, labels, scores, i))
    every = rows[0] if images == 1 else g.op("Concat", *rows, axis=0)
    return g.op("Unsqueeze", _or_nothing(g, every, images), g.ints(0, 1))


def _cells(g: Graph, layer: Yolo, x: str, shape: Sequence[int], which: int) -> tuple[str, str, str]:
    """Boxes (K, 4), labels (K, 1) and confidences (K,) of one bottom, cell by cell."""
    h, w = shape[2:]
    count, numbers = layer.boxes_of(which), layer.numbers
    values = g.op("Transpose", g.reshape(x, [count, numbers, h, w]), perm=[2, 3, 0, 1])
    p: Any = layer.layer_param.yolo_detection_output_param
    sizes = layer.sizes / np.array([w, h])
    if isinstance(layer, Yolov3DetectionOutput):
        p = layer.layer_param.yolov3_detection_output_param
        sizes = layer.sizes[which] / (np.array([w, h]) * p.anchors_scale[which])
    certainty = ""
    if numbers == 9 + p.num_classes:
        places = [g.ints(*columns) for columns in ((0, 2, 4, 6), (1, 3, 5, 7))]
        middle, spread = (g.op("Gather", values, at, axis=3) for at in places)
        doubt = g.reduce("ReduceMean", g.op("Sigmoid", spread), [3])
        certainty = g.op("Sub", g.constant(1.0), doubt)
        values = g.op("Concat", middle, g.slice(values, 3, 8, numbers), axis=3)
    near, grown, object_, classes = g.split(values, [2, 2, 1, p.num_classes], 3)
    cell = np.stack(np.meshgrid(np.arange(w), np.arange(h)), axis=2)[:, :, None]
    centre = g.op("Add", g.op("Sigmoid", near), g.constant(cell))
    centre = g.op("Mul", centre, g.constant(1 / np.array([w, h])))
    half = g.op("Mul", g.op("Exp", grown), g.constant(sizes / 2))
    boxes = g.op("Concat", g.op("Sub", centre, half), g.op("Add", centre, half), axis=3)
    boxes = g.reshape(boxes, [-1, 4])
    objects = g.op("Sigmoid", object_)
    if isinstance(layer, Yolov3DetectionOutput):
        scores = g.op("Mul", objects, g.op("Sigmoid", classes))
        scores = g.op("Mul", scores, certainty) if certainty else scores
        flat = g.reshape(scores, [-1, p.num_classes])
        good = g.op("Greater", flat, g.constant(p.confidence_threshold))
        at = g.op("Transpose", g.op("NonZero", good), perm=[1, 0])  # (K, 2): box, label
        box = g.reshape(g.slice(at, 1, 0, 1), [-1])
        taken = g.op("Gather", boxes, box, axis=0)
        return taken, g.to_float(g.slice(at, 1, 1, 2)), g.op("GatherND", flat, at)
    flat = g.reshape(g.op("Mul", objects, g.op("Softmax", classes, axis=3)), [-1, p.num_classes])
    best = g.reduce("ReduceMax", flat, [1], keep=False)
    good = g.op("GreaterOrEqual", best, g.constant(p.confidence_threshold))
    labels = g.to_float(g.op("ArgMax", flat, axis=1, keepdims=1))
    boxes, labels, best = (g.op("Compress", v, good, axis=0) for v in (boxes, labels, best))
    return boxes, labels, best


def _yolo_rows(g: Graph, layer: Yolo, boxes: str, labels: str, scores: str, image: int) -> str:
    """Rows (R, 7) of one image, the best first."""
    # An overlap that equals the threshold suppresses here, in ONNX only a larger one does.
    limit = np.nextafter(np.float32(layer.threshold), np.float32(0))
    found = g.op(
        "NonMaxSuppression",
        g.op("Unsqueeze", boxes, g.ints(0)),
        g.reshape(scores, [1, 1, -1]),
        g.ints(ALL),
        g.constant([limit]),
        g.constant([-1.0]),
    )
    which = g.reshape(g.slice(found, 1, 2, 3), [-1])
    taken, label, score = (
        g.op("Gather", v, which, axis=0) for v in (boxes, labels, g.reshape(scores, [-1, 1]))
    )
    number = g.shifted(g.op("Mul", score, g.constant(0.0)), float(image))
    return g.op("Concat", number, g.shifted(label, 1.0), score, taken, axis=1)
