"""What ``pcd segment`` does: the class of each pixel, as palette images, and how good they are.

Of the confusion matrix M, M[label, class] of all pixels that count,

    accuracy = Σ Mₖₖ / Σ M        IoUₖ = Mₖₖ / (Σⱼ Mₖⱼ + Σⱼ Mⱼₖ − Mₖₖ)

and mIoU is the mean of IoUₖ over the classes that are in the labels or were found.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Blob
from pycaffe_dist.data.drawing import CLASSES, palette
from pycaffe_dist.data.image import Pixels
from pycaffe_dist.data.label_image import read_label_image
from pycaffe_dist.data.scaling import resize_by
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.proto.caffe_pb2 import ResizeParameter
from pycaffe_dist.proto.suggest import did_you_mean
from pycaffe_dist.report.table import table
from pycaffe_dist.tools.detect import read_names
from pycaffe_dist.tools.image_net import ImageNet
from pycaffe_dist.tools.preprocess import Preprocess, pictures_in

Pair = tuple[str, str]  # an image, and the image of its labels; "" if there is none


class Segmenter(ImageNet):
    """A net with scores (1, C, h, w) of the classes of pixels, or the classes (1, 1, h, w) alone.

    Args:
        how: the files of the net, and the preparation of its images.
        size: height and width of the input, if not those of the net.
        blob: the name of the blob; "" for the only output that has the shape.
    """

    def __init__(
        self, how: Preprocess, size: tuple[int, ...] | None = None, blob: str = ""
    ) -> None:
        super().__init__(how, size)
        self.output = self._named(blob) if blob else self._only()
        self.classes = self.output.shape[1]
        if self.classes == 1:
            self.classes = 0  # it gives classes alone, and does not tell how many there are
        if self.classes > CLASSES:
            raise NetError(f"{how.model_def}: {self.classes} classes, a palette has {CLASSES}")

    def _named(self, name: str) -> Blob:
        if name not in self.net.blob_ids:
            hint = did_you_mean(name, self.net.blob_names)
            raise NetError(f"{self.how.model_def}: there is no blob {name!r}{hint}")
        blob = self.net.blobs[self.net.blob_ids[name]]
        if len(blob.shape) != 4:
            raise NetError(
                f"{self.how.model_def}: the blob {name!r} has the shape {blob.shape}; scores of "
                "pixels are (1, classes, height, width)"
            )
        return blob

    def _only(self) -> Blob:
        ids = [
            i
            for i in self.net.output_ids
            if len(self.net.blobs[i].shape) == 4 and self.net.blobs[i].count_from(2) > 1
        ]
        if len(ids) != 1:
            names = ", ".join(self.net.blob_names[i] for i in ids) or "none"
            raise NetError(
                f"{self.how.model_def}: outputs with scores of pixels, (1, classes, height, "
                f"width): {names}; name one by --blob"
            )
        return self.net.blobs[ids[0]]

    def segment(self, image: Pixels) -> Pixels:
        """(height, width): the class of each pixel; the net's nearest where it has fewer."""
        self.run(image)
        scores = np.asarray(self.output.data[0])
        found = scores.argmax(0) if len(scores) > 1 else np.clip(scores[0], 0, CLASSES - 1)
        planes = found.astype(np.uint8)[:, :, None]
        height, width = image.shape[:2]
        return resize_by(planes, height, width, ResizeParameter.NEAREST)[:, :, 0]


def pairs_of(path: str, truth: str = "") -> list[Pair]:
    """Images and their labels: an image, those of a folder, or the lines of a .txt.

    A line of a .txt may name an image and its labels.  ``truth`` is an image of labels, or a folder
    with one of the same name, but for its ending, for each image.

    Raises:
        FileError: an image has no labels in ``truth``, or there are no images.
    """
    if path.endswith(".txt"):
        lines = [line.split() for line in read_names(path)]
        pairs = [(words[0], words[1] if len(words) > 1 else "") for words in lines]
    else:
        pairs = [(name, "") for name in (pictures_in(path) if os.path.isdir(path) else [path])]
    if not truth:
        return pairs
    if not os.path.isdir(truth):
        return [(name, truth) for name, _ in pairs]
    labels = {_stem(name): name for name in pictures_in(truth)}
    for name, _ in pairs:
        if _stem(name) not in labels:
            raise FileError(f"{truth}: has no labels of {name}: an image {_stem(name)}.png")
    return [(name, labels[_stem(name)]) for name, _ in pairs]


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


