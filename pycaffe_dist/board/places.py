"""The folders that the board was given: it opens nothing outside of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pycaffe_dist.errors import FileError


class Places:
    """Folders of runs, and folders of databases besides."""

    def __init__(self, roots: Sequence[str], data: Sequence[str] = ()) -> None:
        for path in (*roots, *data):
            if not os.path.exists(path):
                raise FileError(f"{path}: there is no such file or folder")
        self.roots = [Path(path) for path in roots]
        self.data = [Path(path) for path in data]

    def inside(self, path: str | os.PathLike[str]) -> Path:
        """A path that lies in one of the folders, links followed.

        Raises:
            FileError: it lies elsewhere.
        """
        real = Path(os.path.realpath(path))
        for root in (*self.roots, *self.data):
            if real.is_relative_to(os.path.realpath(root)):
                return real
        raise FileError(f"{path}: lies outside of the folders that the board was given")
