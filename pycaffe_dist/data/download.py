"""Files from the web: several mirrors, a checksum, a timeout, and no half-written file."""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pycaffe_dist.errors import FileError
from pycaffe_dist.files import atomic_write

STALL_SECONDS = 30.0  # without a byte, before the next mirror is tried


def check_md5(content: bytes, expected: str, origin: str) -> None:
    """Raise a FileError that names ``origin`` unless ``content`` has the MD5 ``expected``."""
    actual = hashlib.md5(content, usedforsecurity=False).hexdigest()
    if actual != expected:
        raise FileError(
            f"{origin}: wrong MD5: expected {expected}, actual {actual} ({len(content)} bytes). "
            "It is damaged or not the original file."
        )


def fetch_all(
    md5_of: Mapping[str, str],
    mirrors: Sequence[str],
    folder: Path,
    *,
    by_hand: str,
    say: Callable[[str], object],
    timeout: float = STALL_SECONDS,
) -> None:
    """Bring files into ``folder``, each from the first mirror that has it intact.

    Args:
        md5_of: the MD5 of each file, by its name.
        mirrors: addresses that a file's name is added to.
        folder: made if missing; files that are already there intact are kept.
        by_hand: the command that takes the files from a folder DIR, for the message when no
            mirror answers.
        say: called with a line before each download.
        timeout: seconds without a byte that a mirror is given.

    Raises:
        FileError: no mirror gave a file with the right checksum, or it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise FileError(f"{folder}: cannot be made: {e.strerror}") from e
    for name, md5 in md5_of.items():
        target = folder / name
        if _is_intact(target, md5):
            continue
        try:
            content = _first_intact([_join(mirror, name) for mirror in mirrors], md5, say, timeout)
        except FileError as e:
            raise FileError(
                f"{name} could not be downloaded:",
                *e.args,
                "Bring these files into a folder DIR by other means:",
                *(f"  {name}" for name in md5_of),
                f"They are published at {' and '.join(mirrors)}",
                f"Then run: {by_hand}",
            ) from e
        with atomic_write(target) as file:
            file.write(content)


def _first_intact(
    urls: Sequence[str], md5: str, say: Callable[[str], object], timeout: float
) -> bytes:
    failures = []
    for url in urls:
        say(f"downloading {url}")
        try:
            content = _download(url, timeout)
            check_md5(content, md5, url)
            return content
        except FileError as e:
            failures.append(f"  {e}")
    raise FileError(*failures)


def _download(url: str, timeout: float) -> bytes:
    try:
        # Some servers turn away urllib's own name.
        request = urllib.request.Request(url, headers={"User-Agent": "pycaffe_dist"})
        with urllib.request.urlopen(request, timeout=timeout) as response:
            content: bytes = response.read()
            return content
    except urllib.error.HTTPError as e:
        e.close()
        raise FileError(f"{url}: the server answered {e.code} {e.reason}") from e
    except (OSError, http.client.HTTPException, ValueError) as e:
        raise FileError(f"{url}: {getattr(e, 'reason', e)}") from e


def _is_intact(path: Path, md5: str) -> bool:
    try:
        check_md5(path.read_bytes(), md5, str(path))
    except (OSError, FileError):
        return False
    return True


def _join(mirror: str, name: str) -> str:
    return f"{mirror.rstrip('/')}/{name}"
