"""Caffe's net and solver semantics in Python, on one machine or across a cluster.

``import pycaffe_dist as caffe`` gives pycaffe's API (the room pycaffe/).  Names and modules are
loaded when they are first used, so that ``import pycaffe_dist.errors`` loads one module.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING

from pycaffe_dist import pycaffe
from pycaffe_dist.version import CAFFE

if TYPE_CHECKING:
    from pycaffe_dist import _caffe as _caffe
    from pycaffe_dist import io as io
    from pycaffe_dist import layers as layers
    from pycaffe_dist.pycaffe import *  # noqa: F403

__version__ = CAFFE  # our own is in pycaffe_dist.version

__all__ = [*pycaffe.HOMES, "_caffe", "io", "layers"]


if not TYPE_CHECKING:  # who would find no name wrong

    def __getattr__(name: str) -> object:
        if name in pycaffe.HOMES:
            return getattr(pycaffe, name)
        if not name.startswith("__") and importlib.util.find_spec(f"{__name__}.{name}") is not None:
            return importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
