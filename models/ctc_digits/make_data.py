#!/usr/bin/env python
"""Make data/ctc_digits: strings of handwritten digits; see readme.md beside this file."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from pycaffe_dist.data.hdf5_sink import write_listed
from pycaffe_dist.errors import PcdError

ROOT = Path(__file__).resolve().parents[2]

HEIGHT, WIDTH = 28, 96
LENGTHS = (2, 5)  # digits in a string: from the first to below the second
COUNTS = {"train": 8000, "test": 500}
NO_DIGIT = 0  # CTC's blank: labels are digits plus 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "data" / "ctc_digits", help="folder")
    parser.add_argument("--strings", type=int, help="in each file, instead of 8000 and 500")
    options = parser.parse_args()

    digits = digits_script()
    images, labels = digits.load_digits(ROOT / "data" / "digits" / "digits.npz")
    images = digits.like_mnist(images)[:, :, 4:-4]  # without the margins left and right
    is_test = np.arange(len(labels)) % digits.EVERY_NTH_IS_TEST == 0
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / ".gitignore").write_text("*\n")  # all of it can be made again
    # RandomState and not default_rng: its numbers are the same in every version of NumPy.
    rng = np.random.RandomState(1)
    for name, chosen in ("train", ~is_test), ("test", is_test):
        count = options.strings or COUNTS[name]
        made = [string(rng, images[chosen], labels[chosen]) for _ in range(count)]
        arrays = {
            "data": np.stack([image for image, _ in made]),
            "label": np.stack([label for _, label in made]),
        }
        write_listed(options.out, name, arrays, ROOT)
        print(f"{options.out / name}.h5: {count} strings")


def digits_script() -> ModuleType:
    """The script that makes the databases of single digits, which knows how to read them."""
    path = ROOT / "data" / "digits" / "create_digits.py"
    spec = importlib.util.spec_from_file_location("create_digits", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def string(
    rng: np.random.RandomState, images: NDArray[np.uint8], labels: NDArray[np.uint8]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """An image (1, 28, 96), 0 to 1, of some digits side by side, and their labels, then zeros.

    The space between them, where they begin and how high they stand is drawn.
    """
    count = rng.randint(*LENGTHS)
    chosen = rng.randint(len(labels), size=count)
    canvas = np.zeros((HEIGHT, WIDTH), np.float32)
    side = images.shape[2]
    gaps = rng.multinomial(rng.randint(0, WIDTH - side * count + 1), [1 / count] * count)
    x = 0
    for gap, i in zip(gaps, chosen, strict=True):
        up, x = rng.randint(-3, 4), x + gap
        canvas[:, x : x + side] = np.roll(images[i], up, axis=0) / 255
        x += side
    label = np.full(LENGTHS[1] - 1, NO_DIGIT, np.float32)
    label[:count] = labels[chosen] + 1
    return canvas[None], label


if __name__ == "__main__":
    try:
        main()
    except PcdError as e:
        sys.exit(f"make_data: {e}")
