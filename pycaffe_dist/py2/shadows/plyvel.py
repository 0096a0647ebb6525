"""``plyvel``: keys and values may be text."""

from collections.abc import Iterator
from types import TracebackType

from pycaffe_dist.errors import FileError as Error
from pycaffe_dist.py2.databases import Batch, Database
from pycaffe_dist.py2.strings import ByteStr, as_bytes
from pycaffe_dist.py2.values import Value

OURS = ("DB", "Error", "IOError")
IOError = Error


class _WriteBatch(Batch):
    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database

    def write(self) -> None:
        self._database.change(self.changes)
        self.clear()

    def clear(self) -> None:
        self.changes = []

    def __enter__(self) -> "_WriteBatch":
        return self

    def __exit__(
        self, kind: type | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.write()


class DB:
    """A database; the settings for caches and buffers have no meaning here."""

    def __init__(
        self,
        name: Value,
        create_if_missing: bool = False,
        error_if_exists: bool = False,
        **settings: Value,
    ) -> None:
        self.name = name
        self._database = Database(name, create_if_missing, error_if_exists)

    def put(self, key: Value, value: Value, sync: bool = False) -> None:
        with self.write_batch() as batch:
            batch.put(key, value)

    def delete(self, key: Value, sync: bool = False) -> None:
        with self.write_batch() as batch:
            batch.delete(key)

    def write_batch(self, transaction: bool = False, sync: bool = False) -> _WriteBatch:
        return _WriteBatch(self._database)

    def get(self, key: Value, default: Value = None, **settings: Value) -> ByteStr | Value:
        value = self._database.get(key)
        return default if value is None else value

    def iterator(
        self,
        reverse: bool = False,
        start: Value = None,
        stop: Value = None,
        include_key: bool = True,
        include_value: bool = True,
        prefix: Value = None,
        **settings: Value,
    ) -> Iterator[Value]:
        """Records from ``start`` to ``stop``, which is not among them, or those of a prefix."""
        begin, behind = bytes(as_bytes(prefix or b"")), None if stop is None else as_bytes(stop)

        def found() -> Iterator[Value]:
            for key, value in self._database.records(max(begin, bytes(as_bytes(start or b"")))):
                if not bytes(key).startswith(begin) or (behind is not None and key >= behind):
                    return
                both = include_key and include_value
                yield (key, value) if both else (key if include_key else value)

        return iter(reversed(list(found()))) if reverse else found()

    def __iter__(self) -> Iterator[Value]:
        return self.iterator()

    def close(self) -> None:
        self._database.close()

    @property
    def closed(self) -> bool:
        return False
