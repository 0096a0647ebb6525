"""Import statements: modules beside the importing one, and modules that have a shadow."""

from __future__ import annotations

import ast
import os
import pkgutil
from functools import cache

from pycaffe_dist.py2 import shadows


def imported(node: ast.Import | ast.ImportFrom, package: str, folder: str | None) -> str | None:
    """What an import statement has to be, None if it may stay.

    Args:
        node: the statement.
        package: that of the module it is in, "" without one or with absolute imports only.
        folder: where that module's file is.
    """
    if isinstance(node, ast.ImportFrom):
        return _from(node, package, folder)
    parts = [_import(alias, package, folder) for alias in node.names]
    if all(part is None for part in parts):
        return None
    whole = [part or f"import {_named(a)}" for part, a in zip(parts, node.names, strict=True)]
    return "; ".join(whole)


def _from(node: ast.ImportFrom, package: str, folder: str | None) -> str | None:
    module = node.module or ""
    first = module.partition(".")[0]
    names = ", ".join(map(_named, node.names))
    if node.level or not module:
        return None
    if package and _beside(first, folder):
        return f"from .{module} import {names}"
    if module in _shadows():
        return f"from {shadows.__name__}.{module} import {names}"
    return None


def _import(alias: ast.alias, package: str, folder: str | None) -> str | None:
    """The statement for one name of ``import a, b``."""
    first, _, rest = alias.name.partition(".")
    if package and _beside(first, folder):
        if not rest:
            return f"from . import {_named(alias)}"
        whole = f"{package}.{alias.name}"
        return (
            f"import {whole} as {alias.asname}"
            if alias.asname
            else (f"import {whole}; from . import {first}")
        )
    if alias.name in _shadows():
        return f"from {shadows.__name__} import {_named(alias)}"
    if rest and not alias.asname and first in _shadows():
        return f"import {alias.name}; from {shadows.__name__} import {first}"
    return None


def _named(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _beside(name: str, folder: str | None) -> bool:
    """Python 2 looks into the package's own folder first."""
    if folder is None:
        return False
    path = os.path.join(folder, name)
    return os.path.isfile(f"{path}.py") or os.path.isfile(os.path.join(path, "__init__.py"))


@cache
def _shadows() -> frozenset[str]:
    return frozenset(module.name for module in pkgutil.iter_modules(shadows.__path__))
