"""Where a launcher's ranks keep snapshots in memory: a folder that outlives them, and the launcher.

It is in /dev/shm, with the launcher's process number and a mark of the run in its name.  A launcher
that ends removes it.  One that was killed leaves it: the next launcher of the same run takes it
over if it is to resume.  After an hour whoever starts ranks on this machine removes it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pycaffe_dist.files import is_private

FOLDER = "pcd-memory-"
_NAME = re.compile(re.escape(FOLDER) + r"(\d+)-([0-9a-f]+)")
STEM = "memory"  # of the snapshots in it
LEFT_SECONDS = 3600.0  # that it stays there after its last snapshot, for a launcher to come


def root() -> Path:
    """The file system in memory; where there is none, that of temporary files."""
    shared = Path("/dev/shm")
    return shared if os.access(shared, os.W_OK) else Path(tempfile.gettempdir())


@contextmanager
def memory_folder(run: str, resumes: bool) -> Iterator[Path]:
    """A folder for snapshots in memory, as long as the context lasts.

    Args:
        run: what tells one run from others.
        resumes: whether to begin with what a killed launcher of this run has left.
    """
    mark = hashlib.sha256(run.encode()).hexdigest()[:16]
    folder = root() / f"{FOLDER}{os.getpid()}-{mark}"
    left = [path for path, owner in _orphans() if owner == mark] if resumes else []
    if left:
        left[0].rename(folder)
    else:
        folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep() -> None:
    """Remove the folders of launchers that were killed and had no successor."""
    for folder, _ in _orphans():
        with suppress(OSError):  # another launcher was faster
            if time.time() - folder.stat().st_mtime > LEFT_SECONDS:
                shutil.rmtree(folder)


def _orphans() -> Iterator[tuple[Path, str]]:
    """Folders whose launchers are no more, with the marks of their runs."""
    for folder in root().glob(f"{FOLDER}*"):
        match = _NAME.fullmatch(folder.name)
        if match and not Path("/proc", match[1]).exists() and is_private(folder):
            yield folder, match[2]