def overlaid(image: Pixels, classes: Pixels, part: float) -> Pixels:
    """An image, blue first, with ``part`` of the classes' colours over it; class 0 is left out."""
    colors = image.repeat(3, 2) if image.shape[2] == 1 else image[:, :, :3]
    known = palette()[:, ::-1][classes]
    mixed = np.rint(colors * (1 - part) + known * part).astype(np.uint8)
    out: Pixels = np.where(classes[:, :, None] > 0, mixed, colors)
    return out


# -- how good it is --------------------------------------------------------------------------------


class Confusion:
    """The matrix [label, class] of all pixels whose label is not ``ignored``.

    It grows with what is found if the number of classes is not known (0).
    """

    def __init__(self, classes: int, ignored: Sequence[int]) -> None:
        self.known, self.ignored = classes, list(ignored)
        self.matrix: Array = np.zeros((classes, classes), np.int64)

    def add(self, found: Pixels, path: str) -> None:
        """Compare an image's classes with the labels of ``path``.

        Raises:
            FileError: they have another size, or a label that the net does not know.
        """
        labels = read_label_image(path)
        if labels.shape != found.shape:
            raise FileError(
                f"{path}: is {labels.shape[0]} × {labels.shape[1]}, its image {found.shape[0]} × "
                f"{found.shape[1]}"
            )
        counted = ~np.isin(labels, self.ignored)
        most = int(labels[counted].max(initial=0))
        if 0 < self.known <= most:
            raise FileError(
                f"{path}: has the label {most}, the net has {self.known} classes; "
                f"--ignore-label {most} leaves it out"
            )
        self._grow(max(most, int(found[counted].max(initial=0))) + 1)
        size = len(self.matrix)
        both = labels[counted].astype(np.int64) * size + found[counted]
        self.matrix += np.bincount(both, minlength=size * size).reshape(size, size)

    def _grow(self, size: int) -> None:
        more = max(0, size - len(self.matrix))
        self.matrix = np.pad(self.matrix, (0, more))

    @property
    def accuracy(self) -> float:
        return float(np.trace(self.matrix) / max(1, self.matrix.sum()))

    def iou(self) -> dict[int, float]:
        """Of the classes that are in the labels or were found."""
        right = np.diagonal(self.matrix)
        union = self.matrix.sum(0) + self.matrix.sum(1) - right
        return {int(k): float(right[k] / union[k]) for k in np.flatnonzero(union)}

    @property
    def mean_iou(self) -> float:
        return float(np.mean([*self.iou().values()] or [0.0]))

    def table(self, names: Mapping[int, str]) -> list[str]:
        """A row for each class, then the mean, in percent."""
        pixels = self.matrix.sum(1)
        rows = [
            (names.get(k, str(k)), f"{pixels[k]:,}", f"{100 * value:.2f}")
            for k, value in self.iou().items()
        ]
        rows.append(("mean", f"{pixels.sum():,}", f"{100 * self.mean_iou:.2f}"))
        return [
            *table(("class", "pixels", "IoU"), rows),
            f"pixel accuracy {100 * self.accuracy:.2f} %, mIoU {100 * self.mean_iou:.2f} %",
        ]

    def as_json(self, names: Mapping[int, str]) -> dict[str, object]:
        classes = [
            {"class": k, "label": names.get(k), "iou": value} for k, value in self.iou().items()
        ]
        return {"classes": classes, "accuracy": self.accuracy, "mean_iou": self.mean_iou}
