"""``tempfile``: files take text, though they are opened as bytes."""

import tempfile as _real

from pycaffe_dist.py2.files import ByteRandom
from pycaffe_dist.py2.shadows import over, taking_bytes
from pycaffe_dist.py2.strings import as_bytes
from pycaffe_dist.py2.values import Value

OURS = ("NamedTemporaryFile", "TemporaryFile")


def NamedTemporaryFile(mode: str = "w+b", *args: Value, **kwargs: Value) -> Value:
    made: Value = _real.NamedTemporaryFile("w+b", *args, **kwargs)  # noqa: SIM115
    file = made.file
    made.write = lambda text: file.write(as_bytes(text))
    made.read = taking_bytes(file.read)
    made.readline = taking_bytes(file.readline)
    return made


def TemporaryFile(mode: str = "w+b", *args: Value, **kwargs: Value) -> Value:
    made: Value = _real.TemporaryFile("w+b", *args, **kwargs)  # noqa: SIM115
    return ByteRandom(made.detach())


__getattr__ = over(_real, globals())
