"""Optional parts: what each is for, and the one command that adds it when it is missing."""

from __future__ import annotations

import importlib
import re
import shlex
import sys
from collections.abc import Collection
from types import ModuleType
from typing import Any

from pycaffe_dist.errors import MissingPartError

DISTRIBUTION = "pycaffe_dist"


def requirements(extra: str) -> list[str]:
    """What an extra of our package asks for, some of it only of some Pythons.

    ``extra`` may also be a package that is always needed.
    """
    import importlib.metadata  # of few who call, and slow to import

    ending = re.compile(rf"""(;| and) extra == ["']{re.escape(extra)}["']$""")
    always = re.compile(rf"{re.escape(extra)}\b(?!.*extra ==)")
    try:
        rows = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:  # run from its sources
        rows = []
    found = (row for row in rows if ending.search(row) or always.match(row))
    return [ending.sub("", row).strip() for row in found]


def install_command(extra: str, only: Collection[str] = ()) -> str:
    """The command that installs what an extra asks for; if ``only`` is given, of that these.

    It names this very interpreter: another's pip fills another environment.
    """
    packages = requirements(extra)
    if only:
        packages = [p for p in packages if re.split(r"[^\w-]", p)[0] in only]
    quoted = " ".join(f"'{p}'" for p in packages or [f".[{extra}]"])
    return f"{shlex.quote(sys.executable)} -m pip install {quoted}"


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional module, or say which command brings it.

    Args:
        module: the module's import name.
        extra: the extra of our package that holds it, or the package itself if we always need it.
        purpose: what was asked for, as the start of a sentence ("Drawing a chart").
    """
    try:
        return importlib.import_module(module)
    except ImportError as e:
        raise MissingPartError(
            f"{purpose} needs the Python module {module!r}, which cannot be imported ({e}).",
            f"Install it with: {install_command(extra)}",
        ) from e


class LazyModule:
    """A module that is imported when something in it is first used.

    So every other command starts without it, and where it is missing the one that needs it says so.
    """

    def __init__(self, module: str, extra: str, purpose: str) -> None:
        self._asked = module, extra, purpose

    def __getattr__(self, name: str) -> Any:
        value = getattr(require(*self._asked), name)
        setattr(self, name, value)  # the next time it is found at once
        return value
