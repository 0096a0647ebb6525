"""``h5py``: a file that is given no mode is opened for reading and writing, or made."""

from typing import Any

import h5py as _real

from pycaffe_dist.py2.shadows import over

OURS = ("File",)


class File(_real.File):  # type: ignore[misc]
    def __init__(self, name: Any, mode: str | None = None, *args: Any, **kwargs: Any) -> None:
        if mode is None:
            try:
                super().__init__(name, "a", *args, **kwargs)
            except OSError:  # as a file that may only be read
                super().__init__(name, "r", *args, **kwargs)
        else:
            super().__init__(name, mode, *args, **kwargs)


__getattr__ = over(_real, globals())
