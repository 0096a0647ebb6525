"""``import caffe`` for scripts and layers written for pycaffe, where no Caffe is installed."""

from __future__ import annotations

import importlib
import importlib.util
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
        name = f"{OURS}.{rest}"
        found = name in sys.modules or importlib.util.find_spec(name) is not None
        return alias(fullname, name) if found else None


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
