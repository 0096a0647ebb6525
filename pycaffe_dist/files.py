"""Files: read with a message that names them, never half-written."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from pycaffe_dist.errors import FileError, PcdError

# No mode truncates: what is opened is looked at first.
_MODES = {
    "rb": os.O_RDONLY,
    "r+b": os.O_RDWR,
    "wb": os.O_RDWR | os.O_CREAT,
    "ab": os.O_WRONLY | os.O_APPEND | os.O_CREAT,
}
_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}
_SUBSTITUTED = re.compile(r"/dev/fd/([3-9]|\d\d+)")  # what a shell writes for <(command)


@contextmanager
def reading(path: str | os.PathLike[str], problem: str = "cannot be read") -> Iterator[None]:
    """Whatever the libraries that read ``path`` raise goes out as our error, with file and cause.

    A damaged file makes a library meet anything, so that no list of its errors is complete.
    Within the block nothing else than reading may be done.

    Raises:
        FileError: for every exception but our own.
    """
    try:
        yield
    except PcdError:
        raise
    except MemoryError as e:
        raise FileError(f"{path}: {problem}: it does not fit into memory ({e})") from e
    except Exception as e:
        why = getattr(e, "strerror", None) or str(e) or type(e).__name__
        raise FileError(f"{path}: {problem}: {why}") from e


def check_is_file(path: str | os.PathLike[str]) -> None:
    """Refuse what could be waited for or read without an end: pipes, sockets, devices.

    A pipe that the shell made of ``<(command)`` is read as a file.

    Raises:
        FileError: it is one of those, a folder, or not there.
    """
    with reading(path):
        mode = os.stat(path).st_mode
    if stat.S_ISREG(mode) or _SUBSTITUTED.fullmatch(str(path)):
        return
    if stat.S_ISDIR(mode):
        raise FileError(f"{path}: cannot be read: Is a directory")
    kind = _KINDS.get(stat.S_IFMT(mode), "no file")
    raise FileError(f"{path}: cannot be read: it is {kind}, and a file is needed")


def read_bytes(path: str | os.PathLike[str], most: int = -1) -> bytes:
    """The file's bytes, or the first ``most`` of them.

    Raises:
        FileError: it is missing, a folder, a device or a pipe, or may not be read.
    """
    check_is_file(path)
    with reading(path), open(path, "rb") as file:
        return file.read(most)


def open_regular(path: str | os.PathLike[str], mode: str, buffering: int = -1) -> IO[bytes]:
    """Open a file that is one itself: "rb", "r+b", "wb" or "ab".

    Whoever gave us the folder may have put something else under the name: a symbolic link to a file
    that is not to be written, a device, a pipe that nobody reads.

    Raises:
        FileError: it is such a thing, or cannot be opened.
    """
    # A pipe would otherwise be waited for, and a terminal become ours.
    flags = _MODES[mode] | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    try:
        handle = os.open(path, flags, 0o666)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))  # unless _other_kind knows
        os.set_blocking(handle, True)
        if mode == "wb":
            os.ftruncate(handle, 0)
        return os.fdopen(handle, "r+b" if mode == "wb" else mode, buffering)
    except (OSError, ValueError) as e:
        why = getattr(e, "strerror", None) or e
        if kind := _other_kind(path):
            why = f"it is {kind}, where a regular file belongs"
        verb = "read" if mode == "rb" else "written"
        raise FileError(f"{path}: cannot be {verb}: {why}") from e


def _other_kind(path: str | os.PathLike[str]) -> str:
    """What a name stands for itself; "" for a file, a folder or nothing."""
    try:
        return _KINDS.get(stat.S_IFMT(os.lstat(path).st_mode), "")
    except (OSError, ValueError):
        return ""


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
    stays and the temporary one goes.  A symbolic link is replaced itself, and not what it names.

    Raises:
        FileError: the folder is missing or not writable, the disk is full, or the name stands for
            a device, a pipe or a folder.
    """
    target = Path(path)
    if "\0" in str(target):
        raise FileError(f"{target}: cannot be written: a file's name has no zero bytes")
    _check_replaceable(target)
    try:
        import tempfile  # slow to import, and most commands write nothing

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


def _check_replaceable(target: Path) -> None:
    """Only files and links to them are replaced: a file instead of /dev/null harms everybody."""
    kind = _other_kind(target)
    if kind == "a symbolic link":
        # /dev/stdout is one to a name in /proc, behind which there may be anything.
        of_process = os.readlink(target).startswith("/proc/")
        kind = "a stream of a process" if of_process else _other_kind(os.path.realpath(target))
    if kind:
        raise FileError(f"{target}: cannot be written: it is {kind}, where a regular file belongs")


def _mode_of(target: Path) -> int:
    """The permissions an ordinary open() would have left, not the private ones of a temporary."""
    if target.exists() and not target.is_symlink():
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


def is_private(folder: Path) -> bool:
    """Whether it is a folder, of this user, that nobody else can put anything into."""
    try:
        found = folder.lstat()
    except OSError:  # its owner was faster
        return False
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return ours and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
