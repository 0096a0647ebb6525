#!/usr/bin/env python
"""Make data/lstm: sequences of symbols, some marked; see readme.md beside this file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from pycaffe_dist.data.hdf5_sink import write_listed
from pycaffe_dist.errors import PcdError

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
        write_listed(out, name, arrays, ROOT)
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


if __name__ == "__main__":
    try:
        main()
    except (PcdError, OSError) as e:
        sys.exit(str(e))
