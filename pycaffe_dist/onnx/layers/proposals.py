"""Proposals of MS-CNN: boxes of several scales, of which those that do not overlap are kept."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np

from pycaffe_dist.layers.mscnn.fields import COORDINATES
from pycaffe_dist.layers.rcnn.box_output import NOBODY, BoxOutput
from pycaffe_dist.onnx.exporters import exports
from pycaffe_dist.onnx.graph import Graph, Value

Values = Sequence[Value]
ALL = 1 << 30
LOW, LEAST = -6e4, -5e4  # the score of boxes that are left out, and what all others have


@exports(BoxOutput)
def box_output(g: Graph, layer: BoxOutput, x: Values) -> list[str]:
    found = []
    for i in range(x[0].shape[0]):
        parts = [_candidates(g, layer, x[k], i, k) for k in range(len(x))]
        boxes, scores = (_joined(g, part) for part in zip(*parts, strict=True))
        cells = sum(value.shape[2] * value.shape[3] for value in x)
        found.append(_kept(g, layer, boxes, scores, i, cells))
    rows = _joined(g, found)
    regions = g.slice(rows, 1, 0, 5)
    tops = [(regions, NOBODY), (rows, (0,) * 6)]
    return [_or(g, top, nobody) for top, nobody in tops[: len(g.out)]]


def _candidates(g: Graph, layer: BoxOutput, x: Value, image: int, which: int) -> tuple[str, str]:
    """Boxes (h·w, 4) and scores (h·w,) of a bottom's cells; those that do not count score LOW."""
    p = layer.layer_param.box_output_param
    _, channels, h, w = x.shape
    field = g.constant([p.field_w[which], p.field_h[which]])
    rate = p.downsample_rate[which]
    cells = np.stack(np.meshgrid(np.arange(w), np.arange(h)), axis=2).reshape(-1, 2)
    one = g.slice(x, 0, image, image + 1)
    background, others, shifts = g.split(one, [1, channels - COORDINATES - 1, COORDINATES], axis=1)
    score = g.reshape(g.op("Sub", g.reduce("ReduceMax", others, [1]), background), [-1])
    shifts = g.reshape(g.op("Transpose", shifts, perm=[0, 2, 3, 1]), [-1, COORDINATES])
    shifts = g.shifted(g.scaled(shifts, layer.std), layer.mean)
    near, grown = g.split(shifts, [2, 2], 1)
    near = g.clip(near, -1 / p.field_xyr, 1 / p.field_xyr)
    size = g.op("Mul", g.op("Exp", g.clip(grown, -log(p.field_whr), log(p.field_whr))), field)
    centre = g.op("Add", g.op("Mul", near, field), g.constant((cells + 0.5) * rate))
    first = g.clip(g.op("Sub", centre, g.scaled(size, 0.5)), low=0.0)
    last = g.op("Min", g.op("Add", first, size), g.constant([w * rate, h * rate]))
    sides = g.reduce("ReduceMin", g.op("Sub", last, first), [1], keep=False)
    large = g.op("GreaterOrEqual", sides, g.constant(p.min_size))
    good = g.op("And", large, g.op("GreaterOrEqual", score, g.constant(p.fg_thr)))
    boxes = g.op("Concat", first, last, axis=1)
    return boxes, g.op("Where", good, score, g.constant(LOW))


def _kept(g: Graph, layer: BoxOutput, boxes: str, scores: str, image: int, cells: int) -> str:
    """(R, 6): image, x1, y1, x2, y2, score of one image, the best first."""
    p = layer.layer_param.box_output_param
    count = min(p.max_nms_num or cells, cells)
    best, places = g.several("TopK", scores, g.ints(count), count=2, axis=0)
    taken = g.op("Gather", boxes, places, axis=0)
    found = g.op(
        "NonMaxSuppression",
        g.op("Unsqueeze", taken, g.ints(0)),
        g.reshape(best, [1, 1, -1]),
        g.ints(p.max_post_nms_num or ALL),
        g.constant([p.iou_thr]),
        g.constant([LEAST]),
    )
    which = g.reshape(g.slice(found, 1, 2, 3), [-1])
    kept = g.reshape(g.op("Gather", best, which, axis=0), [-1, 1])
    number = g.shifted(g.op("Mul", kept, g.constant(0.0)), float(image))
    return g.op("Concat", number, g.op("Gather", taken, which, axis=0), kept, axis=1)


def _or(g: Graph, rows: str, nobody: Sequence[int]) -> str:
    """(R, columns, 1, 1), with one row where there is none."""
    count = g.slice(g.op("Shape", rows), 0, 0, 1)
    end = g.op("Max", count, g.ints(1))
    both = g.op("Concat", rows, g.constant([nobody]), axis=0)
    chosen = g.op("Slice", both, g.ints(0), end, g.ints(0))
    return g.reshape(chosen, [-1, len(nobody), 1, 1])


def _joined(g: Graph, parts: Sequence[str]) -> str:
    return g.op("Concat", *parts, axis=0) if len(parts) > 1 else parts[0]
