"""``struct``: unpacks text, packs text."""

import struct as _real
from typing import Any

from pycaffe_dist.py2.shadows import over
from pycaffe_dist.py2.strings import ByteStr, as_bytes, byte_strs

OURS = ("pack", "unpack", "unpack_from")


def pack(form: Any, *values: Any) -> ByteStr:
    return ByteStr(_real.pack(str(form), *map(as_bytes, values)))


def unpack(form: Any, data: Any) -> Any:
    return byte_strs(_real.unpack(str(form), as_bytes(data)))


def unpack_from(form: Any, data: Any, offset: int = 0) -> Any:
    return byte_strs(_real.unpack_from(str(form), as_bytes(data), offset))


__getattr__ = over(_real, globals())
