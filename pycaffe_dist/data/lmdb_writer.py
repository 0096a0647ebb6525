"""New LMDB databases of Datum records, as Caffe's converters make them."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import lmdb
import numpy as np
from numpy.typing import NDArray

from pycaffe_dist.errors import FileError
from pycaffe_dist.proto import caffe_pb2

RECORDS_PER_COMMIT = 1000
FIRST_MAP_SIZE = 1 << 20
FILE_MODE = 0o664

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


def write_lmdb(
    path: str | os.PathLike[str], records: Iterable[Record], *, replace: bool = False
) -> int:
    """Write a database and return its number of records.

    It grows under a temporary name beside ``path`` and is renamed when complete, so a kill leaves
    no half database under the name asked for.

    Raises:
        FileError: ``path`` exists (with ``replace``: holds more than a database), a key comes twice
            or has a length LMDB refuses, or the disk does not take it.
    """
    target = Path(path).resolve()
    try:
        _check_free(target, replace)
        with _new_folder_at(target, replace) as folder:
            return _fill(folder, records, target)
    except (OSError, lmdb.Error) as e:
        raise FileError(f"{target}: cannot be written: {e}") from e


def count_records(path: str | os.PathLike[str]) -> int:
    """The number of records of a database.

    Raises:
        FileError: there is no database, or its file is cut short.
    """
    try:
        with lmdb.open(os.fspath(path), readonly=True, lock=False, create=False) as env:
            stat = env.stat()
            needed = (env.info()["last_pgno"] + 1) * stat["psize"]
        size = (Path(path) / "data.mdb").stat().st_size
    except (OSError, lmdb.Error) as e:
        raise FileError(f"{path}: is not a readable LMDB: {e}") from e
    if size < needed:
        raise FileError(
            f"{path}: data.mdb is cut short: {size} bytes, expected {needed}. Make it again."
        )
    return int(stat["entries"])


def _check_complete(path: Path, expected: int) -> None:
    try:
        found = count_records(path)
    except FileError as e:
        raise FileError(f"{e}\nPass --force to replace it.") from e
    if found != expected:
        raise FileError(
            f"{path}: holds {found} records, expected {expected}. Pass --force to replace it."
        )


def _check_free(target: Path, replace: bool) -> None:
    if not target.exists():
        return
    if not replace:
        raise FileError(
            f"{target}: already exists; a database is only written to a new folder. "
            "Choose another name, or ask to replace it (--force)."
        )
    if not (target.is_dir() and {p.name for p in target.iterdir()} <= {"data.mdb", "lock.mdb"}):
        raise FileError(
            f"{target}: is not replaced, because it is not a folder with data.mdb and lock.mdb "
            "alone. Move it away, or choose another name."
        )


@contextmanager
def _new_folder_at(target: Path, replace: bool) -> Iterator[Path]:
    """A temporary folder that takes the place of ``target`` when the block ends well."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}.tmp")
    temporary.mkdir()
    try:
        yield temporary
        if replace and target.exists():
            old = temporary.with_suffix(".old")
            target.rename(old)
            temporary.rename(target)
            shutil.rmtree(old)
        else:
            temporary.rename(target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _fill(folder: Path, records: Iterable[Record], target: Path) -> int:
    # Nobody reads the folder before the rename: one sync at the end is enough.
    with lmdb.open(
        os.fspath(folder), map_size=FIRST_MAP_SIZE, mode=FILE_MODE, create=False, sync=False
    ) as env:
        remaining = iter(records)
        while batch := list(islice(remaining, RECORDS_PER_COMMIT)):
            _commit(env, batch, target)
        env.sync(True)
        return int(env.stat()["entries"])


def _commit(env: lmdb.Environment, batch: list[Record], target: Path) -> None:
    while True:
        try:
            with env.begin(write=True) as transaction:
                for key, value in batch:
                    _put(transaction, key, value, target)
            return
        except lmdb.MapFullError:
            env.set_mapsize(2 * env.info()["map_size"])


def _put(transaction: lmdb.Transaction, key: bytes, value: bytes, target: Path) -> None:
    try:
        is_new = transaction.put(key, value, overwrite=False)
    except lmdb.BadValsizeError as e:
        raise FileError(
            f"{target}: key {key!r} has {len(key)} bytes; LMDB takes 1 to 511. Use shorter names."
        ) from e
    if not is_new:
        raise FileError(f"{target}: key {key!r} comes twice; every record needs its own key.")
