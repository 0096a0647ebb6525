"""A new HDF5 file with one dataset that grows batch by batch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import atomic_write
from pycaffe_dist.optional import LazyModule

if TYPE_CHECKING:
    import h5py
else:
    h5py = LazyModule("h5py", "h5py", "Reading and writing HDF5 files")


@contextmanager
def new_rows(path: str, name: str) -> Iterator[Callable[[Array], None]]:
    """The function that appends rows to the dataset ``name`` of a file that is not there yet.

    The file is there, whole, when the block ends well.

    Raises:
        FileError: it exists already, or cannot be written.
    """
    if os.path.lexists(path):
        raise FileError(f"{path}: already exists. Choose another name, or move it away.")
    dataset: h5py.Dataset | None = None

    def append(rows: Array) -> None:
        nonlocal dataset
        if dataset is None:
            dataset = file.create_dataset(
                name, (0, *rows.shape[1:]), np.float32, maxshape=(None, *rows.shape[1:])
            )
        begin = len(dataset)
        dataset.resize(begin + len(rows), axis=0)
        dataset[begin:] = rows

    with atomic_write(path) as raw, h5py.File(raw, "w") as file:
        yield append
