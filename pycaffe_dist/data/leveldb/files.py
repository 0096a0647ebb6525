"""What all files of a LevelDB have in common: names, checksums, and errors that say where."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import TYPE_CHECKING

from pycaffe_dist.errors import FileError
from pycaffe_dist.files import check_is_file, reading
from pycaffe_dist.optional import LazyModule

if TYPE_CHECKING:
    import crc32c as checksums
else:
    checksums = LazyModule("crc32c", "crc32c", "Computing the checksum of a file")

Bytes = bytes | mmap.mmap  # both give numbers by index and bytes by slice

DELETION, VALUE = 0, 1  # the kinds of an update
TRAILER = 8  # bytes behind a key in a table: sequence number << 8 | kind, little-endian
COMPARATOR = b"leveldb.BytewiseComparator"


def table_name(number: int) -> str:
    return f"{number:06}.ldb"


def damaged(path: Path, offset: int, what: str) -> FileError:
    return FileError(
        f"{path}: is damaged at byte {offset}: {what}. "
        "Restore the file, or make the database again."
    )


def contents(path: Path) -> Bytes:
    """The bytes of a file, mapped into memory.

    Raises:
        FileError: it is missing, or not readable.
    """
    check_is_file(path)
    with reading(path), path.open("rb") as file:
        if not os.fstat(file.fileno()).st_size:
            return b""  # cannot be mapped
        return mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)


def checksum(data: bytes | memoryview) -> int:
    """CRC32C, masked: stored beside data that holds checksums itself, it must not look like one."""
    crc = checksums.crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
