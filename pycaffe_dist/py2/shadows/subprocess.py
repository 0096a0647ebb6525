"""``subprocess``: what programs write is text."""

import subprocess as _real

from pycaffe_dist.py2.files import ByteReader
from pycaffe_dist.py2.shadows import over
from pycaffe_dist.py2.strings import as_bytes, byte_strs
from pycaffe_dist.py2.values import Value

OURS = ("Popen", "check_output")


class Popen(_real.Popen):  # type: ignore[type-arg]
    def __init__(self, *args: Value, **kwargs: Value) -> None:
        super().__init__(*args, **kwargs)
        for name in ("stdout", "stderr"):
            pipe = getattr(self, name)
            if pipe is not None and hasattr(pipe, "raw"):
                setattr(self, name, ByteReader(pipe.detach()))

    def communicate(self, input: Value = None, timeout: float | None = None) -> Value:
        given = input if self.universal_newlines else as_bytes(input)
        return byte_strs(super().communicate(given, timeout))


def check_output(*args: Value, **kwargs: Value) -> Value:
    return byte_strs(_real.check_output(*args, **kwargs))


__getattr__ = over(_real, globals())
