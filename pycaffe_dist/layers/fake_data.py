"""FakeData: made-up batches, for trying a net without its data."""

from __future__ import annotations

import zlib

import numpy as np

from pycaffe_dist.aliases import Array, Facts, Shape
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.proto.caffe_pb2 import FillerParameter


@register("FakeData")
class FakeData(Layer):
    """Random numbers, the same in every run, different in every batch and on every rank.

    dummy_data_param gives a shape and a data_filler for each top: "uniform" is min ≤ x < max,
    "gaussian" is N(mean, std), and "integer", made for labels, whole numbers min ≤ n < max.
    "marks" are 0 at the first of the steps (T, N) and 1 at the others.  Boxes of classes
    min ≤ c < max, in images as the first top holds them, (N, …, H, W), are in the forms of SSD,
    "boxes" (1, 1, G, 8), of YOLO, "yolo_boxes" (N, 1, R, 5), and of R-CNN, "gt_boxes" (G, 5) and
    "rois" (R, 5), for which "im_info" (N, 3) has height, width and scale; and of MS-CNN:
    "region_truth" (G, 7) and "fields" (N, 6, h, w).
    """

    bottoms = 0
    tops = (1, None)

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.dummy_data_param
        for name, given in (("shape", len(p.shape)), ("data_filler", len(p.data_filler))):
            self.check(given == len(top), f"{given} {name} for {len(top)} tops; give one for each")
        for view, shape, filler in zip(top, p.shape, p.data_filler, strict=True):
            self.check(
                filler.type in KINDS,
                f'there is no "{filler.type}" here. Known: {", ".join(KINDS)}',
            )
            self.check(
                filler.type != "integer" or filler.min < filler.max,
                f"no whole number is from {filler.min:g} to below {filler.max:g}",
            )
            view.reshape(*shape.dim)
        own = f"{self.name} {self.phase} {self.context.rank}"
        self.seed = zlib.crc32(own.encode())
        self.batch = 0

    def reshape(self, bottom: Views, top: Views) -> None:
        pass

    def forward(self, bottom: Views, top: Views) -> None:
        rng = np.random.default_rng([self.seed, self.batch])
        for view, filler in zip(top, self.layer_param.dummy_data_param.data_filler, strict=True):
            KINDS[filler.type](rng, filler, view.blob.data, top[0].shape)
        self.batch += 1

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        pass

    def get_state(self) -> Facts:
        return {"batch": self.batch}

    def set_state(self, state: Facts) -> None:
        self.batch = int(state["batch"])

    def flops(self, bottom: Views, top: Views) -> int:
        return 0


def uniform(rng: np.random.Generator, f: FillerParameter, out: Array, images: Shape) -> None:
    out[...] = rng.random(out.shape, out.dtype)
    out *= f.max - f.min
    out += f.min


def gaussian(rng: np.random.Generator, f: FillerParameter, out: Array, images: Shape) -> None:
    out[...] = rng.standard_normal(out.shape, out.dtype)
    out *= f.std
    out += f.mean


def integer(rng: np.random.Generator, f: FillerParameter, out: Array, images: Shape) -> None:
    out[...] = rng.integers(int(f.min), int(f.max), out.shape)


def marks(rng: np.random.Generator, f: FillerParameter, out: Array, images: Shape) -> None:
    out[...] = 1
    out[:1] = 0


def boxes(rng: np.random.Generator, f: FillerParameter, out: Array, images: Shape) -> None:
    """Image, class, number in the image, corners in parts of the image, not difficult."""
    rows = out.reshape(-1, 8)
    number = np.arange(len(rows))
    rows[:, 0] = number * images[0] // max(1, len(rows))
    rows[:, 1] = classes(rng, f, len(rows))
    rows[:, 2] = number
    rows[:, 3:7] = corners(rng, len(rows))
    rows[:, 7] = 0


def yolo_boxes(rng: np.random.Generator, f: FillerParameter, out: Array, images: Shape) -> None:
    """Two boxes for each image: class from 0, centre, size; zeros in the other rows."""
    out[...] = 0
    for image in out.reshape(len(out), -1, 5):
        rows = image[:2]
        box = corners(rng, len(rows))
        rows[:, 0] = classes(rng, f, len(rows)) - 1
        rows[:, 1:3] = (box[:, :2] + box[:, 2:]) / 2
        rows[:, 3:] = box[:, 2:] - box[:, :2]


def gt_boxes(rng: np.random.Generator, f: FillerParameter, out: Array, images: Shape) -> None:
    out[:, :4] = pixels(rng, len(out), images)
    out[:, 4] = classes(rng, f, len(out))


def rois(rng: np.random.Generator, f: FillerParameter, out: Array, images: Shape) -> None:
    rows = out.reshape(-1, 5)
    rows[:, 0] = np.arange(len(rows)) * images[0] // max(1, len(rows))
    rows[:, 1:] = pixels(rng, len(rows), images)


def im_info(rng: np.random.Generator, f: FillerParameter, out: Array, images: Shape) -> None:
    out[...] = 1
    out[:, :2] = images[-2:]


def region_truth(rng: np.random.Generator, f: FillerParameter, out: Array, images: Shape) -> None:
    """Image, corners in pixels, class, not ignored."""
    out[:, 0] = np.arange(len(out)) * images[0] // max(1, len(out))
    out[:, 1:5] = pixels(rng, len(out), images)
    out[:, 5] = classes(rng, f, len(out))
    out[:, 6] = 0


def fields(rng: np.random.Generator, f: FillerParameter, out: Array, images: Shape) -> None:
    """Class, middle and size of a box in pixels, overlap: an object in one cell of ten."""
    shape = out[:, 0].shape
    there = rng.random(shape) < 0.1
    out[:, 0] = there * rng.integers(1, max(2, int(f.max)), shape)
    box = pixels(rng, there.size, images)
    for i, values in enumerate([*((box[:, :2] + box[:, 2:]) / 2).T, *(box[:, 2:] - box[:, :2]).T]):
        out[:, 1 + i] = values.reshape(shape) * there
    out[:, 5] = np.where(there, 0.7, rng.random(shape) / 2)


def classes(rng: np.random.Generator, f: FillerParameter, count: int) -> Array:
    return rng.integers(int(f.min), int(f.max), count)


def corners(rng: np.random.Generator, count: int) -> Array:
    """(count, 4): boxes in the unit square, each side a fifth of it or more."""
    size = rng.uniform(0.2, 0.8, (count, 2))
    first = rng.random((count, 2)) * (1 - size)
    return np.concatenate([first, first + size], axis=1)


def pixels(rng: np.random.Generator, count: int, images: Shape) -> Array:
    """(count, 4): boxes in an image, in whole pixels."""
    height, width = images[-2:]
    whole: Array = np.floor(corners(rng, count) * [width, height, width, height])
    return whole


KINDS = {
    "uniform": uniform,
    "gaussian": gaussian,
    "integer": integer,
    "marks": marks,
    "boxes": boxes,
    "yolo_boxes": yolo_boxes,
    "gt_boxes": gt_boxes,
    "rois": rois,
    "im_info": im_info,
    "region_truth": region_truth,
    "fields": fields,
}
