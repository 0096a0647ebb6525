"""Python 2's builtins, where Python 3 lacks them or gives them another meaning."""

from __future__ import annotations

import builtins
import functools
import importlib
import itertools
import math
import os
import sys
from types import ModuleType

import numpy as np

from pycaffe_dist.py2 import files, order
from pycaffe_dist.py2.operations import by_key
from pycaffe_dist.py2.strings import ByteStr, as_bytes
from pycaffe_dist.py2.texts import brief
from pycaffe_dist.py2.values import Names, Value

ESCAPE = 0xDC00  # and a byte: the character that stands for it (PEP 383)


class _Either(type):
    def __instancecheck__(cls, value: Value) -> bool:
        return isinstance(value, (str, bytes))

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, (str, bytes))


class basestring(metaclass=_Either): ...


class _Text(type):
    def __instancecheck__(cls, value: Value) -> bool:
        return isinstance(value, str)

    def __call__(cls, value: Value = "", *encoding: str) -> str:
        plain = isinstance(value, str) or not encoding
        return str(brief(value)) if plain else str(value, *encoding)


class unicode(metaclass=_Text): ...


class _Bytes(type):
    def __instancecheck__(cls, value: Value) -> bool:
        return isinstance(value, (str, bytes))

    def __call__(cls, value: Value = "") -> Value:
        return value if isinstance(value, (str, bytes)) else str(brief(value))


class bytes_(metaclass=_Bytes):
    """Python 2's ``bytes`` is its ``str``."""


class bytearray_(bytearray):
    """Also of text, and as text."""

    def __init__(self, source: Value = b"", *encoding: str) -> None:
        super().__init__(source if encoding else as_bytes(source), *encoding)

    def __str__(self) -> str:
        return str(ByteStr(self))


class _Files(type):
    def __instancecheck__(cls, value: Value) -> bool:
        return hasattr(value, "read") and hasattr(value, "fileno")

    def __call__(cls, *args: Value, **kwargs: Value) -> Value:
        return files.open(*args, **kwargs)


class file(metaclass=_Files): ...


def isinstance_(value: Value, kinds: Value) -> bool:
    """NumPy's usual integers were Python's own, and bytes a str."""
    if isinstance(value, kinds):
        return True
    if isinstance(value, np.int64):
        return isinstance(0, kinds)
    return isinstance(value, bytes) and (kinds is str or (type(kinds) is tuple and str in kinds))


def range_(*bounds: Value) -> list[int]:
    return list(xrange(*bounds))


def xrange(*bounds: Value) -> Value:
    """Also of floats, which Python 2 cuts to integers."""
    return builtins.range(*(int(b) if isinstance(b, float) else b for b in bounds))


def map_(function: Value, *sequences: Value) -> list[Value]:
    """Shorter sequences are filled up with None; the function None means tuples."""
    if function is str:
        return [str(brief(x)) for x in sequences[0]]
    if len(sequences) == 1:
        return list(sequences[0]) if function is None else [function(x) for x in sequences[0]]
    rows = itertools.zip_longest(*sequences)
    return list(rows) if function is None else [function(*row) for row in rows]


def filter_(function: Value, sequence: Value) -> Value:
    kept = builtins.filter(function, sequence)
    if isinstance(sequence, str):
        return "".join(kept)
    return tuple(kept) if isinstance(sequence, tuple) else list(kept)


def zip_(*sequences: Value) -> list[Value]:
    return list(builtins.zip(*sequences, strict=False))


def sorted_(
    sequence: Value, cmp: Value = None, key: Value = None, reverse: bool = False
) -> list[Value]:
    items = list(sequence)
    try:
        return builtins.sorted(items, **by_key(cmp, key, reverse))
    except TypeError:
        if cmp is not None:
            raise
        return builtins.sorted(items, **by_key(order.cmp, key, reverse))


def min_(*values: Value, **key: Value) -> Value:
    """Of anything: None is less than every number."""
    return _extreme(builtins.min, values, key)


def max_(*values: Value, **key: Value) -> Value:
    """Of anything: every number is greater than None."""
    return _extreme(builtins.max, values, key)


def _extreme(choose: Value, values: Value, key: Value) -> Value:
    items = list(values[0]) if len(values) == 1 else values
    try:
        return choose(items, **key)
    except TypeError:
        if key:
            raise
        return choose(items, key=functools.cmp_to_key(order.cmp))


def round_(number: Value, digits: int = 0) -> Value:
    """A float, halves away from zero."""
    if not isinstance(number, (int, float)):
        return builtins.round(number, digits)
    scaled = number * 10.0**digits
    if not math.isfinite(scaled):
        return float(number)
    whole = math.floor(abs(scaled) + 0.5)
    return math.copysign(builtins.round(whole / 10.0**digits, max(digits, 0)), number)


def print_(*values: Value, **settings: Value) -> None:
    """A float with twelve digits."""
    builtins.print(*map(brief, values), **settings)


def ord_(character: Value) -> Value:
    """Of a byte that is no ASCII, its number."""
    if isinstance(character, int):
        return character
    code = builtins.ord(character)
    return code - ESCAPE if ESCAPE + 128 <= code < ESCAPE + 256 else code


def chr_(code: int) -> str:
    """A byte."""
    return builtins.chr(code if code < 128 else ESCAPE + code)


def input_(prompt: str = "") -> Value:
    return eval(builtins.input(prompt), sys._getframe(1).f_globals, sys._getframe(1).f_locals)


def reload(module: ModuleType) -> Value:
    """Of ``sys``, which scripts reload for the sake of setdefaultencoding, nothing is lost."""
    return module if module is sys else importlib.reload(module)


def buffer(value: Value) -> memoryview:
    return memoryview(as_bytes(value))


def apply(function: Value, args: Value = (), kwargs: Value = None) -> Value:
    return function(*args, **(kwargs or {}))


class _Notebook:
    """What a notebook that was saved as a script asks for."""

    def magic(self, line: str) -> None:
        """``%matplotlib inline`` and others: there is no notebook."""

    def run_line_magic(self, name: str, line: str) -> None:
        """The same."""

    def system(self, command: str) -> None:
        os.system(command)


NAMES: Names = {
    "StandardError": Exception,
    "apply": apply,
    "basestring": basestring,
    "buffer": buffer,
    "bytearray": bytearray_,
    "bytes": bytes_,
    "chr": chr_,
    "cmp": order.cmp,
    "file": file,
    "filter": filter_,
    "get_ipython": _Notebook,
    "input": input_,
    "intern": sys.intern,
    "isinstance": isinstance_,
    "long": int,
    "map": map_,
    "max": max_,
    "min": min_,
    "open": files.open,
    "ord": ord_,
    "print": print_,
    "range": range_,
    "raw_input": builtins.input,
    "reduce": functools.reduce,
    "reload": reload,
    "round": round_,
    "sorted": sorted_,
    "unichr": chr,
    "unicode": unicode,
    "xrange": xrange,
    "zip": zip_,
}
# Those that Python 3 does not have: a script that uses them is a script of Python 2.
GONE = sorted(set(NAMES) - set(dir(builtins)))
