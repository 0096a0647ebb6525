"""New LevelDB databases, as Caffe's converters make them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pycaffe_dist.data.leveldb.writer import Writer
from pycaffe_dist.data.lmdb_writer import LABELS, comes_twice
from pycaffe_dist.data.new_folder import new_folder, saying_where

FILES = frozenset({"CURRENT", "LOCK", "LOG*", "MANIFEST-*", "*.ldb", "*.sst", "*.log", LABELS})


@contextmanager
def new_leveldb(
    path: str | os.PathLike[str], *, replace: bool = False, updates: bool = False
) -> Iterator[Callable[[bytes, bytes | None], None]]:
    """A new database, as the function that puts a record into it.

    It is there under its name, whole, when the block ends well.

    Args:
        path: the folder to make.
        replace: a database that is there goes.
        updates: a key that comes again replaces what it had, and no value takes a record out.

    Raises:
        FileError: ``path`` exists (with ``replace``: holds more than a database), a key comes
            twice, or the disk does not take it.
    """
    target = Path(path).resolve()
    with new_folder(target, FILES if replace else frozenset()) as folder:
        writer = Writer(folder)

        def put(key: bytes, value: bytes | None) -> None:
            with saying_where(target):
                if not writer.put(key, value, replace=updates):
                    raise comes_twice(target, key)

        yield put
        with saying_where(target):
            writer.finish()
