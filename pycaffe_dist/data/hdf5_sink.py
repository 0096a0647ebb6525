"""Arrays into HDF5 files: one batch, or a whole source for HDF5Data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import atomic_write, open_regular
from pycaffe_dist.optional import LazyModule

if TYPE_CHECKING:
    import h5py
else:
    h5py = LazyModule("h5py", "h5py", "Reading and writing HDF5 files")


def create(path: str) -> None:
    """Make the file anew, with nothing in it."""
    with open_regular(path, "wb") as raw, _saying(path), h5py.File(raw, "w"):
        pass


def write(path: str, **datasets: Array) -> None:
    """Add datasets to a file that is there."""
    with open_regular(path, "r+b") as raw, _saying(path), h5py.File(raw, "r+") as file:
        for name, values in datasets.items():
            file.create_dataset(name, data=values)


def write_whole(path: str, **datasets: Array) -> None:
    """Write a file of these datasets, which takes the place of what was there when it is whole."""
    with atomic_write(path) as raw, _saying(path), h5py.File(raw, "w") as file:
        for name, values in datasets.items():
            file.create_dataset(name, data=values)


@contextmanager
def _saying(path: str) -> Iterator[None]:
    try:
        yield
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
