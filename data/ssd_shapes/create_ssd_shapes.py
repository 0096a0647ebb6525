#!/usr/bin/env python
"""Make ssd_shapes_train_lmdb and ssd_shapes_test_lmdb: drawn shapes with their boxes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pycaffe_dist.data.annotations import write_annotated
from pycaffe_dist.data.lmdb_writer import Database, Record, image_record, make_databases
from pycaffe_dist.errors import PcdError
from pycaffe_dist.tools.convert_imageset import write_labels

HERE = Path(__file__).resolve().parent

SIDE = 64
SHAPES = {1: "circle", 2: "square", 3: "triangle"}
COUNTS = {"train": 1000, "test": 200}
LEAST, MOST = 12, 34  # pixels that a shape is wide
CLEAR = 60  # how far a shape's colours are from what is around it, in all


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=HERE, help="folder for the databases")
    parser.add_argument("--force", action="store_true", help="replace existing databases")
    parser.add_argument("--images", type=int, help="in each, instead of 1000 and 200")
    options = parser.parse_args()
    databases = [
        Database(f"ssd_shapes_{part}_lmdb", count, partial(records, seed, count))
        for seed, (part, given) in enumerate(COUNTS.items())
        if (count := options.images or given)
    ]
    make_databases(options.out, databases, force=options.force, say=print)
    for database in databases:  # the names stay with the data, and so with a run
        write_labels(str(options.out / database.name), ["background", *SHAPES.values()])


def records(seed: int, count: int) -> Iterator[Record]:
    # RandomState and not default_rng: its numbers are the same in every version of NumPy.
    rng = np.random.RandomState(seed)
    for i in range(count):
        pixels, boxes = scene(rng)
        key, datum = image_record(f"{i:08d}", pixels, -1)
        yield key, write_annotated(datum, boxes)


def scene(rng: np.random.RandomState) -> tuple[NDArray[np.uint8], list[list[float]]]:
    """An image (3, 64, 64) of noise around a colour with up to three shapes that do not touch,
    and their boxes: class, number, corners in parts of the image, not difficult.
    """
    ground = rng.randint(40, 216, 3)
    image = np.broadcast_to(ground[:, None, None], (3, SIDE, SIDE)).astype(float)
    taken: NDArray[np.bool_] = np.zeros((SIDE, SIDE), bool)
    boxes: list[list[float]] = []
    for _ in range(rng.randint(1, 4)):
        label, side = rng.randint(1, len(SHAPES) + 1), rng.randint(LEAST, MOST + 1)
        x, y = rng.randint(0, SIDE - side + 1, 2)
        colour = rng.randint(0, 256, 3)
        window = np.s_[:, y : y + side, x : x + side]
        if taken[window[1:]].any() or abs(colour - ground).sum() < CLEAR:
            continue
        taken[window[1:]] = True
        image[window] = np.where(mask(label, side), colour[:, None, None], image[window])
        corners = [value / SIDE for value in (x, y, x + side, y + side)]
        boxes.append([label, len(boxes), *corners, 0])
    image += rng.normal(0, 8, image.shape)
    return np.clip(image, 0, 255).astype(np.uint8), boxes


def mask(label: int, side: int) -> NDArray[np.bool_]:
    """The pixels of a shape that fills a square."""
    y, x = (np.indices((side, side)) + 0.5) / side * 2 - 1
    if SHAPES[label] == "circle":
        return np.asarray(x * x + y * y <= 1)
    if SHAPES[label] == "triangle":
        return np.asarray(abs(x) <= (y + 1) / 2)
    return np.ones((side, side), bool)


if __name__ == "__main__":
    try:
        main()
    except PcdError as e:
        sys.exit(f"create_ssd_shapes: {e}")
