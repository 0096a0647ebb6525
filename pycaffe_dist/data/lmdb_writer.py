"""New LMDB databases of Datum records, as Caffe's converters make them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pycaffe_dist.data.lmdb_source import open_environment
from pycaffe_dist.data.new_folder import new_folder
from pycaffe_dist.data.source import key_text
from pycaffe_dist.errors import FileError
from pycaffe_dist.optional import LazyModule
from pycaffe_dist.proto import caffe_pb2

if TYPE_CHECKING:
    import lmdb
else:
    lmdb = LazyModule("lmdb", "lmdb", "Reading and writing LMDBs")

RECORDS_PER_COMMIT = 1000
FIRST_MAP_SIZE = 1 << 20
FILE_MODE = 0o664
LABELS = "labels.txt"  # the names of the classes, beside the records
FILES = frozenset({"data.mdb", "lock.mdb", LABELS})

Record = tuple[bytes, bytes]


@dataclass(frozen=True)
class Database:
    """A database that a script makes: its folder's name, and what goes into it."""

    name: str
    record_count: int
    records: Callable[[], Iterable[Record]]


def image_record(key: str, pixels: NDArray[np.uint8], label: int) -> Record:
    """The record of one uint8 image of shape (channels, height, width)."""
    channels, height, width = pixels.shape
    datum = caffe_pb2.Datum(
        channels=channels, height=height, width=width, data=pixels.tobytes(), label=label
    )
    return key.encode(), datum.SerializeToString()


def make_databases(
    folder: Path, databases: Iterable[Database], *, force: bool, say: Callable[[str], object]
) -> None:
    """Make those databases that are not there yet, or all of them with ``force``.

    Raises:
        FileError: one is there with another number of records than it should have.
    """
    for database in databases:
        path = folder / database.name
        if not force and path.exists():
            _check_complete(path, database.record_count)
            say(f"{path}: already complete, {database.record_count} records")
        else:
            count = write_lmdb(path, database.records(), replace=force)
            say(f"{path}: {count} records written")


@contextmanager
def new_lmdb(
    path: str | os.PathLike[str], *, replace: bool = False
) -> Iterator[Callable[[bytes, bytes], None]]:
    """A new database, as the function that puts a record into it.

    It is there under its name, whole, when the block ends well.

    Raises:
        FileError: ``path`` exists (with ``replace``: holds more than a database), a key comes twice
            or has a length LMDB refuses, or the disk does not take it.
    """
    target = Path(path).resolve()
    with new_folder(target, FILES if replace else frozenset()) as folder:
        writer = _Writer(folder, target)
        try:
            yield writer.put
            writer.commit()
        finally:
            writer.close()


def write_lmdb(
    path: str | os.PathLike[str], records: Iterable[Record], *, replace: bool = False
) -> int:
    """Write a database as :func:`new_lmdb` does and return its number of records."""
    with new_lmdb(path, replace=replace) as put:
        return put_all(put, records)


def put_all(put: Callable[[bytes, bytes], None], records: Iterable[Record]) -> int:
    """Put records into a new database and return their number."""
    count = 0
    for key, value in records:
        put(key, value)
        count += 1
    return count


def count_records(path: str | os.PathLike[str]) -> int:
    """The number of records of a database.

    Raises:
        FileError: there is no database, or its file is cut short.
    """
    return int(open_environment(os.fspath(path)).stat()["entries"])


def _check_complete(path: Path, expected: int) -> None:
    try:
        found = count_records(path)
    except FileError as e:
        raise FileError(*e.args, "Pass --force to replace it.") from e
    if found != expected:
        raise FileError(
            f"{path}: holds {found} records, expected {expected}. Pass --force to replace it."
        )


class _Writer:
    """Records on their way into a new environment, a thousand in a transaction."""

    def __init__(self, folder: Path, target: Path) -> None:
        self.target = target
        self.batch: list[Record] = []
        with self._saying_where():
            # Nobody reads the folder before it is synced and renamed.
            self.env = lmdb.open(
                os.fspath(folder), map_size=FIRST_MAP_SIZE, mode=FILE_MODE, create=False, sync=False
            )

    def put(self, key: bytes, value: bytes) -> None:
        self.batch.append((key, value))
        if len(self.batch) == RECORDS_PER_COMMIT:
            self.commit()

    def commit(self) -> None:
        with self._saying_where():
            while True:
                try:
                    with self.env.begin(write=True) as transaction:
                        for key, value in self.batch:
                            self._put(transaction, key, value)
                    break
                except lmdb.MapFullError:
                    self.env.set_mapsize(2 * self.env.info()["map_size"])
        self.batch.clear()

    def close(self) -> None:
        self.env.close()

    def _put(self, transaction: lmdb.Transaction, key: bytes, value: bytes) -> None:
        try:
            is_new = transaction.put(key, value, overwrite=False)
        except lmdb.BadValsizeError as e:
            raise FileError(
                f"{self.target}: key {key_text(key)} has {len(key)} bytes; LMDB takes 1 to 511. "
                "Use shorter names."
            ) from e
        if not is_new:
            raise comes_twice(self.target, key)

    @contextmanager
    def _saying_where(self) -> Iterator[None]:
        try:
            yield
        except (OSError, lmdb.Error) as e:
            raise FileError(f"{self.target}: cannot be written: {e}") from e


def comes_twice(target: Path, key: bytes) -> FileError:
    return FileError(f"{target}: key {key_text(key)} comes twice; every record needs its own key.")
