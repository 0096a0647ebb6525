"""A database as one sequence of records: tables and logs merged, the newest value of each key."""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from operator import attrgetter, itemgetter
from pathlib import Path

from pycaffe_dist.data.leveldb.batches import read_updates
from pycaffe_dist.data.leveldb.files import VALUE
from pycaffe_dist.data.leveldb.manifest import Manifest, TableFile, read_manifest
from pycaffe_dist.data.leveldb.table import Record, Room, Table, Version
from pycaffe_dist.errors import FileError

OPEN_TABLES = 100  # each has a file descriptor
CHUNK = 64  # records that are merged at once


@dataclass
class _Stretch:
    """Tables with overlapping keys and updates among them; nothing else has keys in their range."""

    first: bytes
    last: bytes
    levels: dict[tuple[int, int], list[TableFile]] = field(default_factory=dict)
    updates: list[bytes] = field(default_factory=list)

    def add(self, level: int, table: TableFile) -> None:
        """Tables of one level follow each other, but for level 0, where they may overlap."""
        self.levels.setdefault((level, 0 if level else table.number), []).append(table)
        self.last = max(self.last, table.last)


class LevelDB:
    """A database that is only read, without a lock; nobody may write to it meanwhile.

    Raises:
        FileError: here or while reading: a file is missing or damaged.
    """

    def __init__(self, path: str) -> None:
        folder = Path(path)
        manifest = read_manifest(folder)
        files = _table_files(folder, manifest)
        self._updates = read_updates(folder, manifest)
        room = Room()
        self._table = lru_cache(OPEN_TABLES)(lambda file: Table(files[file.number], file, room))
        self._stretches = list(_stretches(manifest, sorted(self._updates)))
        self._lasts = [stretch.last for stretch in self._stretches]

    def records(self, start: bytes = b"") -> Iterator[list[Record]]:
        """All records from the key ``start`` on in the order of keys, some at a time."""
        for stretch in self._stretches[bisect_left(self._lasts, start) :]:
            for records in self._merged(stretch, start):
                if records and records[0][0] < start:
                    records = [record for record in records if record[0] >= start]
                if records:
                    yield records

    def _merged(self, stretch: _Stretch, start: bytes) -> Iterator[list[Record]]:
        tables = list(stretch.levels.values())
        if len(tables) == 1 == len(tables[0]) and not stretch.updates:
            return self._table(tables[0][0]).records(start)
        updates = self._updates_from(stretch.updates, start)
        if not tables:
            return _in_chunks(updates)
        runs = [self._tables_from(level, start) for level in tables]
        return _in_chunks(heapq.merge(updates, *runs, key=itemgetter(0, 1)))

    def _updates_from(self, keys: list[bytes], start: bytes) -> Iterator[Version]:
        for key in keys[bisect_left(keys, start) :]:
            trailer, buffer, begin, end = self._updates[key]
            yield key, -trailer, buffer, begin, end

    def _tables_from(self, tables: list[TableFile], start: bytes) -> Iterator[Version]:
        for table in tables[bisect_left(tables, start, key=attrgetter("last")) :]:
            yield from self._table(table).versions(start)


def _in_chunks(versions: Iterator[Version]) -> Iterator[list[Record]]:
    """The newest version of each key, unless that is a deletion."""
    seen: bytes | None = None
    while some := list(islice(versions, CHUNK)):
        found: list[Record] = []
        for key, age, buffer, begin, end in some:
            if key != seen:
                seen = key
                if -age & 0xFF == VALUE:
                    found.append((key, buffer, begin, end))
        yield found


def _stretches(manifest: Manifest, keys: list[bytes]) -> Iterator[_Stretch]:
    """Tables and the logs' keys, parted so that a key is in one stretch only, in their order."""
    found: list[_Stretch] = []
    by_first = sorted(manifest.tables.items(), key=lambda item: item[1].first)
    for (level, _), table in by_first:
        if not found or table.first > found[-1].last:
            found.append(_Stretch(table.first, table.last))
        found[-1].add(level, table)
    at = 0
    for stretch in found:
        begin, end = bisect_left(keys, stretch.first), bisect_right(keys, stretch.last)
        if at < begin:
            yield _Stretch(keys[at], keys[begin - 1], updates=keys[at:begin])
        stretch.updates = keys[begin:end]
        yield stretch
        at = end
    if at < len(keys):
        yield _Stretch(keys[at], keys[-1], updates=keys[at:])


def _table_files(folder: Path, manifest: Manifest) -> dict[int, Path]:
    """Where each table is; their names end in .ldb, or .sst in old databases."""
    there = {path.name: path for path in folder.iterdir()}
    files = {}
    for table in manifest.tables.values():
        names = [f"{table.number:06}{end}" for end in (".ldb", ".sst")]
        path = next((there[name] for name in names if name in there), None)
        if path is None:
            raise FileError(
                f"{folder / names[0]}: is missing; the manifest says that it has the records "
                f"{table.first!r} to {table.last!r}. Restore the file, or make the database again."
            )
        files[table.number] = path
    return files
