"""Optional parts: what each is for, and the one command that adds it when it is missing."""

from __future__ import annotations

import importlib
import importlib.metadata
import re
from collections.abc import Collection
from types import ModuleType

from pycaffe_dist.errors import MissingPartError

DISTRIBUTION = "pycaffe_dist"


def install_command(extra: str, only: Collection[str] = ()) -> str:
    """The command that installs what an extra of our package asks for, or one of its packages.

    Args:
        extra: the extra, or a package that is always needed.
        only: of the extra's packages these.
    """
    wanted = re.compile(rf"""extra == ["']{re.escape(extra)}["']|^{re.escape(extra)}\b""")
    try:
        rows = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:  # run from its sources
        rows = []
    packages = [row.split(";")[0].strip() for row in rows if wanted.search(row)]
    if only:
        packages = [p for p in packages if re.split(r"[^\w-]", p)[0] in only]
    return "python -m pip install " + " ".join(f"'{p}'" for p in packages or [f".[{extra}]"])


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
            f"{purpose} needs the Python module {module!r}, which cannot be imported ({e}).\n"
            f"Install it with: {install_command(extra)}"
        ) from e
