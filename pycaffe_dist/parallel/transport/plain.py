"""Plain values as bytes, from rank to rank: nothing that is received is ever run.

JSON, in which whatever JSON has no word for is a list that begins with its kind.  Classes are
those that were named here with :func:`travels`, and are made of their fields.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

from pycaffe_dist.errors import PcdError

# A tree of numbers, texts, bytes, lists, tuples, dicts and arrays.
Plain = Any

T = TypeVar("T")
_CLASSES: dict[str, type] = {}


def travels(kind: type[T]) -> type[T]:
    """Let objects of a dataclass go from rank to rank."""
    _CLASSES[kind.__name__] = kind
    return kind


def encode(value: Plain) -> bytes:
    """Any tree of numbers, texts, bytes, lists, tuples, dicts, arrays and such objects.

    Raises:
        PcdError: something else is among them.
    """
    return json.dumps(_plain(value)).encode()


def refusal(error: PcdError) -> bytes:
    """What is sent in place of a value that cannot be: whoever decodes it raises the same words."""
    return json.dumps(["refused", str(error)]).encode()


def decode(data: bytes) -> Plain:
    """What was encoded.

    Raises:
        PcdError: it is something else, or its sender had to refuse it.
    """
    try:
        return _made(json.loads(data))
    except (ValueError, TypeError, KeyError, IndexError, RecursionError) as e:
        raise PcdError(f"a rank has received what no rank of this version sends: {e!r}") from e


def _plain(value: Plain) -> Plain:
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, (list, tuple)):
        return ["list" if isinstance(value, list) else "tuple", *map(_plain, value)]
    if isinstance(value, dict):
        return ["dict", *([_plain(k), _plain(v)] for k, v in value.items())]
    if isinstance(value, bytes):
        return ["bytes", b64encode(value).decode()]
    if isinstance(value, (np.ndarray, np.generic)) and not value.dtype.hasobject:
        kind = "array" if isinstance(value, np.ndarray) else "scalar"
        content = b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return [kind, value.dtype.str, list(value.shape), content]
    if is_dataclass(value) and _CLASSES.get(type(value).__name__) is type(value):
        return ["object", type(value).__name__, *_fields(value)]
    raise PcdError(
        f"{type(value).__name__} does not go from rank to rank: {value!r}. Send numbers, texts, "
        "bytes, arrays, and lists, tuples and dicts of them"
    )


def _fields(value: Plain) -> list[Plain]:
    return [_plain(getattr(value, field.name)) for field in fields(value)]


def _made(value: Plain) -> Plain:
    if not isinstance(value, list):
        return value
    kind, *rest = value
    if kind in ("list", "tuple"):
        made = map(_made, rest)
        return list(made) if kind == "list" else tuple(made)
    if kind == "dict":
        return {_made(k): _made(v) for k, v in rest}
    if kind == "bytes":
        return b64decode(rest[0])
    if kind == "object":
        return _CLASSES[rest[0]](*map(_made, rest[1:]))
    if kind == "refused":
        raise PcdError(rest[0])
    if kind not in ("array", "scalar"):
        raise ValueError(f"the kind {kind!r}")
    array = np.frombuffer(b64decode(rest[2]), np.dtype(str(rest[0]))).reshape(rest[1])
    return array.copy() if kind == "array" else array[()]
