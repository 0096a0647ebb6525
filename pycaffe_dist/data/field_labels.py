"""What MS-CNN's ImageGtData makes of an image and its boxes: a part of it, and maps of labels.

Boxes are x1, y1, x2, y2 in pixels, as wide as x2 − x1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.boxes import areas, intersections, iou
from pycaffe_dist.data.image import Pixels, resize
from pycaffe_dist.data.window_file import Words
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import read_bytes
from pycaffe_dist.proto.caffe_pb2 import ImageGtDataParameter

PER_CELL = 6  # class, middle and size of the box, overlap
NO_INTEREST = 0.4  # so much of a field in regions without interest, and it is ignored
FEWEST_OVERLAP = 0.2  # of a box that no field has, for the field around its middle
SHAKE = 10  # pixels


@dataclass
class Entry:
    """An image of a window file: its boxes (G, 6), class, ignored, corners; regions (R, 4) that are
    of no interest; its channels, height and width as the file has them.
    """

    name: str
    boxes: Array
    dull: Array
    size: tuple[int, int, int]


def read_entries(path: str) -> list[Entry]:
    """Read ``# index``, path, channels, height, width, n, n × ``label ignored x1 y1 x2 y2``, m,
    m × ``x1 y1 x2 y2``.

    Raises:
        FileError: the file is empty, or not of this form.
    """
    words = Words(read_bytes(path).decode(errors="surrogateescape"))
    found: list[Entry] = []
    try:
        while words.next_image([entry.name for entry in found[-1:]]):
            words.number("image's index", int)
            name = words.next()
            channels, height, width = (
                words.number(what, int) for what in ("number of channels", "height", "width")
            )
            boxes = _rows(words, ("label", "ignored", "x1", "y1", "x2", "y2"))
            if (boxes[:, 0] < 1).any():
                raise ValueError(f"{name}: a box has a label below 1")
            dull = _rows(words, ("x1", "y1", "x2", "y2"))
            found.append(Entry(name, boxes, dull, (channels, height, width)))
    except ValueError as e:
        raise FileError(f"{path}:{words.line}: {e}") from e
    if not found:
        raise FileError(f"{path}: lists no images")
    return found


def _rows(words: Words, columns: tuple[str, ...]) -> Array:
    count = words.number("count", int)
    rows = [[words.number(what, int) for what in columns] for _ in range(count)]
    return np.array(rows, np.float32).reshape(-1, len(columns))


# -- the part of the image -------------------------------------------------------------------------


@dataclass
class Part:
    """An image on its way, with its boxes (G, 6) and dull regions (R, 4)."""

    pixels: Pixels
    boxes: Array
    dull: Array

    def scale(self, height: int, width: int, across: float, down: float) -> None:
        """To another size; boxes by the factors that were meant."""
        self.pixels = resize(self.pixels, height, width)
        self.move(np.array([across, down]), np.zeros(2))

    def move(self, factor: Array, shift: Array) -> None:
        for corners in (self.boxes[:, 2:], self.dull):
            corners *= np.tile(factor, 2).astype(np.float32)
            corners += np.tile(shift, 2).astype(np.float32)

    def mirror(self) -> None:
        width = self.pixels.shape[1]
        self.pixels = self.pixels[:, ::-1]
        for corners in (self.boxes[:, 2:], self.dull):
            corners[:, 0::2] = width - corners[:, 2::-2]


def rounded(value: float) -> int:
    """Halves away from zero, as C rounds."""
    return int(np.copysign(np.floor(abs(value) + 0.5), value))


def prepare(
    part: Part, p: ImageGtDataParameter, size: tuple[int, int], rng: np.random.Generator
) -> tuple[Pixels, tuple[int, int], tuple[int, int]]:
    """Pixels to be put into an image of ``size``, and the row and column where, and how many.

    The image is resized, perhaps once more so that a box of it has another scale, and cut around
    that box; if it is too small then, it is put near the middle.
    """
    if p.resize_width and p.resize_height:
        height, width = part.pixels.shape[:2]
        part.scale(
            p.resize_height, p.resize_width, p.resize_width / width, p.resize_height / height
        )
    height, width = part.pixels.shape[:2]
    if height < size[0] or width < size[1]:
        raise FileError(f"an image of {height} × {width} is smaller than {size[0]} × {size[1]}")
    room = np.array([width - size[1], height - size[0]])
    middle = rng.integers(room + 1) + np.array(size[::-1]) / 2
    if len(part.boxes):
        box = part.boxes[rng.integers(len(part.boxes)), 2:]
        middle = (box[:2] + box[2:]) / 2
        factors = _factors(box, p, rng)
        if (factors != 1).any():
            middle = _rescale(part, factors, middle)
    return _cut(part, middle, size, rng)


def _factors(box: Array, p: ImageGtDataParameter, rng: np.random.Generator) -> Array:
    """By how much an image is resized across and down, so that its box gets a scale that is drawn
    from min_scale, √2·min_scale and so on to max_scale.
    """
    several = p.do_multiple_scale and p.HasField("min_scale") and p.HasField("max_scale")
    if not several or rng.integers(2) == 0:
        return np.ones(2)
    steps = np.arange(rounded(2 * np.log2(p.max_scale / p.min_scale) + 1)) / 2
    area = max(float((box[2] - box[0]) * (box[3] - box[1])), 1.0)
    fields = (p.min_scale * 2.0**steps) ** 2
    own = (np.minimum(area, fields) / np.maximum(area, fields)).argmax()
    factors = np.full(2, 2.0 ** (steps[rng.integers(len(steps))] - steps[own]))
    if p.HasField("min_whaspect") and p.HasField("max_whaspect") and rng.integers(2):
        _reshape(factors, box, p, rng)
    return factors


def _reshape(factors: Array, box: Array, p: ImageGtDataParameter, rng: np.random.Generator) -> None:
    """Change a factor so that the box has an aspect that is drawn, in steps of 0.05."""
    count = max(1, rounded((p.max_whaspect - p.min_whaspect) / 0.05))
    wanted = rng.integers(count) * 0.05 + p.min_whaspect
    side = np.maximum(box[2:] - box[:2], 1)
    more = wanted / (side[0] / side[1])
    axis = 1 - rng.integers(2)
    changed = factors[axis] * (1 / more if axis else more)
    if p.min_scale * 0.8 <= side[axis] * changed <= p.max_scale * 1.2:
        factors[axis] = changed


def _rescale(part: Part, factors: Array, middle: Array) -> Array:
    """Resize the image, of one that gets much larger only what is around ``middle``; its place."""
    size = np.array(part.pixels.shape[1::-1])
    if (factors > 1.5).any():
        kept = np.array([rounded(v) for v in 1.2 * size / factors])
        kept = np.clip(kept, 1, size)
        first = np.array([rounded(v) for v in middle - kept * 0.5])
        first = np.clip(first, 0, size - kept)
        (x, y), (w, h) = first, kept
        part.pixels = part.pixels[y : y + h, x : x + w]
        part.move(np.ones(2), -first)
        middle, size = middle - first, kept
    width, height = (max(1, rounded(v)) for v in size * factors)
    part.scale(height, width, *factors)
    scaled: Array = middle * factors
    return scaled


def _cut(
    part: Part, middle: Array, size: tuple[int, int], rng: np.random.Generator
) -> tuple[Pixels, tuple[int, int], tuple[int, int]]:
    """What of the image is seen around ``middle``, which is moved by a few pixels; and where."""
    shape = part.pixels.shape[:2]
    shake = rng.integers(-SHAKE, SHAKE, 2)
    first, begin, count = [0, 0], [0, 0], list(size)
    for axis in (0, 1):
        more = shape[axis] - size[axis]
        off = int(shake[1 - axis])
        if more < 0:
            count[axis] = shape[axis]
            begin[axis] = min(max(rounded(-more / 2) + off, 0), -more)
        else:
            place = rounded(float(middle[1 - axis])) + off - rounded(size[axis] / 2)
            first[axis] = min(max(place, 0), more)
    (top, left), (height, width) = first, count
    seen = part.pixels[top : top + height, left : left + width]
    part.move(np.ones(2), np.array([begin[1] - left, begin[0] - top]))
    return seen, (begin[0], begin[1]), (height, width)


# -- labels ----------------------------------------------------------------------------------------


def ignore_some(boxes: Array, p: ImageGtDataParameter, size: tuple[int, int]) -> None:
    """Ignore boxes (G, 6) whose middle is outside the image, and those that are too small."""
    first, last = boxes[:, 2:4], boxes[:, 4:]
    middle, side = (first + last) / 2, last - first + 1
    outside = ((middle < 0) | (middle >= np.array(size[::-1]))).any(1)
    small = (side < np.array([p.min_gt_width, p.min_gt_height])).any(1)
    boxes[outside | small, 1] = 1


class FieldMaps:
    """The labels (6, h, w) of each map of fields."""

    def __init__(self, p: ImageGtDataParameter, size: tuple[int, int]) -> None:
        self.size, self.threshold = size, p.fg_threshold
        self.rates = list(p.downsample_rate)
        self.fields = [*zip(p.field_w, p.field_h, strict=True)]
        self.shapes = [tuple(rounded(side / rate) for side in size) for rate in self.rates]

    def labels(
        self, boxes: Array, dull: Array, begin: tuple[int, int], count: tuple[int, int]
    ) -> list[Array]:
        """Of an image whose pixels are ``count`` from ``begin`` on; the rest is ignored."""
        maps, overlaps = [], []
        for number in range(len(self.rates)):
            labels, overlap = self._map(number, boxes, dull, begin, count)
            maps.append(labels)
            overlaps.append(overlap)
        taken = np.concatenate([self._matched(o) for o in overlaps])
        self._give_to_missed(maps, boxes, overlaps, taken)
        return maps

    def _map(
        self,
        number: int,
        boxes: Array,
        dull: Array,
        begin: tuple[int, int],
        count: tuple[int, int],
    ) -> tuple[Array, Array]:
        """A map, and how much its fields (h·w) overlap the boxes (G,)."""
        rate, shape = self.rates[number], self.shapes[number]
        y, x = np.indices(shape)
        middle = (np.stack([x, y], axis=2).reshape(-1, 2) + 0.5) * rate
        half = np.array(self.fields[number]) / 2
        fields = np.concatenate([middle - half, middle + half], axis=1).astype(np.float32)
        seen = np.ones(shape, bool)
        for at, first, length in zip((y, x), begin, count, strict=True):
            off = rounded(first / rate)
            seen &= (at >= off) & (at < off + rounded(length / rate))
        common = intersections(fields, dull) / areas(fields)[:, None]
        counted = seen.reshape(-1) & (common.sum(1) < NO_INTEREST)
        overlap = iou(fields, boxes[:, 2:]) * counted[:, None]
        labels = np.zeros((PER_CELL, len(fields)), np.float32)
        best = overlap.max(1, initial=0)
        labels[5] = np.where(counted, best, 1)
        near = np.flatnonzero(best > self.threshold)
        if len(near):
            match = boxes[overlap[near].argmax(1)]
            labels[0, near] = match[:, 0] * (match[:, 1] == 0)
            labels[1:5, near] = placed(match)
        return labels.reshape(PER_CELL, *shape), overlap

    def _matched(self, overlap: Array) -> Array:
        """The numbers of the boxes that some field has."""
        near = overlap[overlap.max(1, initial=0) > self.threshold]
        return near.argmax(1) if near.size else np.empty(0, int)

    def _give_to_missed(
        self, maps: list[Array], boxes: Array, overlaps: list[Array], taken: Array
    ) -> None:
        """A box that no field has goes to the cell of its middle, in the map that fits it best."""
        most = np.array([overlap.max(0, initial=0) for overlap in overlaps])
        for g in np.setdiff1d(np.flatnonzero(boxes[:, 1] == 0), taken):
            number = int(most[:, g].argmax())
            if most[number, g] < FEWEST_OVERLAP:
                continue
            (box,) = placed(boxes[g : g + 1]).T
            at = np.floor(box[1::-1] / self.rates[number]).astype(int)
            row, column = np.clip(at, 0, np.array(self.shapes[number]) - 1)
            if maps[number][0, row, column] == 0:
                maps[number][0, row, column] = boxes[g, 0]
                maps[number][1:5, row, column] = box


def placed(boxes: Array) -> Array:
    """(4, G): middle and size of boxes (G, 6)."""
    first, last = boxes[:, 2:4], boxes[:, 4:]
    found: Array = np.concatenate([(first + last) / 2, last - first], axis=1).T
    return found
