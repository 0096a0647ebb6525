"""``h5py``: a file that is given no mode is opened for reading and writing, or made."""

import h5py as _real

from pycaffe_dist.py2.shadows import over
from pycaffe_dist.py2.values import Value

OURS = ("File",)


class File(_real.File):  # type: ignore[misc]
    def __init__(self, name: Value, mode: str | None = None, *args: Value, **kwargs: Value) -> None:
        if mode is None:
            try:
                super().__init__(name, "a", *args, **kwargs)
            except OSError:  # as a file that may only be read
                super().__init__(name, "r", *args, **kwargs)
        else:
            super().__init__(name, mode, *args, **kwargs)


__getattr__ = over(_real, globals())
