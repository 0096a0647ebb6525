"""Arrays that a user holds on to: written to before a pass, looked at after it.

``blob.data`` asked for anew always shows what was computed, wherever it is kept.  A script may also
keep the array and never ask again; so the blobs that a script has touched are picked up before each
pass and brought up to date after it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, ItemsView, Iterable, ValuesView
from typing import TypeVar

from pycaffe_dist.blob import Blob
from pycaffe_dist.errors import NetError
from pycaffe_dist.memory import HOST, Value
from pycaffe_dist.proto.suggest import did_you_mean

V = TypeVar("V")


class Touched:
    """The blobs whose arrays somebody may hold."""

    def __init__(self) -> None:
        self._blobs: dict[int, Blob] = {}

    def add(self, blobs: Iterable[Blob]) -> None:
        for blob in blobs:
            self._blobs[id(blob)] = blob

    def pick_up(self) -> None:
        """Before a pass: what is in plain memory counts."""
        for value in self._values():
            if HOST in value.current:
                value.write(HOST)

    def show(self) -> None:
        """After a pass: plain memory has what was computed."""
        for value in self._values():
            if not value.is_zero:
                value.read(HOST)

    def _values(self) -> Iterable[Value]:
        for blob in self._blobs.values():
            yield blob.data_value
            yield blob.diff_value


class NoSuchNameError(NetError, KeyError):
    """A blob or a layer that the net does not have; also the KeyError that pycaffe raises."""

    __str__ = Exception.__str__  # a KeyError's would be in quotes


class WatchedDict(OrderedDict[str, V]):
    """A dictionary that tells which of its values were taken out."""

    def __init__(self, items: Iterable[tuple[str, V]], tell: Callable[[V], None]) -> None:
        super().__init__()
        for name, value in items:
            self[name] = value
        self._tell = tell

    def __getitem__(self, name: str) -> V:
        value = super().__getitem__(name)
        self._tell(value)
        return value

    def __missing__(self, name: str) -> V:
        raise NoSuchNameError(f"there is no {name!r} here{did_you_mean(str(name), self)}")

    def values(self) -> ValuesView[V]:  # type: ignore[override]
        for name in self:
            self[name]
        return super().values()

    def items(self) -> ItemsView[str, V]:  # type: ignore[override]
        for name in self:
            self[name]
        return super().items()
