"""Files: read with a message that names them, never half-written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from pycaffe_dist.errors import FileError


def read_bytes(path: str | os.PathLike[str], most: int = -1) -> bytes:
    """The file's bytes, or the first ``most`` of them.

    Raises:
        FileError: it is missing, a folder, or may not be read.
    """
    try:
        with open(path, "rb") as file:
            return file.read(most)
    except (OSError, ValueError) as e:  # ValueError: a zero byte in the name
        raise FileError(f"{path}: cannot be read: {getattr(e, 'strerror', None) or e}") from e


def make_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder, and those above it, if they are not there.

    Raises:
        FileError: it cannot be made: a file is in the way, or the disk may not be written to.
    """
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except FileExistsError as e:
        raise FileError(f"{path}: is a file, and a folder is needed") from e
    except (OSError, ValueError) as e:
        why = getattr(e, "strerror", None) or e
        raise FileError(f"{path}: the folder cannot be made: {why}") from e


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a temporary file beside ``path`` that takes its place when the block ends well.

    The bytes are on disk before the rename, and the rename before the return: a kill or a power
    cut at any moment leaves either the old file or the new one.  If the block raises, the old file
    stays and the temporary one goes.

    Raises:
        FileError: the folder is missing or not writable, or the disk is full.
    """
    target = Path(path)
    if "\0" in str(target):
        raise FileError(f"{target}: cannot be written: a file's name has no zero bytes")
    try:
        with tempfile.NamedTemporaryFile(
            dir=target.parent, prefix=f".{target.name[:50]}.", suffix=".tmp", delete=False
        ) as file:
            try:
                yield file
                file.flush()
                os.fsync(file.fileno())
                os.chmod(file.name, _mode_of(target))
                os.replace(file.name, target)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
        _sync_folder(target.parent)
    except OSError as e:
        raise FileError(f"{target}: cannot be written: {e.strerror or e}") from e


def _mode_of(target: Path) -> int:
    """The permissions an ordinary open() would have left, not the private ones of a temporary."""
    if target.exists():
        return target.stat().st_mode & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def mapped(folder: str = "/") -> list[str]:
    """The files below a folder that are in this process's memory: its libraries and others.

    None where the system does not tell.
    """
    try:
        lines = Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        return []
    paths = dict.fromkeys(line[line.index("/") :] for line in lines if "/" in line)
    return [p for p in paths if p.startswith(folder) and not p.endswith(" (deleted)")]
