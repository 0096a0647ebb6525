#!/usr/bin/env python
"""Make data/hdf5_classification: points of two classes; see readme.md beside this file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from pycaffe_dist.data.hdf5_sink import write_listed
from pycaffe_dist.errors import PcdError

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
        write_listed(out, name, points(rng, count), ROOT)
        print(f"{out / name}.h5: {count} points")


def points(rng: np.random.RandomState, count: int) -> dict[str, np.ndarray]:
    """Points (count, 4) and their classes (count,)."""
    label, cloud = rng.randint(2, size=(2, count))
    data = rng.standard_normal((count, FEATURES))
    data[:, :2] = CENTRES[label, cloud] + SPREAD * data[:, :2]
    return {"data": data.astype(np.float32), "label": label.astype(np.float32)}


if __name__ == "__main__":
    try:
        main()
    except (PcdError, OSError) as e:
        sys.exit(str(e))
