"""HDF5 files: rows of named datasets in, one batch out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pycaffe_dist.aliases import Array, Facts
from pycaffe_dist.data import draws
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import read_bytes
from pycaffe_dist.optional import LazyModule
from pycaffe_dist.proto.hdf5_file import HDF5File, open_hdf5

if TYPE_CHECKING:
    import h5py
else:
    h5py = LazyModule("h5py", "h5py", "Reading and writing HDF5 files")


class HDF5Source:
    """The rows of the datasets ``names`` in the files that the text file ``path`` lists.

    Files come one after the other, each wholly in memory, and from the last it continues with the
    first.  With ``shuffle`` the order of the files is drawn anew every time round, and that of the
    rows with every file: the same on every rank and in every run.
    """

    def __init__(self, path: str, names: Sequence[str], shuffle: bool = False) -> None:
        self.names = names
        self.files = listed_files(path)
        self._rng = np.random.RandomState(1) if shuffle else None
        self._file_order = list(range(len(self.files)))
        if self._rng:
            self._rng.shuffle(self._file_order)
        self._place = 0  # in the order of files
        self._row = 0  # in the order of rows
        self._load()

    @property
    def row_shapes(self) -> list[tuple[int, ...]]:
        return [array.shape[1:] for array in self._arrays]

    def read(self, out: Sequence[Array], rank: int = 0, ranks: int = 1) -> None:
        """Fill the arrays ``out`` with rows ``rank`` of every ``ranks`` from here on."""
        count, filled = len(out[0]), 0
        behind = ranks - rank - 1
        self._skip(rank)
        while filled < count:
            rows = self._order[self._row :: ranks][: count - filled]
            for target, array in zip(out, self._arrays, strict=True):
                target[filled : filled + len(rows)] = array[rows]
            filled += len(rows)
            step = (len(rows) - 1) * ranks + 1 + (behind if filled == count else ranks - 1)
            self._skip(step)

    def sizes(self) -> dict[str, int]:
        """What tells two lists apart without reading more than the file in memory."""
        return {"number of files": len(self.files), "rows of the file in hand": len(self._order)}

    def position(self) -> Facts:
        """Where the next row is; the same on all ranks."""
        position: Facts = {"file": self._place, "row": self._row}
        if self._rng:
            position["files"] = np.array(self._file_order)
            position["rows"] = self._order.copy()
            position["rng"] = draws.state_of(self._rng)
        return position

    def go_to(self, position: Facts) -> None:
        """Resume from what ``position`` gave."""
        if self._rng and "rng" in position:
            self._file_order = position["files"].tolist()
        if position["file"] >= len(self.files) or len(self._file_order) != len(self.files):
            raise FileError("the snapshot was made with another list of HDF5 files")
        self._place = position["file"]
        self._load()
        if self._rng and "rng" in position:
            self._order = position["rows"].copy()
            self._rng = draws.from_state(position["rng"])
        self._row = position["row"]
        if self._row >= len(self._order) or len(self._order) != len(self._arrays[0]):
            raise FileError("the snapshot was made with HDF5 files of other lengths")

    def _skip(self, rows: int) -> None:
        self._row += rows
        while self._row >= len(self._order):
            self._row -= len(self._order)
            self._next_file()

    def _next_file(self) -> None:
        if len(self.files) > 1:
            self._place += 1
            if self._place == len(self.files):
                self._place = 0
                if self._rng:
                    self._rng.shuffle(self._file_order)
            self._load()
        elif self._rng:
            self._rng.shuffle(self._order)

    def _load(self) -> None:
        path = self.files[self._file_order[self._place]]
        arrays = read_datasets(path, self.names)
        known = getattr(self, "_arrays", arrays)
        for name, new, old in zip(self.names, arrays, known, strict=True):
            if new.shape[1:] != old.shape[1:]:
                raise FileError(
                    f'{path}: the rows of "{name}" have the shape {new.shape[1:]}, those of the '
                    f"files before {old.shape[1:]}"
                )
        self._arrays = arrays
        self._order = np.arange(len(arrays[0]))
        if self._rng:
            self._rng.shuffle(self._order)


def listed_files(path: str) -> list[str]:
    """The names in a text file, separated by white space.

    Raises:
        FileError: the list cannot be read, names nothing, or a file that is not there.
    """
    text = read_bytes(path).decode(errors="surrogateescape")
    names = [(n, name) for n, line in enumerate(text.split("\n"), 1) for name in line.split()]
    if not names:
        raise FileError(f"{path}: lists no HDF5 file")
    for number, name in names:
        if not os.path.exists(name):
            raise FileError(
                f"{path}:{number}: the HDF5 file {name!r} is not there, seen from {os.getcwd()}. "
                "The list has nothing but names of files, without spaces in them."
            )
    return [name for _, name in names]


def read_datasets(path: str, names: Sequence[str]) -> list[Array]:
    """Datasets of equally many rows, as float32.

    Raises:
        FileError: the file or a dataset is missing, holds no numbers, or the rows do not agree.
    """
    with open_hdf5(path) as file:
        arrays = [file.values(_dataset(file, name), "f4") for name in names]
    for name, array in zip(names, arrays, strict=True):
        if len(array) != len(arrays[0]):
            raise FileError(
                f'{path}: "{name}" has {len(array)} rows, "{names[0]}" {len(arrays[0])}'
            )
    if not len(arrays[0]):
        raise FileError(f'{path}: "{names[0]}" has no rows')
    return arrays


def row_shapes(path: str, names: Sequence[str]) -> list[tuple[int, ...]]:
    """The shapes of the rows in a file, without reading the values."""
    with open_hdf5(path) as file:
        return [_dataset(file, name).shape[1:] for name in names]


def _dataset(file: HDF5File, name: str) -> h5py.Dataset:
    found = file.get(name)
    if not isinstance(found, h5py.Dataset):
        raise FileError(
            f'{file.path}: has no dataset "{name}" for the top of that name; it holds '
            f"{', '.join(file.root) or 'nothing'}"
        )
    if found.shape is None or found.ndim < 1 or found.dtype.kind not in "fiu":
        raise FileError(
            f'{file.path}: "{name}" is of type {found.dtype} and shape {found.shape}; '
            "numbers with at least one axis are needed"
        )
    return found
