#!/usr/bin/env python
"""Make data/shapes: noisy images of discs, squares and triangles; see readme.md here."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import h5py
import numpy as np

from pycaffe_dist.errors import PcdError
from pycaffe_dist.files import atomic_write

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
        write(out, name, {"data": np.stack(images), "label": np.stack(labels)})
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


def write(folder: Path, name: str, arrays: dict[str, np.ndarray]) -> None:
    """The arrays as name.h5, and name.txt that lists it as HDF5Data wants."""
    path = folder / f"{name}.h5"
    with atomic_write(path) as file, h5py.File(file, "w") as h5:
        for key, values in arrays.items():
            h5.create_dataset(key, data=values)
    # Paths count from where a command is run, which is the project's folder.
    listed = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    with atomic_write(folder / f"{name}.txt") as file:
        file.write(f"{listed}\n".encode())


if __name__ == "__main__":
    try:
        main()
    except (PcdError, OSError) as e:
        sys.exit(str(e))
