"""``csv``: reads files that were opened as bytes."""

import csv as _real
from collections.abc import Iterable, Iterator
from typing import Any

from pycaffe_dist.py2.shadows import over

OURS = ("DictReader", "reader")


def _text(lines: Iterable[Any]) -> Iterator[str]:
    return map(str, lines)


def reader(lines: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
    return _real.reader(_text(lines), *args, **kwargs)


class DictReader(_real.DictReader):  # type: ignore[type-arg]
    def __init__(self, lines: Iterable[Any], *args: Any, **kwargs: Any) -> None:
        super().__init__(_text(lines), *args, **kwargs)


__getattr__ = over(_real, globals())
