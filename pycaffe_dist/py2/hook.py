"""Translates a script, and the modules that it imports from beside it, as they are loaded."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import site
import sys
import sysconfig
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

import numpy as np

import pycaffe_dist
from pycaffe_dist.py2 import messages
from pycaffe_dist.py2.added import ADDED, add_names
from pycaffe_dist.py2.builtins import NAMES
from pycaffe_dist.py2.renamed import INSTEAD, MADE, RENAMED
from pycaffe_dist.py2.strings import ENCODING, ERRORS, OURS
from pycaffe_dist.py2.translate import Translation, translate
from pycaffe_dist.py2.values import Names, Value
from pycaffe_dist.pycaffe.as_caffe import alias, of_a_fork

Tell = Callable[[str, Counter[str]], None]


def install(tell: Tell | None = None) -> None:
    """From now on modules of the user's own are taken for Python 2.

    Args:
        tell: is told, for each file that is translated, how often what was changed.
    """
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    _others()  # asked now: to answer, Python imports modules of its own
    sys.meta_path.insert(0, _Finder(tell))
    for name in ADDED:
        if name in sys.modules:
            add_names(sys.modules[name])
    np.set_printoptions(legacy="1.13")
    for of_today in (SyntaxWarning, DeprecationWarning, FutureWarning):  # `x is 1` was usual
        warnings.filterwarnings("ignore", category=of_today)
    # Children of today's Python begin anew, with a script that they cannot parse.
    multiprocessing.set_start_method("fork", force=True)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding=ENCODING, errors=ERRORS)


def prepare(module: Names) -> None:
    """Put Python 2's names into a module that is about to run."""
    install()
    module.update(NAMES)
    module[OURS] = sys.modules[__name__.rpartition(".")[0]]  # the package, which knows us


def code_of(path: str, package: str) -> CodeType:
    """The code of a file of Python 2."""
    return compile(_translation(path, package).text, path, "exec", dont_inherit=True)


def _translation(path: str, package: str, source: bytes | None = None) -> Translation:
    source = Path(path).read_bytes() if source is None else source
    found = translate(source, path, package, os.path.dirname(path))
    for finder in sys.meta_path:
        if isinstance(finder, _Finder):
            finder.told(path, found.changes)
    return found


def main_translation(path: str, source: bytes) -> Translation:
    """That of the script itself, which is in no package."""
    return _translation(path, "", source)


def translated(spec: ModuleSpec) -> ModuleSpec:
    """The spec with a loader that translates."""
    assert spec.origin is not None
    spec.loader = _Python2Loader(spec.name, spec.origin)
    return spec


class _Finder(MetaPathFinder):
    def __init__(self, tell: Tell | None) -> None:
        self._tell = tell

    def told(self, path: str, changes: Counter[str]) -> None:
        if self._tell is not None:
            self._tell(path, changes)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in INSTEAD:
            return alias(fullname, RENAMED[fullname])
        spec = PathFinder.find_spec(fullname, path, target) or of_a_fork(fullname)
        if spec is not None and spec.origin is not None:
            if spec.origin.endswith(".py") and is_the_users(spec.origin):
                return self._of_the_user(spec, spec.origin)
            if fullname in ADDED and spec.loader is not None:
                spec.loader = _AddingLoader(spec.loader)
                return spec
        elif spec is None and fullname in RENAMED:
            return alias(fullname, RENAMED[fullname])
        elif spec is None and fullname in MADE:
            return ModuleSpec(fullname, _Made())
        return None

    def _of_the_user(self, spec: ModuleSpec, path: str) -> ModuleSpec:
        """A module to translate, but for messages: those of Caffe's own schema are ours."""
        text = Path(path).read_bytes()
        if not messages.of_old_protoc(text):
            return translated(spec)
        if messages.of_caffe(text):
            self.told(path, Counter({"Caffe's messages by an old protoc": 1}))
            return alias(spec.name, RENAMED["caffe_pb2"])
        self.told(path, Counter({"messages by an old protoc": 1}))
        return ModuleSpec(spec.name, messages.Messages(path, text), origin=path)


def is_the_users(path: str) -> bool:
    """Not of Python, of an installed package, or ours."""
    whole = os.path.realpath(path)
    packaged = {"site-packages", "dist-packages"} & set(Path(whole).parts)
    return not packaged and not any(whole.startswith(folder) for folder in _others())


@cache
def _others() -> list[str]:
    paths = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    paths += [*site.getsitepackages(), site.getusersitepackages()]
    paths.append(os.path.dirname(pycaffe_dist.__file__))
    return [os.path.join(os.path.realpath(path), "") for path in paths]


class _Python2Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        package = fullname if self.is_package(fullname) else fullname.rpartition(".")[0]
        return code_of(self.path, package)

    def exec_module(self, module: ModuleType) -> None:
        prepare(module.__dict__)
        super().exec_module(module)


class _AddingLoader(Loader):
    """Loads a module as its own loader does, and gives it the names that it had."""

    def __init__(self, real: Loader) -> None:
        self.real = real

    def __getattr__(self, name: str) -> Value:
        return getattr(self.real, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.real.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self.real.exec_module(module)
        add_names(module)


class _Made(Loader):
    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        names = MADE[module.__name__]()
        kept = {n: v for n, v in names.items() if not n.startswith("__") or n == "__getattr__"}
        module.__dict__.update(kept)


# -- what runs other files ------------------------------------------------------------------------


def execfile(path: str, names: Value = None, local: Value = None) -> None:
    names = sys._getframe(1).f_globals if names is None else names
    exec(code_of(path, ""), names, names if local is None else local)


def _imp() -> Names:
    def load_source(name: str, path: str, *_: Value) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} is no Python module")
        module = importlib.util.module_from_spec(translated(spec))
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    return {"load_source": load_source, "reload": NAMES["reload"]}


NAMES["execfile"] = execfile
MADE["imp"] = _imp
