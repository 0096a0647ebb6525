"""``lmdb``: keys and values may be text, and a database that is open may be opened again."""

import os
from collections.abc import Iterator

import lmdb as _real

from pycaffe_dist.data.lmdb_source import environments
from pycaffe_dist.py2.shadows import over
from pycaffe_dist.py2.strings import as_bytes, byte_strs
from pycaffe_dist.py2.values import Names, Value

OURS = ("Cursor", "Environment", "Transaction", "open")


class _Face:
    """An object of lmdb's that takes text, and whose bytes are text."""

    def __init__(self, real: Value) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Value:
        found = getattr(self._real, name)
        return _taking_text(found) if callable(found) else byte_strs(found)

    def __enter__(self) -> Value:
        self._real.__enter__()
        return self

    def __exit__(self, *error: Value) -> Value:
        return self._real.__exit__(*error)

    def __iter__(self) -> Iterator[Value]:
        return map(_faced, iter(self._real))


def _taking_text(method: Value) -> Value:
    def call(*args: Value, **kwargs: Value) -> Value:
        kwargs = {name: _plain(value) for name, value in kwargs.items()}
        return _faced(method(*map(_plain, args), **kwargs))

    return call


def _plain(value: Value) -> Value:
    return value._real if isinstance(value, _Face) else as_bytes(value)


def _faced(value: Value) -> Value:
    if isinstance(value, (_real.Environment, _real.Transaction, _real.Cursor)):
        return _Face(value)
    if isinstance(value, Iterator):
        return map(_faced, value)
    return byte_strs(value)


_files: dict[str, int] = {}  # the number of the file that is open at a path


class _Environment(_Face):
    def close(self) -> None:
        """It is closed with the last who reads it, a net's data layer perhaps."""
        self._real = None


def open(path: Value, *args: Value, **kwargs: Value) -> Value:
    """Today's lmdb opens a database once in a process; whoever asks again gets the same."""
    if isinstance(kwargs.get("map_size"), float):
        kwargs["map_size"] = int(kwargs["map_size"])
    where = os.path.realpath(str(path))
    known = environments.get(where)
    if known is None or not _serves(known, where, kwargs):
        if known is not None:
            known.close()
        known = environments[where] = _real.open(str(path), *args, **kwargs)
        _files[where] = _file(where)
    return _Environment(known)


def _serves(known: Value, where: str, wanted: Names) -> bool:
    """Whether an open database is what is wanted: still there, and writable if need be."""
    if _file(where) != _files.get(where, _file(where)):
        return False
    if wanted.get("readonly"):
        return True
    enough = wanted.get("map_size", 0) <= known.info()["map_size"]
    return enough and not known.flags()["readonly"]


def _file(where: str) -> int:
    data = os.path.join(where, "data.mdb")
    try:
        return os.stat(data if os.path.isdir(where) else where).st_ino
    except OSError:
        return 0


Environment = open
Transaction = _taking_text(_real.Transaction)
Cursor = _taking_text(_real.Cursor)

__getattr__ = over(_real, globals())
