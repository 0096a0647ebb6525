"""Modules that users write: Python layers, and layers of their own registered by ``--import``."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterable
from types import ModuleType

from pycaffe_dist.errors import NetError
from pycaffe_dist.pycaffe.as_caffe import install_as_caffe


def import_layers(names: Iterable[str]) -> None:
    """Import what ``--import`` names: modules, or files that end in ``.py``.

    Raises:
        NetError: one is not there, or cannot be imported.
    """
    for name in names:
        try:
            import_user_file(name) if name.endswith(".py") else import_user_module(name)
        except NetError as e:
            raise NetError(f"--import {name}: {e}") from e
        except Exception as e:
            raise NetError(f"--import {name}: {in_one_line(e)}") from e


def in_one_line(error: BaseException) -> str:
    """Where an exception came from, and what it says: ``mine.py:12: TypeError: ...``."""
    if isinstance(error, SyntaxError):
        place = f"{error.filename}:{error.lineno}"
    else:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{frame.filename}:{frame.lineno}"
    return f"{place}: {traceback.format_exception_only(type(error), error)[-1].strip()}"


def import_user_module(name: str) -> ModuleType:
    """Import a module from the search path, or failing that from the working directory.

    Its own exceptions come through as they are.

    Raises:
        NetError: it is in neither place.
    """
    install_as_caffe()
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as e:
        if not _is_part_of(e.name, name):
            raise
    sys.path.append(os.getcwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as e:
        if not _is_part_of(e.name, name):
            raise
        sys.path.pop()
        raise NetError(
            f'module "{name}" is neither on the search path nor in {os.getcwd()}; '
            "set PYTHONPATH to the folder that holds it"
        ) from e


def import_user_file(path: str) -> ModuleType:
    """Import a module from its file; what lies beside it can be imported by it.

    Raises:
        NetError: there is no such file, or another module has its name.
    """
    whole = os.path.abspath(path)
    if not os.path.isfile(whole):
        raise NetError(f"{path}: there is no such file, seen from {os.getcwd()}")
    name = os.path.splitext(os.path.basename(whole))[0]
    there = sys.modules.get(name)
    if there is not None:
        if getattr(there, "__file__", None) == whole:
            return there
        raise NetError(f'{path}: another module is called "{name}" already; rename the file')
    install_as_caffe()
    sys.path.append(os.path.dirname(whole))
    spec = importlib.util.spec_from_file_location(name, whole)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # as for any import: the module may look for itself
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _is_part_of(missing: str | None, name: str) -> bool:
    """True if what is missing is the module itself, not something that it imports."""
    return missing is not None and f"{name}.".startswith(f"{missing}.")
