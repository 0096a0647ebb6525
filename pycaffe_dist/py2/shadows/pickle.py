"""``pickle`` and ``cPickle``: files of Python 2, arrays included, from any kind of open file."""

import pickle as _real

from pycaffe_dist.py2.files import as_binary
from pycaffe_dist.py2.shadows import over
from pycaffe_dist.py2.strings import ByteStr, as_bytes
from pycaffe_dist.py2.values import Value

OURS = ("HIGHEST_PROTOCOL", "Pickler", "Unpickler", "dump", "dumps", "load", "loads")
HIGHEST_PROTOCOL = 2


def _protocol(asked: Value) -> int:
    return HIGHEST_PROTOCOL if asked is None or asked < 0 else min(asked, HIGHEST_PROTOCOL)


def dump(value: Value, file: Value, protocol: int | None = None) -> None:
    _real.dump(value, file, _protocol(protocol))


def dumps(value: Value, protocol: int | None = None) -> ByteStr:
    return ByteStr(_real.dumps(value, _protocol(protocol)))


def load(file: Value, **settings: Value) -> Value:
    return _real.load(as_binary(file), **{"encoding": "latin1", **settings})


def loads(data: Value, **settings: Value) -> Value:
    return _real.loads(as_bytes(data), **{"encoding": "latin1", **settings})


class Pickler(_real.Pickler):
    def __init__(self, file: Value, protocol: int | None = None) -> None:
        super().__init__(file, _protocol(protocol))


class Unpickler(_real.Unpickler):
    def __init__(self, file: Value) -> None:
        super().__init__(as_binary(file), encoding="latin1")


__getattr__ = over(_real, globals())
