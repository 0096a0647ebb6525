"""``lmdb``: keys and values may be text."""

from collections.abc import Iterator
from typing import Any

import lmdb as _real

from pycaffe_dist.py2.shadows import over
from pycaffe_dist.py2.strings import as_bytes, byte_strs

OURS = ("Environment", "open")


class _Face:
    """An object of lmdb's that takes text, and whose bytes are text."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        return _taking_text(found) if callable(found) else byte_strs(found)

    def __enter__(self) -> Any:
        self._real.__enter__()
        return self

    def __exit__(self, *error: Any) -> Any:
        return self._real.__exit__(*error)

    def __iter__(self) -> Iterator[Any]:
        return map(_faced, iter(self._real))


def _taking_text(method: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        kwargs = {name: _plain(value) for name, value in kwargs.items()}
        return _faced(method(*map(_plain, args), **kwargs))

    return call


def _plain(value: Any) -> Any:
    return value._real if isinstance(value, _Face) else as_bytes(value)


def _faced(value: Any) -> Any:
    if isinstance(value, (_real.Environment, _real.Transaction, _real.Cursor)):
        return _Face(value)
    if isinstance(value, Iterator):
        return map(_faced, value)
    return byte_strs(value)


def open(path: Any, *args: Any, **kwargs: Any) -> Any:
    if isinstance(kwargs.get("map_size"), float):
        kwargs["map_size"] = int(kwargs["map_size"])
    return _Face(_real.open(str(path), *args, **kwargs))


Environment = open

__getattr__ = over(_real, globals())
