"""``csv``: reads files that were opened as bytes."""

import csv as _real
from collections.abc import Iterable, Iterator

from pycaffe_dist.py2.shadows import over
from pycaffe_dist.py2.values import Value

OURS = ("DictReader", "reader")


def _text(lines: Iterable[Value]) -> Iterator[str]:
    return map(str, lines)


def reader(lines: Iterable[Value], *args: Value, **kwargs: Value) -> Value:
    return _real.reader(_text(lines), *args, **kwargs)


class DictReader(_real.DictReader):  # type: ignore[type-arg]
    def __init__(self, lines: Iterable[Value], *args: Value, **kwargs: Value) -> None:
        super().__init__(_text(lines), *args, **kwargs)


__getattr__ = over(_real, globals())
