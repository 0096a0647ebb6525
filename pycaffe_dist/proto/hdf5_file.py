"""An HDF5 file for reading: only what it holds itself, within a budget, with errors that name it.

HDF5 lets a file name others whose bytes are to be taken for its own (external links, external
storage, virtual datasets), and name one dataset any number of times.  A file of a stranger's could
so put a private file into weights, or a terabyte into memory.  Hence:

* other files are not followed, unless the variable ``PCD_HDF5_EXTERNAL`` is set;
* a dataset is read once, however many names it has;
* all values read from a file together are at most ``MOST_BYTES``, or ``MOST_GROWTH`` times the
  file's size; and so with the number of its objects and of its chunks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pycaffe_dist.aliases import Array, DType
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import check_is_file, reading
from pycaffe_dist.optional import LazyModule

if TYPE_CHECKING:
    import h5py

    Object: TypeAlias = h5py.Group | h5py.Dataset
else:
    h5py = LazyModule("h5py", "h5py", "Reading and writing HDF5 files")


FOLLOW = "PCD_HDF5_EXTERNAL"
MOST_BYTES = 128 << 20
MOST_GROWTH = 200
MOST_OBJECTS = 1 << 14  # or one for each 128 bytes of the file
MOST_CHUNKS = 1 << 15  # or one for each 32: HDF5 takes 4 kB to find one
MOST_LINKS = 16  # soft links, one behind the other

DAMAGED = "is not a readable HDF5 file"


@contextmanager
def open_hdf5(path: str | os.PathLike[str], image: Array | None = None) -> Iterator[HDF5File]:
    """The file; whatever HDF5 says while the block reads it goes out as our error.

    Args:
        path: the file.
        image: its bytes, where somebody had to read them all (to compare them with a checksum):
            values that are in it as they are wanted are views of it, and not read again.

    Raises:
        FileError: it is not there, is damaged, is beyond its budget, or names other files.
    """
    check_is_file(path)
    with reading(path, DAMAGED), h5py.File(path, "r") as file:
        yield HDF5File(path, file, image)


class HDF5File:
    """The objects and values of a file that ``open_hdf5`` has opened."""

    def __init__(
        self, path: str | os.PathLike[str], file: h5py.File, image: Array | None = None
    ) -> None:
        self.path, self.root, self._image = path, file, image
        self.size = os.path.getsize(path)
        self.follow = os.environ.get(FOLLOW, "0") not in ("", "0")
        self._objects = self._bytes = self._chunks = 0
        self._read: dict[tuple[h5py.h5d.DatasetID, DType], Array] = {}

    def get(
        self, path: str, parent: Object | None = None, links: int = MOST_LINKS
    ) -> Object | None:
        """The group or dataset at ``path`` below ``parent`` or the root; None if there is none."""
        found = self.root if parent is None else parent
        if self.follow:
            return found.get(path)
        for name in path.split("/"):
            if name in ("", "."):
                continue
            if not isinstance(found, h5py.Group):
                return None
            found = self._step(found, name, links)
        return found

    def _step(self, group: h5py.Group, name: str, links: int) -> Object | None:
        """One link, looked at before HDF5 follows it: it would open other files by itself."""
        key, known = os.fsencode(name), group.id.links
        if not known.exists(key):
            return None
        kind = known.get_info(key).type
        if kind == h5py.h5l.TYPE_HARD:
            self._objects += 1
            self._within(self._objects, MOST_OBJECTS, 1 / 128, "objects")
            return group[name]
        if kind != h5py.h5l.TYPE_SOFT:
            raise self._foreign(f"{group.name}/{name}", "is a link to another file")
        if not links:
            raise FileError(f"{self.path}: {DAMAGED}: {group.name}/{name} links to itself")
        target = os.fsdecode(known.get_val(key))
        return self.get(target, self.root if target.startswith("/") else group, links - 1)

    def values(self, dataset: h5py.Dataset, kind: str | None = None) -> Array:
        """All values, read-only: of the type ``kind``, or float64 as such and others as float32."""
        dtype = np.dtype(kind or ("f8" if dataset.dtype == np.float64 else "f4"))
        array = self._read.get((dataset.id, dtype))
        if array is None:
            self._admit(dataset, dtype)
            array = self._view(dataset, dtype)
            if array is None:
                array = np.empty(dataset.shape, dtype)
                if array.size:
                    dataset.id.read(h5py.h5s.ALL, h5py.h5s.ALL, array)
                array.flags.writeable = False
            self._read[dataset.id, dtype] = array
        return array

    def _view(self, dataset: h5py.Dataset, dtype: DType) -> Array | None:
        """The values within the image; None if they are not there in one piece as ``dtype``."""
        begin = dataset.id.get_offset()  # None for chunks, other files, and what is not written
        if self._image is None or begin is None or dataset.dtype != dtype:
            return None
        values = self._image[begin : begin + dataset.size * dtype.itemsize]
        return values.view(dtype).reshape(dataset.shape)

    def _admit(self, dataset: h5py.Dataset, dtype: DType) -> None:
        if not self.follow and dataset.is_virtual:
            raise self._foreign(dataset.name, "is a virtual dataset, made of other ones")
        if not self.follow and dataset.id.get_create_plist().get_external_count():
            raise self._foreign(dataset.name, "has its values in another file")
        self._bytes += dataset.size * max(dtype.itemsize, dataset.dtype.itemsize)
        self._within(self._bytes, MOST_BYTES, MOST_GROWTH, "bytes of values")
        if dataset.chunks:
            chunks = [-(-n // c) for n, c in zip(dataset.shape, dataset.chunks, strict=True)]
            self._chunks += int(np.prod(chunks, dtype=object))
            self._within(self._chunks, MOST_CHUNKS, 1 / 32, "chunks")

    def _within(self, used: int, floor: int, rate: float, what: str) -> None:
        most = max(floor, int(rate * self.size))
        if used > most:
            raise FileError(
                f"{self.path}: holds more than {most:,} {what}, too many for a file of "
                f"{self.size:,} bytes. If it is yours, write it without compression."
            )

    def _foreign(self, name: str, what: str) -> FileError:
        return FileError(
            f"{self.path}: {name} {what}, which is not followed. If the file is one that you "
            f"trust, set {FOLLOW}=1."
        )
