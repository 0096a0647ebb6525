"""``yaml``: ``load(text)`` needs no loader, as in Fast R-CNN's layers."""

from typing import Any

import yaml as _real  # type: ignore[import-untyped]

from pycaffe_dist.py2.shadows import over

OURS = ("load", "load_all")


def load(stream: Any, Loader: Any = _real.FullLoader) -> Any:
    return _real.load(stream, Loader=Loader)


def load_all(stream: Any, Loader: Any = _real.FullLoader) -> Any:
    return _real.load_all(stream, Loader=Loader)


__getattr__ = over(_real, globals())
