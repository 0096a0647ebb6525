"""One run for each prefix of snapshots."""

from __future__ import annotations

import fcntl
import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pycaffe_dist.errors import FileError
from pycaffe_dist.files import open_regular


@contextmanager
def only_run(prefix: str) -> Iterator[None]:
    """Hold a prefix for one run, and clear away what a killed one has left half-written.

    Raises:
        FileError: another run is writing to the prefix.
    """
    folder, base = os.path.split(prefix)
    path = Path(folder) / f".{base}.lock"
    try:
        lock = open_regular(path, "ab")
    except FileError as e:
        raise FileError(f"{prefix}: snapshots cannot be written there: {e}") from e
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as e:
            raise FileError(
                f'another run is writing snapshots to "{prefix}". Wait for it, or choose another '
                "snapshot_prefix."
            ) from e
        except OSError:
            pass  # a file system without locks: nothing can be told
        for left in Path(folder).glob(f".{glob.escape(base)}_iter_*.tmp"):
            left.unlink(missing_ok=True)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
