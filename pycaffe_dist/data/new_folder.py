"""Folders that appear whole or not at all: databases are folders."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

from pycaffe_dist.errors import FileError


@contextmanager
def new_folder(target: Path, replaceable: frozenset[str] = frozenset()) -> Iterator[Path]:
    """A temporary folder beside ``target`` that takes its name when the block ends well.

    Its files are on disk before the rename, so a kill leaves no half folder under the name asked
    for; if the block raises, the temporary one goes.

    Args:
        target: must not be there yet, unless
        replaceable: names of files, or patterns of them; a folder that holds these alone is
            replaced.

    Raises:
        FileError: ``target`` is in the way, or the disk does not take it.
    """
    _check_free(target, replaceable)
    with saying_where(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}.tmp")
        temporary.mkdir()
    try:
        yield temporary
        with saying_where(target):
            _sync(temporary)
            _check_free(target, replaceable)  # nobody may have taken the name meanwhile
            _rename(temporary, target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _check_free(target: Path, replaceable: frozenset[str]) -> None:
    if not target.exists():
        return
    if not replaceable:
        raise FileError(
            f"{target}: already exists; a database is only written to a new folder. "
            "Choose another name, or move it away."
        )
    if not target.is_dir() or not all(
        any(fnmatchcase(path.name, pattern) for pattern in replaceable) for path in target.iterdir()
    ):
        raise FileError(
            f"{target}: is not replaced, because it is not a folder with "
            f"{' and '.join(sorted(replaceable))} alone. Move it away, or choose another name."
        )


def _rename(temporary: Path, target: Path) -> None:
    if target.exists():
        old = temporary.with_suffix(".old")
        target.rename(old)
        temporary.rename(target)
        shutil.rmtree(old)
    else:
        temporary.rename(target)


def _sync(folder: Path) -> None:
    for path in [*folder.iterdir(), folder]:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def saying_where(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as e:
        raise FileError(f"{target}: cannot be written: {e.strerror or e}") from e
