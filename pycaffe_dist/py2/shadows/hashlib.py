"""``hashlib``: of text as of bytes."""

import hashlib as _real
from typing import Any

from pycaffe_dist.py2.shadows import over
from pycaffe_dist.py2.strings import as_bytes

OURS = ("md5", "new", "sha1", "sha224", "sha256", "sha384", "sha512")


class _Hash:
    def __init__(self, real: Any, data: Any = b"") -> None:
        self._real = real
        self.update(data)

    def update(self, data: Any) -> None:
        self._real.update(as_bytes(data))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def new(name: str, data: Any = b"") -> _Hash:
    return _Hash(_real.new(name), data)


def md5(data: Any = b"") -> _Hash:
    return new("md5", data)


def sha1(data: Any = b"") -> _Hash:
    return new("sha1", data)


def sha224(data: Any = b"") -> _Hash:
    return new("sha224", data)


def sha256(data: Any = b"") -> _Hash:
    return new("sha256", data)


def sha384(data: Any = b"") -> _Hash:
    return new("sha384", data)


def sha512(data: Any = b"") -> _Hash:
    return new("sha512", data)


__getattr__ = over(_real, globals())
