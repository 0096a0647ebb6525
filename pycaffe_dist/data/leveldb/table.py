"""Tables: sorted entries in blocks, an index of the blocks, and a footer that says where it is.

In a block, an entry is three numbers (how many bytes of its key are those of the entry before it,
how many follow, and the length of the value), the rest of the key, and the value.  Behind the
entries are the restarts, which only a search within the block needs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from struct import Struct, error
from typing import TYPE_CHECKING

from pycaffe_dist.data.leveldb.files import TRAILER, VALUE, Bytes, checksum, contents, damaged
from pycaffe_dist.data.leveldb.log import Payload
from pycaffe_dist.data.leveldb.manifest import TableFile
from pycaffe_dist.errors import FileError
from pycaffe_dist.optional import LazyModule
from pycaffe_dist.proto.wire_format import WireError, read_varint

if TYPE_CHECKING:
    import cramjam
else:
    cramjam = LazyModule("cramjam", "cramjam", "Compressing the blocks of a LevelDB")

FOOTER = 48
MAGIC = bytes.fromhex("57fb808b247547db")
STORED, SNAPPY = 0, 1
BEHIND = 5  # bytes behind a block: how it is compressed, and the checksum

# The numbers of an entry, read at once: most often of one, one, and one to three bytes.
_HEAD = Struct("5B").unpack_from

Record = tuple[bytes, Bytes | Payload, int, int]  # a key, and where its value is
Version = tuple[bytes, int, Bytes | Payload, int, int]  # the same; second, how old it is


Handle = tuple[int, int]  # where a block begins, and its length


@dataclass
class Room:
    """What all tables together may still remember.

    Records are a fifth of a kilobyte each; bytes are those of blocks that were compressed, of which
    LevelDB keeps as many.
    """

    records: int = 200_000
    bytes: int = 8 << 20


class Table:
    """An open table.

    Raises:
        FileError: from any method: it is missing, damaged, or not the one of the manifest.
    """

    def __init__(self, path: Path, file: TableFile, room: Room) -> None:
        self.path = path
        self._room = room
        self._kept: dict[int, tuple[list[Record], bytes | None]] = {}
        self.buffer = contents(path)
        self.view = memoryview(self.buffer)
        size = len(self.buffer)
        if size != file.size:
            raise damaged(path, size, f"it ends here; the manifest says {file.size} bytes")
        if size < FOOTER or self.buffer[size - len(MAGIC) :] != MAGIC:
            raise damaged(path, max(0, size - FOOTER), "this is not the end of a table")
        self.ends: list[bytes] = []  # for each block a key from its last one on
        self.handles: list[Handle] = []
        self._read_index(size - FOOTER)
        self._check_keys(file)

    def records(self, start: bytes) -> Iterator[list[Record]]:
        """Keys and their newest values, block by block, without deleted ones.

        The first block is the one where ``start`` is or would be.
        """
        first = bisect_left(self.ends, start)
        seen: bytes | None = None
        for i in range(first, len(self.handles)):
            found, last = self._kept.get(i) or self._newest(i, seen)
            if i > first or not i:  # else the key before its first one is not known
                self._keep(i, found, last)
            seen = last
            yield found

    def _newest(self, i: int, seen: bytes | None) -> tuple[list[Record], bytes | None]:
        """The records of a block behind the key ``seen``, and its last key."""
        found: list[Record] = []
        for key, buffer, begin, end in self._block(self.handles[i]):
            user = key[:-TRAILER]
            if user != seen:  # else an older value
                seen = user
                if key[-TRAILER] == VALUE:
                    found.append((user, buffer, begin, end))
        return found, seen

    def _keep(self, i: int, found: list[Record], last: bytes | None) -> None:
        """Remember what is in a block."""
        stored = not found or found[0][1] is self.buffer
        size = 0 if stored else len(found[0][1])
        room = self._room
        if i not in self._kept and len(found) <= room.records and size <= room.bytes:
            self._kept[i] = found, last
            room.records -= len(found)
            room.bytes -= size

    def versions(self, start: bytes) -> Iterator[Version]:
        """As ``records``, with older values and deletions; of one key the newest comes first."""
        for handle in self.handles[bisect_left(self.ends, start) :]:
            for key, buffer, begin, end in self._block(handle):
                trailer = int.from_bytes(key[-TRAILER:], "little")
                yield key[:-TRAILER], -trailer, buffer, begin, end

    def _read_index(self, footer: int) -> None:
        """Fill ``ends`` and ``handles``; the index is a block itself, of keys and handles."""
        try:
            _, at = self._handle(footer, self.buffer)  # of blocks that searches for one key use
            index, _ = self._handle(at, self.buffer)
        except (WireError, IndexError) as e:
            raise damaged(self.path, footer, "the place of the index cannot be read") from e
        for key, buffer, begin, _ in self._block(index):
            try:
                handle, _ = self._handle(begin, buffer)
            except (WireError, IndexError) as e:
                raise damaged(self.path, index[0], "the place of a block cannot be read") from e
            self.ends.append(key[:-TRAILER])
            self.handles.append(handle)

    def _handle(self, at: int, buffer: Bytes) -> tuple[Handle, int]:
        offset, at = read_varint(buffer, at, len(buffer))
        size, at = read_varint(buffer, at, len(buffer))
        return (offset, size), at

    def _check_keys(self, file: TableFile) -> None:
        if self.handles:
            first = next(self._block(self.handles[0]), (b"",))[0]
            last = deque(self._block(self.handles[-1]), 1).pop()[0]
            if (first, last) == (file.smallest, file.largest):
                return
        raise damaged(
            self.path, 0, f"it is not the table of the keys {file.first!r} to {file.last!r}"
        )

    def _block(self, handle: Handle) -> Iterator[tuple[bytes, Bytes, int, int]]:
        """Each entry's key with its trailer, and where its value is."""
        buffer, at, end = self._load(handle)
        key = b""
        try:
            while at < end:
                shared, fresh, a, b, c = _HEAD(buffer, at)
                if shared > 127 or fresh > 127:
                    shared, at = read_varint(buffer, at, end)
                    fresh, at = read_varint(buffer, at, end)
                    size, at = read_varint(buffer, at, end)
                elif a < 128:
                    size, at = a, at + 3
                elif b < 128:
                    size, at = a - 128 + (b << 7), at + 4
                elif c < 128:
                    size, at = a - 128 + (b - 128 << 7) + (c << 14), at + 5
                else:
                    size, at = read_varint(buffer, at + 2, end)
                begin = at + fresh
                key = key[:shared] + buffer[at:begin]
                at = begin + size
                yield key, buffer, begin, at
        except (WireError, IndexError, error):
            at = end + 1
        if at != end:
            raise damaged(self.path, handle[0], "the entries of a block do not fill it")

    def _load(self, handle: Handle) -> tuple[Bytes, int, int]:
        """Where the entries of a block are: in the file, or decompressed in memory."""
        begin, size = handle
        end = begin + size
        if end + BEHIND > len(self.buffer) - FOOTER:
            raise damaged(self.path, begin, f"a block of {size} bytes does not fit into the file")
        stored = int.from_bytes(self.buffer[end + 1 : end + BEHIND], "little")
        if checksum(self.view[begin : end + 1]) != stored:
            raise damaged(self.path, begin, f"the checksum of a block of {size} bytes is wrong")
        buffer = self.buffer
        if self.buffer[end] == SNAPPY:
            try:
                buffer = bytes(cramjam.snappy.decompress_raw(self.view[begin:end]))
            except cramjam.DecompressionError as e:
                raise damaged(self.path, begin, f"a block cannot be decompressed: {e}") from e
            begin, end = 0, len(buffer)
        elif self.buffer[end] != STORED:
            raise FileError(
                f"{self.path}: a block at byte {begin} is compressed by method "
                f"{self.buffer[end]}; only Snappy ({SNAPPY}) can be read"
            )
        # The last four bytes are the number of restarts, of four bytes each.
        return buffer, begin, end - 4 - 4 * int.from_bytes(buffer[end - 4 : end], "little")
