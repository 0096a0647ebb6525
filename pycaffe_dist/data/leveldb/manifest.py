"""The manifest: which tables and logs make up a database.

It is a log file of edits; the database is what all of them together leave.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pycaffe_dist.data.leveldb.files import COMPARATOR, TRAILER, contents, damaged
from pycaffe_dist.data.leveldb.log import Payload, log_bytes, read_log
from pycaffe_dist.errors import FileError
from pycaffe_dist.proto.wire_format import WireError, read_varint, varint

NAME, LOG, NEXT_FILE, SEQUENCE, POINTER, DELETED, ADDED, PREVIOUS_LOG = 1, 2, 3, 4, 5, 6, 7, 9
NUMBERS = {LOG: "log", NEXT_FILE: "next_file", SEQUENCE: "sequence", PREVIOUS_LOG: "previous_log"}


@dataclass(frozen=True)
class TableFile:
    """A table: the number that names its file, its size, and its first and last key.

    These keys have their trailer of sequence number and kind.
    """

    number: int
    size: int
    smallest: bytes
    largest: bytes

    @property
    def first(self) -> bytes:
        return self.smallest[:-TRAILER]

    @property
    def last(self) -> bytes:
        return self.largest[:-TRAILER]


@dataclass
class Manifest:
    """What the edits leave; a number that none of them has set is None."""

    log: int | None = None  # logs with smaller numbers have become tables
    next_file: int | None = None
    sequence: int | None = None  # of the last update when the manifest was written
    previous_log: int | None = None
    tables: dict[tuple[int, int], TableFile] = field(default_factory=dict)  # by level and number


def read_manifest(folder: Path) -> Manifest:
    """The manifest that ``CURRENT`` names.

    Raises:
        FileError: it is missing, damaged, or of a database with another order of keys.
    """
    current = folder / "CURRENT"
    if not current.exists():
        raise FileError(f"{folder}: is not a readable LevelDB: it has no file CURRENT")
    line = contents(current)[:]
    if not (line.startswith(b"MANIFEST-") and line.endswith(b"\n") and line[9:-1].isdigit()):
        raise damaged(current, 0, f"it is {line[:40]!r}, not the name of a manifest and a newline")
    path = folder / line[:-1].decode()
    manifest = Manifest()
    for payload in read_log(path):
        _apply(path, payload, manifest)
    for name in ("log", "next_file", "sequence"):
        if getattr(manifest, name) is None:
            raise damaged(path, path.stat().st_size, f"it ends before it says its {name} number")
    return manifest


def _apply(path: Path, payload: Payload, manifest: Manifest) -> None:
    edit = _Fields(payload[:])
    try:
        while edit.at < len(edit.data):
            begin, tag = edit.at, edit.number()
            if tag in NUMBERS:
                setattr(manifest, NUMBERS[tag], edit.number())
            elif tag == NAME:
                name = edit.string()
                if name != COMPARATOR:
                    raise FileError(
                        f"{path}: its keys are ordered by {name.decode(errors='replace')!r}; "
                        f"only {COMPARATOR.decode()} can be read"
                    )
            elif tag == POINTER:
                edit.number(), edit.string()
            elif tag == DELETED:
                manifest.tables.pop((edit.number(), edit.number()), None)
            elif tag == ADDED:
                level = edit.number()
                table = TableFile(edit.number(), edit.number(), edit.string(), edit.string())
                manifest.tables[level, table.number] = table
            else:
                raise damaged(path, payload.offset(begin), f"an edit has the unknown field {tag}")
    except WireError as e:
        raise damaged(path, payload.offset(e.at), f"an edit {e}") from e


class _Fields:
    """Numbers and strings one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def number(self) -> int:
        value, self.at = read_varint(self.data, self.at, len(self.data))
        return value

    def string(self) -> bytes:
        size, begin = read_varint(self.data, self.at, len(self.data))
        if begin + size > len(self.data):
            raise WireError(self.at, "ends in the middle of a string")
        self.at = begin + size
        return self.data[begin : self.at]


def write_manifest(
    folder: Path, number: int, level: int, tables: list[TableFile], sequence: int
) -> None:
    """Write the manifest of tables that are all of one level, and ``CURRENT``."""
    edit = varint(NAME) + _string(COMPARATOR)
    next_file = max([number, *(table.number for table in tables)]) + 1
    for tag, value in ((LOG, 0), (PREVIOUS_LOG, 0), (NEXT_FILE, next_file), (SEQUENCE, sequence)):
        edit += varint(tag) + varint(value)
    for table in tables:
        edit += b"".join(map(varint, (ADDED, level, table.number, table.size)))
        edit += _string(table.smallest) + _string(table.largest)
    name = f"MANIFEST-{number:06}"
    (folder / name).write_bytes(log_bytes(edit))
    (folder / "CURRENT").write_text(name + "\n")


def _string(text: bytes) -> bytes:
    return varint(len(text)) + text
