"""``subprocess``: what programs write is text."""

import subprocess as _real
from typing import Any

from pycaffe_dist.py2.files import ByteReader
from pycaffe_dist.py2.shadows import over
from pycaffe_dist.py2.strings import as_bytes, byte_strs

OURS = ("Popen", "check_output")


class Popen(_real.Popen):  # type: ignore[type-arg]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("stdout", "stderr"):
            pipe = getattr(self, name)
            if pipe is not None and hasattr(pipe, "raw"):
                setattr(self, name, ByteReader(pipe.detach()))

    def communicate(self, input: Any = None, timeout: float | None = None) -> Any:
        given = input if self.universal_newlines else as_bytes(input)
        return byte_strs(super().communicate(given, timeout))


def check_output(*args: Any, **kwargs: Any) -> Any:
    return byte_strs(_real.check_output(*args, **kwargs))


__getattr__ = over(_real, globals())
