"""New LevelDB databases, with the settings of Caffe's converters."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pycaffe_dist.data.lmdb_writer import RECORDS_PER_COMMIT, comes_twice
from pycaffe_dist.data.new_folder import new_folder
from pycaffe_dist.errors import FileError
from pycaffe_dist.optional import require

SETTINGS = {
    "create_if_missing": True,
    "error_if_exists": True,
    "block_size": 64 << 10,
    "write_buffer_size": 256 << 20,
    "max_open_files": 100,
}


@contextmanager
def new_leveldb(path: str | os.PathLike[str]) -> Iterator[Callable[[bytes, bytes], None]]:
    """A new database, as the function that puts a record into it.

    It is there under its name, whole, when the block ends well.

    Raises:
        FileError: ``path`` exists, a key comes twice, or the disk does not take it.
        MissingPartError: there is no plyvel.
    """
    plyvel = require("plyvel", "leveldb", "Writing a LevelDB")
    target = Path(path).resolve()
    with new_folder(target) as folder:
        writer = _Writer(plyvel, folder, target)
        try:
            yield writer.put
            writer.commit()
        finally:
            writer.close()


class _Writer:
    """Records on their way into a new database, a thousand in a batch."""

    def __init__(self, plyvel: Any, folder: Path, target: Path) -> None:
        self.target, self.error = target, plyvel.Error
        self.batch: dict[bytes, bytes] = {}
        self.largest = b""
        with self._saying_where():
            self.database = plyvel.DB(os.fspath(folder), **SETTINGS)

    def put(self, key: bytes, value: bytes) -> None:
        # Keys come in order nearly always, and then a look into the database is not needed.
        if key <= self.largest and (key in self.batch or self.database.get(key) is not None):
            raise comes_twice(self.target, key)
        self.largest = max(self.largest, key)
        self.batch[key] = value
        if len(self.batch) == RECORDS_PER_COMMIT:
            self.commit()

    def commit(self) -> None:
        with self._saying_where(), self.database.write_batch() as batch:
            for key, value in self.batch.items():
                batch.put(key, value)
        self.batch.clear()

    def close(self) -> None:
        self.database.close()

    @contextmanager
    def _saying_where(self) -> Iterator[None]:
        try:
            yield
        except (OSError, self.error) as e:
            raise FileError(f"{self.target}: cannot be written: {e}") from e
