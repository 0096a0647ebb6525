"""New databases: sorted tables and a manifest, with the block size of Caffe's converters."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING

from pycaffe_dist.data.leveldb.files import DELETION, TRAILER, VALUE, checksum, table_name
from pycaffe_dist.data.leveldb.manifest import TableFile, write_manifest
from pycaffe_dist.data.leveldb.reader import OPEN_TABLES
from pycaffe_dist.data.leveldb.table import FOOTER, MAGIC, SNAPPY, STORED, Room, Table
from pycaffe_dist.optional import LazyModule
from pycaffe_dist.proto.wire_format import varint

if TYPE_CHECKING:
    import cramjam
else:
    cramjam = LazyModule("cramjam", "cramjam", "Compressing the blocks of a LevelDB")

BLOCK_BYTES = 64 << 10
TABLE_BYTES = 16 << 20  # collected and sorted before a table is written
RESTART = 16  # entries from one whole key to the next
# Tables that do not overlap are of the last level: LevelDB has no reason to write them again.
OVERLAPPING, LAST_LEVEL = 0, 6
MANIFEST_NUMBER = 1


class Writer:
    """Records on their way into a new database in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tables: list[TableFile] = []
        self._records: dict[bytes, tuple[int, bytes | None]] = {}
        self._bytes = 0
        self._sequence = 0
        self._open = lru_cache(OPEN_TABLES)(
            lambda file: Table(folder / table_name(file.number), file, Room(0))
        )

    def put(self, key: bytes, value: bytes | None, replace: bool) -> bool:
        """Take a record; False, and nothing is done, if its key was there before.

        Args:
            key: the record's key.
            value: None: if there is such a record, it goes.
            replace: instead of what the key had before.
        """
        if not replace and (key in self._records or self._written(key)):
            return False
        self._sequence += 1
        self._records[key] = self._sequence, value
        self._bytes += len(key) + len(value or b"")
        if self._bytes >= TABLE_BYTES:
            self._flush()
        return True

    def finish(self) -> None:
        """Write what is left, and the manifest."""
        self._flush()
        tables = sorted(self.tables, key=lambda table: table.first)
        apart = all(a.last < b.first for a, b in pairwise(tables))
        level = LAST_LEVEL if apart else OVERLAPPING
        write_manifest(self.folder, MANIFEST_NUMBER, level, tables, self._sequence)

    def _written(self, key: bytes) -> bool:
        """Keys come in order nearly always, and then no table needs a look."""
        return any(
            any(found[0] == key for found in next(self._open(file).records(key)))
            for file in self.tables
            if file.first <= key <= file.last
        )

    def _flush(self) -> None:
        if self._records:
            number = MANIFEST_NUMBER + 1 + len(self.tables)
            rows = [
                (key + _trailer(sequence, value), value or b"")
                for key, (sequence, value) in sorted(self._records.items())
            ]
            size = write_table(self.folder / table_name(number), rows)
            self.tables.append(TableFile(number, size, rows[0][0], rows[-1][0]))
        self._records.clear()
        self._bytes = 0


def _trailer(sequence: int, value: bytes | None) -> bytes:
    kind = DELETION if value is None else VALUE
    return (sequence << 8 | kind).to_bytes(TRAILER, "little")


def write_table(path: Path, rows: list[tuple[bytes, bytes]]) -> int:
    """Write a table of sorted rows, whose keys have their trailers, and return its size."""
    with path.open("wb") as file:
        index: list[tuple[bytes, bytes]] = []
        block = _Block(RESTART)
        for key, value in rows:
            block.add(key, value)
            if len(block.data) >= BLOCK_BYTES or key == rows[-1][0]:
                index.append((key, block.write(file)))
                block = _Block(RESTART)
        meta = _Block(RESTART).write(file)
        last = _Block(1)
        for key, handle in index:
            last.add(key, handle)
        footer = meta + last.write(file)
        file.write(footer.ljust(FOOTER - len(MAGIC), b"\0") + MAGIC)
        return file.tell()


class _Block:
    """Entries on their way into a block; see table.py."""

    def __init__(self, restart: int) -> None:
        self.restart = restart
        self.data = bytearray()
        self.restarts = [0]
        self.count = 0
        self.key = b""

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self.count and self.count % self.restart == 0:
            self.restarts.append(len(self.data))
        elif self.count:
            shared = _shared(self.key, key)
        self.data += varint(shared) + varint(len(key) - shared) + varint(len(value))
        self.data += key[shared:]
        self.data += value
        self.key = key
        self.count += 1

    def write(self, file: IO[bytes]) -> bytes:
        """Write the block, compressed if that saves an eighth, and return its handle."""
        for number in (*self.restarts, len(self.restarts)):
            self.data += number.to_bytes(4, "little")
        kind, data = STORED, bytes(self.data)
        packed = bytes(cramjam.snappy.compress_raw(data))
        if len(packed) < len(data) - len(data) // 8:
            kind, data = SNAPPY, packed
        handle = varint(file.tell()) + varint(len(data))
        data += bytes([kind])
        file.write(data + checksum(data).to_bytes(4, "little"))
        return handle


def _shared(one: bytes, two: bytes) -> int:
    """How many bytes both begin with."""
    for i, (a, b) in enumerate(zip(one, two, strict=False)):
        if a != b:
            return i
    return min(len(one), len(two))
