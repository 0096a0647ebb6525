#!/usr/bin/env python
"""Make data/lstm: sequences of symbols, some marked; see readme.md beside this file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import h5py
import numpy as np

from pycaffe_dist.errors import PcdError
from pycaffe_dist.files import atomic_write

ROOT = Path(__file__).resolve().parents[2]

SYMBOLS = 8
STEPS = 20
SEQUENCES = 32  # in a batch
MARKED = 0.2  # of all steps, besides the first
BATCHES = {"train": 200, "test": 25}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--out", type=Path, default=ROOT / "data" / "lstm", help="folder for the files"
    )
    out = parser.parse_args().out

    out.mkdir(parents=True, exist_ok=True)
    (out / ".gitignore").write_text("*\n")  # all of it can be made again
    # RandomState and not default_rng: its numbers are the same in every version of NumPy.
    rng = np.random.RandomState(1)
    for name, count in BATCHES.items():
        batches = [batch(rng) for _ in range(count)]
        arrays = {key: np.stack([b[key] for b in batches]) for key in batches[0]}
        write(out, name, arrays)
        print(f"{out / name}.h5: {count} batches of {SEQUENCES} sequences, {STEPS} steps each")


def batch(rng: np.random.RandomState) -> dict[str, np.ndarray]:
    """Inputs (steps, sequences, 9): the symbol as one of eight, and a 1 where it is marked.

    The label (steps, sequences) is the symbol that was marked last.
    """
    symbols = rng.randint(SYMBOLS, size=(STEPS, SEQUENCES))
    marked = rng.uniform(size=(STEPS, SEQUENCES)) < MARKED
    marked[0] = True
    steps = np.arange(STEPS)[:, np.newaxis]
    last_marked = np.maximum.accumulate(np.where(marked, steps, 0))
    return {
        "batch": np.concatenate(
            [np.eye(SYMBOLS)[symbols], marked[..., np.newaxis]], axis=2, dtype=np.float32
        ),
        # 0 where a sequence begins: nothing is carried over from the batch before.
        "batch_cont": np.repeat(steps > 0, SEQUENCES, axis=1).astype(np.float32),
        "batch_label": np.take_along_axis(symbols, last_marked, axis=0).astype(np.float32),
    }


def write(folder: Path, name: str, arrays: dict[str, np.ndarray]) -> None:
    """The arrays as name.h5, and name.txt that lists it as HDF5Data wants."""
    path = folder / f"{name}.h5"
    with atomic_write(path) as file, h5py.File(file, "w") as h5:
        for key, values in arrays.items():
            h5.create_dataset(key, data=values, compression="gzip")
    # Paths count from where a command is run, which is the project's folder.
    listed = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    with atomic_write(folder / f"{name}.txt") as file:
        file.write(f"{listed}\n".encode())


if __name__ == "__main__":
    try:
        main()
    except (PcdError, OSError) as e:
        sys.exit(str(e))
