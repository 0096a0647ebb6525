"""``gzip``: files that read text and write it."""

import gzip as _real

from pycaffe_dist.py2.files import Bytes
from pycaffe_dist.py2.shadows import over
from pycaffe_dist.py2.values import Value

OURS = ("GzipFile", "open")


class GzipFile(Bytes, _real.GzipFile):  # type: ignore[misc]
    """A file of bytes that are text."""


def open(filename: Value, mode: str = "rb", compresslevel: int = 9) -> GzipFile:
    return GzipFile(str(filename), mode.replace("t", ""), compresslevel)


__getattr__ = over(_real, globals())
