"""Seals: checksums in the files that we write, where no other reader minds them.

A seal is one field of protobuf, of a number that no Caffe uses: a few words and the CRC-32C of all
the rest of the file.  A message begins with it.  An HDF5 file, or a .pcdstate, has it behind its
end.  Both are places that it loses when another program changes the file: protobuf writes fields
that it does not know last, HDF5 cuts off what is not its own.  So a seal that is in its place and
does not fit means damage, and a file without one is another program's.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import nullcontext
from queue import SimpleQueue
from threading import Thread
from typing import IO, TYPE_CHECKING

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import check_is_file, reading
from pycaffe_dist.optional import LazyModule
from pycaffe_dist.proto import wire_format

if TYPE_CHECKING:
    import crc32c as checksums
else:
    checksums = LazyModule("crc32c", "crc32c", "Computing the checksum of a file")

_WORDS = b"CRC-32C by pycaffe_dist:"
_HEAD = wire_format.head(0x1CAFFE5, len(_WORDS) + 4) + _WORDS
SIZE = len(_HEAD) + 4
_NEARLY = 8  # bits in which a damaged head differs at most; in others about half of them do
_CHUNK = 1 << 22  # bytes that are read, and handed to another thread, at once


def seal(parts: Iterable[bytes | memoryview]) -> tuple[bytes, int]:
    """What to write in front of a message, and its checksum."""
    checksum = 0
    for part in parts:
        checksum = checksums.crc32c(part, checksum)
    return _sealed(checksum), checksum


def checksum_of(values: Array) -> int:
    """The CRC-32C of an array's bytes."""
    return checksums.crc32c(values.reshape(-1).view(np.uint8))


def seal_end(file: IO[bytes]) -> int:
    """Write a seal behind all that a file holds, which may be read; the checksum."""
    checksum = 0
    file.seek(0)
    while chunk := file.read(_CHUNK):
        checksum = checksums.crc32c(chunk, checksum)
    file.write(_sealed(checksum))
    return checksum


def _sealed(checksum: int) -> bytes:
    return _HEAD + checksum.to_bytes(4, "little")


def load(path: str | os.PathLike[str], most: int) -> tuple[Array, int | None]:
    """A message file without its seal in one array, and its checksum, if it has one.

    Raises:
        FileError: the file cannot be read, has more than ``most`` bytes, or does not fit its seal.
    """
    check_is_file(path)
    with reading(path), open(path, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise FileError(
                f"{path}: {size:,} bytes; Caffe's binary format ends at 2 GiB. "
                "Larger weights are kept as .caffemodel.h5."
            )
        stored = _stored(path, file.read(SIZE))
        begin = SIZE if stored is not None else file.seek(0)
        data = np.empty(max(0, size - begin), np.uint8)
        done, checksum = _fill(file, memoryview(data), stored is not None)
    if stored is not None:
        _compare(path, stored, checksum)
    data.flags.writeable = False
    return data[:done], stored


def _fill(file: IO[bytes], view: memoryview, checked: bool) -> tuple[int, int]:
    """Read a file into memory: how many bytes there were, and their checksum if it is wanted."""
    done = 0
    with _Checksum() if checked else nullcontext() as checksum:
        while done < len(view) and (count := file.readinto(view[done : done + _CHUNK])):  # type: ignore[attr-defined]
            if checksum is not None:
                checksum.add(view[done : done + count])
            done += count
    return done, checksum.value if checksum is not None else 0


class _Checksum:
    """The CRC-32C of pieces of memory, computed by a thread while the next ones are read.

    Reading and computing both let go of the GIL, and reading takes longer: of the time that
    computing takes, only the last piece's is waited for.

    Attributes:
        value: once the block has ended, that of all pieces one after the other.
    """

    def __init__(self) -> None:
        self.value = 0
        self._crc32c = checksums.crc32c  # that it is missing is said here, not in the thread
        self._pieces: SimpleQueue[memoryview | None] = SimpleQueue()
        self._thread = Thread(target=self._compute, name="pcd-checksum")

    def add(self, piece: memoryview) -> None:
        self._pieces.put(piece)

    def _compute(self) -> None:
        while (piece := self._pieces.get()) is not None:
            self.value = self._crc32c(piece, self.value)

    def __enter__(self) -> _Checksum:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._pieces.put(None)
        self._thread.join()


def load_end(path: str | os.PathLike[str]) -> tuple[Array | None, int | None]:
    """A file with a seal behind its end in one array, and its checksum; None if it has no seal.

    Raises:
        FileError: the file cannot be read, or does not fit its seal.
    """
    check_is_file(path)
    with reading(path), open(path, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - SIZE))
        stored = _stored(path, file.read(SIZE))
        if stored is None:
            return None, None
        file.seek(0)
        data = np.empty(size - SIZE, np.uint8)
        _, checksum = _fill(file, memoryview(data), True)
    _compare(path, stored, checksum)
    data.flags.writeable = False
    return data, stored


def _stored(path: str | os.PathLike[str], block: bytes) -> int | None:
    """The checksum in a seal; None if it is none."""
    if len(block) < SIZE:
        return None
    head, number = block[: len(_HEAD)], block[len(_HEAD) :]
    if head == _HEAD:
        return int.from_bytes(number, "little")
    different = int.from_bytes(head, "big") ^ int.from_bytes(_HEAD, "big")
    if different.bit_count() <= _NEARLY:
        raise _damaged(path)
    return None


def _compare(path: str | os.PathLike[str], stored: int, found: int) -> None:
    if stored != found:
        raise _damaged(path, f": it is {found:08x}, and was {stored:08x} when the file was written")


def _damaged(path: str | os.PathLike[str], more: str = "") -> FileError:
    return FileError(
        f"{path}: is damaged: its checksum is wrong{more}. Fetch it again, or use an older one."
    )
