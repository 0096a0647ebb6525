"""``import caffe`` for scripts and layers written for pycaffe, where no Caffe is installed."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

OURS = "pycaffe_dist"


def install_as_caffe() -> None:
    """From now on ``caffe`` and ``caffe.x`` are this package, unless another caffe is there."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        # In front: behind the path finder, `caffe.io` would become a second copy of our io.
        sys.meta_path.insert(0, _Finder())


class _Finder:
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        first, _, rest = fullname.partition(".")
        if first != "caffe":
            return None
        if not rest:
            return None if _another_caffe() else alias(fullname, OURS)
        if sys.modules.get("caffe") is not sys.modules.get(OURS):
            return None
        return alias(fullname, f"{OURS}.{rest}") if _is_ours(rest) else of_a_fork(fullname)


def of_a_fork(name: str) -> ModuleSpec | None:
    """``caffe.model_libs``, or what else the ``caffe`` folder of a fork has that BVLC's has not.

    Such a folder is one on the path; what it shares with BVLC's is ours.
    """
    first, _, rest = name.partition(".")
    if first != "caffe" or not rest or _is_ours(rest):
        return None
    *packages, _ = name.split(".")
    return PathFinder.find_spec(name, [os.path.join(folder, *packages) for folder in sys.path])


def _is_ours(name: str) -> bool:
    name = f"{OURS}.{name}"
    if name in sys.modules:
        return True
    package = name.rpartition(".")[0]
    return package in sys.modules and importlib.util.find_spec(name) is not None


def alias(name: str, of: str) -> ModuleSpec:
    """How to import a module under another name: one module, two names."""
    return ModuleSpec(name, Alias(of))  # type: ignore[arg-type]


def _another_caffe() -> bool:
    """A folder that merely has the name, without an ``__init__.py``, does not count."""
    spec = PathFinder.find_spec("caffe")
    return spec is not None and spec.origin is not None


class Alias:  # importlib.abc's Loader is slow to import
    """Loads a module by handing out another, which keeps its name and its spec."""

    def __init__(self, name: str) -> None:
        self.name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.name)
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec
