#!/usr/bin/env python
"""Make data/shapes: noisy images of discs, squares and triangles; see readme.md here."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from pycaffe_dist.data.hdf5_sink import write_listed
from pycaffe_dist.errors import PcdError

ROOT = Path(__file__).resolve().parents[2]

SIDE = 48
SHAPES = 3  # the most in an image
NOISE = 0.08
IMAGES = {"train": 400, "test": 100}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--out", type=Path, default=ROOT / "data" / "shapes", help="folder for the files"
    )
    out = parser.parse_args().out

    out.mkdir(parents=True, exist_ok=True)
    (out / ".gitignore").write_text("*\n")  # all of it can be made again
    # RandomState and not default_rng: its numbers are the same in every version of NumPy.
    rng = np.random.RandomState(1)
    for name, count in IMAGES.items():
        images, labels = zip(*(scene(rng) for _ in range(count)), strict=True)
        write_listed(out, name, {"data": np.stack(images), "label": np.stack(labels)}, ROOT)
        print(f"{out / name}.h5: {count} images of {SIDE}x{SIDE}")


def scene(rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """An image (3, side, side) around 0, and the class of each pixel (side, side).

    0 is the background, 1 a disc, 2 a square, 3 a triangle; colours say nothing about the class.
    """
    label = np.zeros((SIDE, SIDE), np.float32)
    image = np.empty((3, SIDE, SIDE))
    image[:] = rng.uniform(size=(3, 1, 1))
    for _ in range(rng.randint(1, SHAPES + 1)):
        kind = rng.randint(1, 4)
        radius = rng.uniform(9, 15)
        inside = shape(kind, radius, *rng.uniform(radius, SIDE - radius, size=2))
        image[:, inside] = rng.uniform(size=(3, 1))
        label[inside] = kind
    image += NOISE * rng.standard_normal(image.shape)
    return (image - 0.5).astype(np.float32), label


def shape(kind: int, radius: float, row: float, column: float) -> np.ndarray:
    """The pixels (side, side) that it covers."""
    y, x = np.mgrid[:SIDE, :SIDE]
    down, right = (y - row) / radius, (x - column) / radius
    if kind == 1:
        return down**2 + right**2 <= 1
    if kind == 2:
        return np.maximum(abs(down), abs(right)) <= 0.85
    return (abs(right) <= (down + 1) / 2) & (down <= 1)


if __name__ == "__main__":
    try:
        main()
    except (PcdError, OSError) as e:
        sys.exit(str(e))
