#!/usr/bin/env python
"""Make data/hdf5_classification: points of two classes; see readme.md beside this file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import h5py
import numpy as np

from pycaffe_dist.errors import PcdError
from pycaffe_dist.files import atomic_write

ROOT = Path(__file__).resolve().parents[2]

POINTS = {"train": 7500, "test": 2500}
FEATURES = 4  # of which two tell something
# Two clouds for each class, one class between the other: a straight line is not enough.
CENTRES = np.array([[[-1.5, -0.5], [1.5, 1.5]], [[-0.5, 1.0], [0.5, 2.0]]])
SPREAD = 0.7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    default = ROOT / "data" / "hdf5_classification"
    parser.add_argument("--out", type=Path, default=default, help="folder for the files")
    out = parser.parse_args().out

    out.mkdir(parents=True, exist_ok=True)
    (out / ".gitignore").write_text("*\n")  # all of it can be made again
    # RandomState and not default_rng: its numbers are the same in every version of NumPy.
    rng = np.random.RandomState(1)
    for name, count in POINTS.items():
        write(out, name, points(rng, count))
        print(f"{out / name}.h5: {count} points")


def points(rng: np.random.RandomState, count: int) -> dict[str, np.ndarray]:
    """Points (count, 4) and their classes (count,)."""
    label, cloud = rng.randint(2, size=(2, count))
    data = rng.standard_normal((count, FEATURES))
    data[:, :2] = CENTRES[label, cloud] + SPREAD * data[:, :2]
    return {"data": data.astype(np.float32), "label": label.astype(np.float32)}


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
