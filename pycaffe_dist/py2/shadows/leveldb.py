"""``leveldb``, py-leveldb's module: keys and values may be text."""

import shutil
from collections.abc import Iterator

from pycaffe_dist.errors import FileError
from pycaffe_dist.py2.databases import Batch, Database
from pycaffe_dist.py2.strings import ByteStr, as_bytes
from pycaffe_dist.py2.values import Value

OURS = ("DestroyDB", "LevelDB", "LevelDBError", "WriteBatch")
LevelDBError = FileError


class WriteBatch(Batch):
    def Put(self, key: Value, value: Value) -> None:
        self.put(key, value)

    def Delete(self, key: Value) -> None:
        self.delete(key)


class LevelDB:
    """A database; the settings for caches and buffers have no meaning here."""

    def __init__(
        self,
        filename: Value,
        create_if_missing: bool = True,
        error_if_exists: bool = False,
        **settings: Value,
    ) -> None:
        self._database = Database(filename, create_if_missing, error_if_exists)

    def Put(self, key: Value, value: Value, sync: bool = False) -> None:
        batch = Batch()
        batch.put(key, value)
        self._database.change(batch.changes)

    def Delete(self, key: Value, sync: bool = False) -> None:
        batch = Batch()
        batch.delete(key)
        self._database.change(batch.changes)

    def Write(self, batch: WriteBatch, sync: bool = False) -> None:
        self._database.change(batch.changes)

    def Get(self, key: Value, **settings: Value) -> ByteStr:
        value = self._database.get(key)
        if value is None:
            raise KeyError(key)
        return value

    def RangeIter(
        self,
        key_from: Value = None,
        key_to: Value = None,
        include_value: bool = True,
        reverse: bool = False,
        **settings: Value,
    ) -> Iterator[Value]:
        """Keys and values; both ends belong to the range."""
        last = None if key_to is None else bytes(as_bytes(key_to))
        return walk(self._database, key_from, last, include_value, reverse)

    def GetStats(self) -> str:
        return ""

    def CreateSnapshot(self) -> "LevelDB":
        return self


def walk(
    database: Database, first: Value, last: bytes | None, include_value: bool, reverse: bool
) -> Iterator[Value]:
    """Records from the key ``first`` to ``last``, which is among them."""

    def found() -> Iterator[Value]:
        for key, value in database.records(bytes(as_bytes(first or b""))):
            if last is not None and bytes(key) > last:
                return
            yield (key, value) if include_value else key

    return iter(reversed(list(found()))) if reverse else found()


def DestroyDB(filename: Value) -> None:
    shutil.rmtree(str(filename), ignore_errors=True)
