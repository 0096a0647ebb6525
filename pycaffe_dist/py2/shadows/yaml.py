"""``yaml``: ``load(text)`` needs no loader, as in Fast R-CNN's layers."""

import yaml as _real  # type: ignore[import-untyped]

from pycaffe_dist.py2.shadows import over
from pycaffe_dist.py2.values import Value

OURS = ("load", "load_all")


def load(stream: Value, Loader: Value = _real.FullLoader) -> Value:
    return _real.load(stream, Loader=Loader)


def load_all(stream: Value, Loader: Value = _real.FullLoader) -> Value:
    return _real.load_all(stream, Loader=Loader)


__getattr__ = over(_real, globals())
