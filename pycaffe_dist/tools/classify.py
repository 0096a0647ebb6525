"""What ``pcd classify`` and ``pcd predict`` do: the scores of images, and the best of them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.files import read_bytes
from pycaffe_dist.npy import read_npy
from pycaffe_dist.pycaffe.classifier import Classifier
from pycaffe_dist.tools.preprocess import (
    Preprocess,
    as_net_error,
    pictures_in,
    read_picture,
)

AT_ONCE = 32  # images in memory


@dataclass
class Named:
    """An image and what to call it."""

    name: str
    pixels: Array


def read_inputs(path: str, channels: int, ext: str = "") -> tuple[int, Iterator[Named]]:
    """How many images there are, and one after the other: an image, a folder or a .npy."""
    if path.endswith(".npy"):
        arrays = read_npy(path)
        arrays = arrays[np.newaxis] if arrays.ndim == 3 else arrays
        if arrays.ndim != 4 or arrays.shape[3] != channels:
            raise NetError(
                f"{path}: holds {arrays.shape}; the net takes images (n, height, width, {channels})"
            )
        return len(arrays), (Named(f"{path}[{i}]", image) for i, image in enumerate(arrays))
    if channels not in (1, 3):
        raise NetError(f"{path}: an image has 1 or 3 channels, the net takes {channels}")
    names = pictures_in(path, ext) if os.path.isdir(path) else [path]
    return len(names), (Named(name, read_picture(name, channels == 3)) for name in names)


def score(
    how: Preprocess,
    images: Iterator[Named],
    images_dim: Sequence[int] | None = None,
    oversample: bool = True,
) -> Iterator[tuple[str, Array]]:
    """Each image's name and the scores of its classes.

    Args:
        how: the net and the preparation of its images.
        images: those of :func:`read_inputs`.
        images_dim: height and width before cropping; those of the net's input by default.
        oversample: the mean over ten crops instead of the middle.
    """
    with as_net_error(how.model_def):
        classifier = Classifier(
            how.model_def,
            how.pretrained_model,
            images_dim,
            how.mean(),
            how.input_scale,
            how.raw_scale,
            how.swap(how.channels()),
        )
    batch: list[Named] = []
    for image in images:
        batch.append(image)
        if len(batch) == AT_ONCE:
            yield from _scored(classifier, batch, oversample)
            batch = []
    if batch:
        yield from _scored(classifier, batch, oversample)


def _scored(
    classifier: Classifier, batch: list[Named], oversample: bool
) -> Iterator[tuple[str, Array]]:
    height, width = classifier.image_dims
    if height < classifier.crop_dims[0] or width < classifier.crop_dims[1]:
        raise NetError(
            f"images_dim {height},{width} is smaller than the net's input "
            f"{classifier.crop_dims[0]},{classifier.crop_dims[1]}"
        )
    scores = classifier.predict([image.pixels for image in batch], oversample)
    return iter([(image.name, row) for image, row in zip(batch, scores, strict=True)])


# -- the best of them ------------------------------------------------------------------------------


@dataclass
class Guess:
    """A class, its name if there are names, and its score."""

    number: int
    label: str
    score: float


def one_row(scores: Array, model: str) -> Array:
    """The scores of classes, which a net for pixels has at each of them.

    Raises:
        NetError: it is such a net.
    """
    if scores.ndim > 1 and scores[0].size > 1:
        shape = "x".join(map(str, scores.shape))
        raise NetError(
            f"{model}: gives {shape} values for an image, a score for each class at each place; "
            "`pcd segment` tells the class of each pixel"
        )
    return scores.ravel()


def best(scores: Array, top: int, labels: Sequence[str] = ()) -> list[Guess]:
    """The ``top`` highest scores, the highest first."""
    flat = scores.ravel()
    if labels and len(labels) != len(flat):
        raise NetError(f"{len(labels)} labels for {len(flat)} classes")
    order = np.argsort(-flat, kind="stable")[:top]
    return [Guess(int(i), labels[i] if labels else "", float(flat[i])) for i in order]


def read_labels(path: str) -> list[str]:
    """A name for each class: line n for class n, empty lines at the end left out."""
    try:
        lines = read_bytes(path).decode().splitlines()
    except UnicodeDecodeError as e:
        raise FileError(f"{path}: labels are not UTF-8 text: {e}") from e
    while lines and not lines[-1].strip():
        lines.pop()
    return [line.strip() for line in lines]
