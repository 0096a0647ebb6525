"""``struct``: unpacks text, packs text."""

import struct as _real

from pycaffe_dist.py2.shadows import over
from pycaffe_dist.py2.strings import ByteStr, as_bytes, byte_strs
from pycaffe_dist.py2.values import Value

OURS = ("pack", "unpack", "unpack_from")


def pack(form: Value, *values: Value) -> ByteStr:
    return ByteStr(_real.pack(str(form), *map(as_bytes, values)))


def unpack(form: Value, data: Value) -> Value:
    return byte_strs(_real.unpack(str(form), as_bytes(data)))


def unpack_from(form: Value, data: Value, offset: int = 0) -> Value:
    return byte_strs(_real.unpack_from(str(form), as_bytes(data), offset))


__getattr__ = over(_real, globals())
