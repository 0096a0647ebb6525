"""PriorBox: the boxes that a detector's predictions are relative to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.proto.caffe_pb2 import PriorBoxParameter

Pair = Sequence[float]  # of height and width


class Priors(Layer):
    """Boxes of a few sizes around the centre of each cell of a feature map.

    Bottoms: a map (N, C, h, w) and the image (only its height and width count).
    Top (1, 2, h·w·P·4): the boxes (xmin, ymin, xmax, ymax) in parts of the image, cell by cell;
    then their variances.
    Centres are (x + offset)·step_w, (y + offset)·step_h, in pixels of the image.
    """

    bottoms = 2
    on_host = True

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.prior_box_param
        self.sizes = self.box_sizes(p)
        found = [*p.variance] or [0.1]
        self.check(
            len(found) in (1, 4) and min(found) > 0,
            f"takes 1 or 4 variances above 0, found {found}",
        )
        self.variances = np.array(found * (4 // len(found)), np.float32)
        self.image = self._pair(p, "img", "img_size")
        self.step = self._pair(p, "step", "step")
        self.made: tuple[tuple[Pair, Pair] | None, Array] = (None, np.empty(0))

    def box_sizes(self, p: PriorBoxParameter) -> Array:
        """(P, 2): the widths and heights of a cell's boxes in pixels."""
        raise NotImplementedError

    def on_edge(self) -> Array:
        """(P,): which boxes are centred on the lower edge of their cell, not in it."""
        return np.zeros(len(self.sizes), bool)

    def _pair(self, p: PriorBoxParameter, what: str, both: str) -> tuple[float, float] | None:
        """(height, width) that are given as one number or as two."""
        h, w = f"{what}_h", f"{what}_w"
        if p.HasField(h) or p.HasField(w):
            self.check(not p.HasField(both), f"takes {both}, or {h} and {w}, not all of them")
            values = getattr(p, h), getattr(p, w)
        elif p.HasField(both):
            values = getattr(p, both), getattr(p, both)
        else:
            return None
        self.check(min(values) > 0, f"{h} and {w} must be above 0, found {values}")
        return values

    def reshape(self, bottom: Views, top: Views) -> None:
        self.check(
            len(bottom[0].shape) == 4 and len(bottom[1].shape) == 4,
            f"takes bottoms of 4 axes, found {bottom[0].shape} and {bottom[1].shape}",
        )
        self.cells = bottom[0].shape[2:]
        top[0].reshape(1, 2, self.cells[0] * self.cells[1] * len(self.sizes) * 4)

    def forward(self, bottom: Views, top: Views) -> None:
        image = self.image or bottom[1].shape[2:]
        key = self.cells, image
        if key != self.made[0]:
            self.made = key, self._boxes(*key)
        top[0].data[0, 0] = self.made[1].reshape(-1)
        top[0].data[0, 1].reshape(-1, 4)[...] = self.variances

    def _boxes(self, cells: Pair, image: Pair) -> Array:
        step = np.array(self.step or np.divide(image, cells, dtype=np.float32), np.float32)
        offset = np.float32(self.layer_param.prior_box_param.offset)
        row, column = (np.arange(n, dtype=np.float32) for n in cells)
        y = (row[:, None] + np.where(self.on_edge(), np.float32(1), offset)) * step[0]
        x = (column + offset) * step[1]
        centre = np.empty((*map(len, (row, column)), len(self.sizes), 2))
        centre[..., 0], centre[..., 1] = x[:, None], y[:, None]
        half = self.sizes.astype(float) / 2
        boxes: Array = np.concatenate([centre - half, centre + half], -1)
        boxes /= (*image[::-1], *image[::-1])
        return boxes.clip(0, 1) if self.layer_param.prior_box_param.clip else boxes


@register("PriorBox")
class PriorBox(Priors):
    """For each min_size s (cut to an integer): a square of s; one of √(s·S) with its max_size S;
    then s·√r wide and s/√r high for each aspect ratio r but 1, and for 1/r if ``flip``.

    With ``denser_prior_boxes`` (TextBoxes++) each is followed by one of its size that is centred on
    the lower edge of the cell.
    """

    def box_sizes(self, p: PriorBoxParameter) -> Array:
        self.check(len(p.min_size) > 0, "needs a min_size")
        for name, values in (("min_size", p.min_size), ("max_size", p.max_size)):
            fit = all(0 < v < 2**31 for v in values)
            self.check(fit, f"{name} must be above 0 and below 2^31, found {[*values]}")
        fit = all(0 < r < np.inf for r in p.aspect_ratio)
        self.check(fit, f"aspect_ratio must be above 0 and finite, found {[*p.aspect_ratio]}")
        pairs = len(p.max_size) in (0, len(p.min_size))
        self.check(
            pairs and all(b > a for a, b in zip(p.min_size, p.max_size, strict=False)),
            "takes no max_size or one for each min_size that is larger, "
            f"found {[*p.min_size]} and {[*p.max_size]}",
        )
        root = np.sqrt(np.array(_ratios(p), np.float32))
        sizes = []
        for i, least in enumerate(p.min_size):
            s = int(least)
            sizes.append([s, s])
            if p.max_size:
                sizes.append([np.sqrt(s * int(p.max_size[i]))] * 2)
            sizes += [[s * r, s / r] for r in root]
        return np.repeat(np.array(sizes, np.float32), 2 if p.denser_prior_boxes else 1, axis=0)

    def on_edge(self) -> Array:
        odd = np.arange(len(self.sizes)) % 2 == 1
        return odd & self.layer_param.prior_box_param.denser_prior_boxes


def _ratios(p: PriorBoxParameter) -> list[float]:
    """The aspect ratios that differ from 1 and among each other by 1e-6 or more."""
    found = [1.0]
    for ratio in p.aspect_ratio:
        if all(abs(ratio - known) >= 1e-6 for known in found):
            found += [ratio, 1 / ratio] if p.flip else [ratio]
    return found[1:]


@register("PriorBoxClustered")
class PriorBoxClustered(Priors):
    """A box for each pair of ``width`` and ``height``, as given."""

    def box_sizes(self, p: PriorBoxParameter) -> Array:
        self.check(
            len(p.width) == len(p.height) > 0,
            f"needs as many width as height, found {len(p.width)} and {len(p.height)}",
        )
        return np.array([*zip(p.width, p.height, strict=True)], np.float32)
