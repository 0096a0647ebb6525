"""``hashlib``: of text as of bytes."""

import hashlib as _real

from pycaffe_dist.py2.shadows import over
from pycaffe_dist.py2.strings import as_bytes
from pycaffe_dist.py2.values import Value

OURS = ("md5", "new", "sha1", "sha224", "sha256", "sha384", "sha512")


class _Hash:
    def __init__(self, real: Value, data: Value = b"") -> None:
        self._real = real
        self.update(data)

    def update(self, data: Value) -> None:
        self._real.update(as_bytes(data))

    def __getattr__(self, name: str) -> Value:
        return getattr(self._real, name)


def new(name: str, data: Value = b"") -> _Hash:
    return _Hash(_real.new(name), data)


def md5(data: Value = b"") -> _Hash:
    return new("md5", data)


def sha1(data: Value = b"") -> _Hash:
    return new("sha1", data)


def sha224(data: Value = b"") -> _Hash:
    return new("sha224", data)


def sha256(data: Value = b"") -> _Hash:
    return new("sha256", data)


def sha384(data: Value = b"") -> _Hash:
    return new("sha384", data)


def sha512(data: Value = b"") -> _Hash:
    return new("sha512", data)


__getattr__ = over(_real, globals())
