"""Log files: records of any length, cut into pieces that do not cross blocks of 32 KiB.

A piece is a checksum (4 bytes, of all that follows its length), a length (2), a type (1) and its
bytes.  Where fewer than 7 bytes are left in a block, the next piece begins in the next one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING

from pycaffe_dist.data.leveldb.files import Bytes, checksum, contents, damaged
from pycaffe_dist.optional import LazyModule

if TYPE_CHECKING:
    import crc32c as checksums
else:
    checksums = LazyModule("crc32c", "crc32c", "Computing the checksum of a file")

BLOCK = 32 << 10
HEADER = Struct("<IHB")
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4


class Payload:
    """A record's bytes where they are in the file; a slice of them is put together when asked."""

    def __init__(self, buffer: Bytes, pieces: list[tuple[int, int]]) -> None:
        self.buffer, self.pieces = buffer, pieces
        self.starts = [0]  # of each piece, counted within the record; then the record's length
        for begin, end in pieces:
            self.starts.append(self.starts[-1] + end - begin)

    def __len__(self) -> int:
        return self.starts[-1]

    def __getitem__(self, place: slice) -> bytes:
        begin, end, _ = place.indices(len(self))
        first = bisect_right(self.starts, begin) - 1
        view, found = memoryview(self.buffer), []
        for i in range(first, bisect_left(self.starts, end)):
            shift = self.pieces[i][0] - self.starts[i]
            found.append(
                view[max(begin, self.starts[i]) + shift : min(end, self.starts[i + 1]) + shift]
            )
        return b"".join(found)

    def place(self, begin: int, end: int) -> tuple[Bytes | Payload, int, int]:
        """A buffer whose slice those bytes are: the file, if one piece has them all."""
        piece = bisect_right(self.starts, begin) - 1
        if piece < len(self.pieces) and end <= self.starts[piece + 1]:
            shift = self.pieces[piece][0] - self.starts[piece]
            return self.buffer, begin + shift, end + shift
        return self, begin, end

    def offset(self, at: int) -> int:
        """Where in the file the record's byte ``at`` is."""
        piece = min(bisect_right(self.starts, at), len(self.pieces)) - 1
        return self.pieces[piece][0] + at - self.starts[piece]


def read_log(path: Path) -> Iterator[Payload]:
    """The records of a log file.

    A last record that is not complete is left out: its writer was stopped, and LevelDB leaves it
    out, too.

    Raises:
        FileError: the file is missing or damaged.
    """
    buffer = contents(path)
    pieces: list[tuple[int, int]] = []
    for kind, begin, end in _pieces(path, buffer):
        opens = kind in (FULL, FIRST)
        # Old versions of LevelDB left an empty first piece at the end of a block.
        if any(b < e for b, e in pieces) if opens else not pieces:
            raise damaged(path, begin - HEADER.size, "the pieces of a record are not all there")
        if opens:
            pieces = []
        pieces.append((begin, end))
        if kind in (FULL, LAST):
            yield Payload(buffer, pieces)
            pieces = []


def _pieces(path: Path, buffer: Bytes) -> Iterator[tuple[int, int, int]]:
    """Type, begin and end of every complete piece."""
    view, at = memoryview(buffer), 0
    while at + HEADER.size <= len(buffer):
        left = BLOCK - at % BLOCK
        if left < HEADER.size:
            at += left
            continue
        stored, length, kind = HEADER.unpack_from(view, at)
        begin = at + HEADER.size
        if not (length or kind):  # room that its writer made and did not use
            end = min(at + left, len(buffer))
            if any(view[at:end]):
                raise damaged(path, at, "bytes where none should be")
            at = end
            continue
        room = left - HEADER.size
        if length > room or (kind in (FIRST, MIDDLE) and length < room):
            raise damaged(path, at, f"a piece of {length} bytes, where there is room for {room}")
        if not FULL <= kind <= LAST:
            raise damaged(path, at, f"a piece has the unknown type {kind}")
        if begin + length > len(buffer):
            _check_unfinished(path, view, at)
            return
        if checksum(view[begin - 1 : begin + length]) != stored:
            raise damaged(path, at, f"the checksum of a piece of {length} bytes is wrong")
        yield kind, begin, begin + length
        at = begin + length


def _check_unfinished(path: Path, view: memoryview, at: int) -> None:
    """Tell a piece that was not written to its end from one whose length is damaged.

    If its checksum is that of fewer bytes than its length says, the length is wrong.
    """
    stored = HEADER.unpack_from(view, at)[0]
    rotated = (stored - 0xA282EAD8) & 0xFFFFFFFF
    wanted = (rotated >> 17 | rotated << 15) & 0xFFFFFFFF
    crc = 0
    for i in range(at + HEADER.size - 1, len(view)):
        crc = checksums.crc32c(view[i : i + 1], crc)
        if crc == wanted:
            raise damaged(path, at + 4, "the length of a piece is wrong")


def log_bytes(record: bytes) -> bytes:
    """A log file with one record."""
    room = BLOCK - HEADER.size
    pieces = [record[at : at + room] for at in range(0, len(record), room)]
    kinds = [FIRST, *[MIDDLE] * (len(pieces) - 2), LAST] if len(pieces) > 1 else [FULL]
    return b"".join(
        HEADER.pack(checksum(bytes([kind]) + piece), len(piece), kind) + piece
        for kind, piece in zip(kinds, pieces, strict=True)
    )
