"""One batch into an HDF5 file."""

from __future__ import annotations

import h5py

from pycaffe_dist.errors import FileError
from pycaffe_dist.memory import Array


def create(path: str) -> None:
    """Make the file anew, with nothing in it."""
    try:
        h5py.File(path, "w").close()
    except OSError as e:
        raise FileError(f"{path}: cannot be written: {e}") from e


def write(path: str, **datasets: Array) -> None:
    """Add datasets to a file that is there."""
    try:
        with h5py.File(path, "r+") as file:
            for name, values in datasets.items():
                file.create_dataset(name, data=values)
    except OSError as e:
        raise FileError(f"{path}: cannot be written: {e}") from e
