"""Arrays into HDF5 files: one batch, or a whole source for HDF5Data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import h5py

from pycaffe_dist.errors import FileError
from pycaffe_dist.files import atomic_write
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


def write_listed(folder: Path, name: str, arrays: Mapping[str, Array], root: Path) -> None:
    """Write ``name``.h5 and ``name``.txt, the list of it that HDF5Data reads.

    Paths in a list count from where a command is run: ``root``, if the folder is within it.
    """
    path = folder / f"{name}.h5"
    with atomic_write(path) as raw, h5py.File(raw, "w") as file:
        for key, values in arrays.items():
            file.create_dataset(key, data=values, compression="gzip")
    listed = path.relative_to(root) if path.is_relative_to(root) else path
    with atomic_write(folder / f"{name}.txt") as text:
        text.write(f"{listed}\n".encode())
