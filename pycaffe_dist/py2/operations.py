"""What Python 2 does otherwise than Python 3, as functions that translated text calls."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, MappingView
from functools import cmp_to_key
from numbers import Integral
from types import ModuleType

import numpy as np

from pycaffe_dist.py2.strings import as_bytes, byte_strs
from pycaffe_dist.py2.values import Names, Value

# -- division --------------------------------------------------------------------------------------


def div(a: Value, b: Value) -> Value:
    """``a / b``: between integers, arrays of them included, the floor of the quotient."""
    return a // b if _whole(a) and _whole(b) else a / b


class by:
    """The divisor of ``a /= by(b)``: whatever is divided, and wherever it is kept, asks it."""

    def __init__(self, divisor: Value) -> None:
        self.divisor = divisor

    def __array_ufunc__(self, ufunc: Value, method: str, a: Value, b: Value, **out: Value) -> Value:
        """NumPy's way of asking: ``true_divide(a, b, out=a)``."""
        return self.__rtruediv__(a)

    def __rtruediv__(self, a: Value) -> Value:
        """The new ``a``; an array is changed in place."""
        b = self.divisor
        if _whole(a) and _whole(b):
            a //= b
            return a
        if isinstance(a, np.ndarray) and _whole(a):  # as NumPy was: cut to the array's type
            return np.true_divide(a, b, out=a, casting="unsafe")
        a /= b
        return a


class less_by:
    """The subtrahend of ``a -= less_by(b)``: an image of bytes takes what NumPy cuts to bytes."""

    def __init__(self, subtrahend: Value) -> None:
        self.subtrahend = subtrahend

    def __array_ufunc__(self, ufunc: Value, method: str, a: Value, b: Value, **out: Value) -> Value:
        return self.__rsub__(a)

    def __rsub__(self, a: Value) -> Value:
        b = self.subtrahend
        if isinstance(a, np.ndarray) and isinstance(b, (np.ndarray, np.generic)):
            return np.subtract(a, b, out=a, casting="unsafe")
        a -= b
        return a


def _whole(value: Value) -> bool:
    kind = type(value)
    if kind is int:
        return True
    if kind is float:
        return False
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind in "iub"
    return isinstance(value, Integral)


def at(bound: Value) -> Value:
    """A slice's bound: NumPy took floats for it, cut to integers."""
    return int(bound) if isinstance(bound, (float, np.floating)) else bound


def whole(value: Value) -> Value:
    """A float, and those in a tuple or list, cut to integers, as C's arguments were."""
    if isinstance(value, (tuple, list)):
        return type(value)(map(whole, value))
    return at(value)


# -- arrays of one value ---------------------------------------------------------------------------
# NumPy took them for the value wherever a number was wanted.


def one(value: Value) -> Value:
    """The number in an array of one value; anything else as it is."""
    return value.item() if isinstance(value, np.ndarray) and value.size == 1 else value


def put(container: Value, key: Value, value: Value) -> None:
    """``container[key] = value``."""
    if not isinstance(container, np.ndarray) or container.dtype == object:
        container[key] = value
        return
    try:
        container[_index(key)] = one(value)
    except OverflowError:  # of which NumPy kept the lowest bits
        container[_index(key)] = np.asarray(value).astype(container.dtype)


def item(container: Value, key: Value) -> Value:
    """``container[key]``, where the key may be a float."""
    try:
        return container[key]
    except IndexError:  # NumPy's word for it, and what it raises where there is no such place
        if not isinstance(container, np.ndarray) or not _fractional(key):
            raise
        return container[_index(key)]


def place(container: Value, *key: Value) -> Value:
    """The key of ``container[key] += 1``, which may be a float."""
    found = key if len(key) > 1 else key[0]
    return _index(found) if isinstance(container, np.ndarray) else found


def _fractional(key: Value) -> bool:
    keys = key if isinstance(key, tuple) else (key,)
    return any(isinstance(part, (float, np.floating)) for part in keys)


def _index(key: Value) -> Value:
    return tuple(map(at, key)) if isinstance(key, tuple) else at(key)


def reshape(thing: Value, *shape: Value, **order: Value) -> Value:
    """``thing.reshape(shape)``, and ``numpy.reshape(a, shape)``, with floats in the shape."""
    try:
        return thing.reshape(*shape, **order)
    except TypeError:
        first = 1 if isinstance(thing, ModuleType) else 0
        return thing.reshape(*shape[:first], *map(whole, shape[first:]), **order)


def plus(a: Value, b: Value) -> Value:
    """``a + b``, one of them a number that is too large for bytes."""
    return _wider(operator.add, a, b)


def minus(a: Value, b: Value) -> Value:
    """``a - b``."""
    return _wider(operator.sub, a, b)


def times(a: Value, b: Value) -> Value:
    """``a * b``."""
    return _wider(operator.mul, a, b)


def _wider(operation: Callable[[Value, Value], Value], a: Value, b: Value) -> Value:
    """NumPy took a type that the number fits into, too."""
    try:
        return operation(a, b)
    except OverflowError:
        types = (
            np.min_scalar_type(x) if isinstance(x, int) else np.asarray(x).dtype for x in (a, b)
        )
        return operation(np.asarray(a).astype(np.result_type(*types)), b)


# -- dictionaries, iterators, lists ----------------------------------------------------------------


def keys(mapping: Value) -> Value:
    return _listed(mapping.keys())


def values(mapping: Value) -> Value:
    return _listed(mapping.values())


def items(mapping: Value) -> Value:
    return _listed(mapping.items())


def _listed(view: Value) -> Value:
    is_view = isinstance(view, MappingView)
    return list(view) if is_view else view


def iterkeys(mapping: Value) -> Iterator[Value]:
    return _iterator(mapping, "iterkeys", "keys")


def itervalues(mapping: Value) -> Iterator[Value]:
    return _iterator(mapping, "itervalues", "values")


def iteritems(mapping: Value) -> Iterator[Value]:
    return _iterator(mapping, "iteritems", "items")


def _iterator(mapping: Value, old: str, new: str) -> Iterator[Value]:
    """The thing's own method of the old name, if it has one."""
    own = getattr(mapping, old, None)
    return own() if own is not None else iter(getattr(mapping, new)())


def has_key(mapping: Value, key: Value) -> bool:
    own = getattr(mapping, "has_key", None)
    return bool(own(key)) if own is not None else key in mapping


def next_of(iterator: Value) -> Value:
    """``iterator.next()``: of iterators, and of what merely has such a method (LMDB's cursors)."""
    own = getattr(iterator, "next", None)
    return own() if own is not None else next(iterator)


def sort(sequence: Value, *args: Value, **kwargs: Value) -> Value:
    """``sequence.sort(cmp, key, reverse)`` of a list; of anything else its own."""
    if not isinstance(sequence, list):
        return sequence.sort(*args, **kwargs)
    return sequence.sort(**by_key(*args, **kwargs))


def by_key(cmp: Value = None, key: Value = None, reverse: bool = False) -> Names:
    """Python 2's arguments of ``sort`` in Python 3's words."""
    if cmp is None:
        return {"key": key, "reverse": reverse}
    as_key = cmp_to_key(cmp)
    return {"key": as_key if key is None else lambda x: as_key(key(x)), "reverse": reverse}


def with_image(found: Value) -> Value:
    """What findContours gave in OpenCV 3: an image in front of contours and hierarchy."""
    return found if len(found) == 3 else (None, *found)


# -- methods that are gone, or mean something else -------------------------------------------------


def children(element: Value) -> Value:
    """``element.getchildren()`` of an XML tree."""
    own = getattr(element, "getchildren", None)
    return own() if own is not None else list(element)


def iterated(element: Value, *tag: str) -> Value:
    """``element.getiterator(tag)`` of an XML tree."""
    own = getattr(element, "getiterator", None)
    return own(*tag) if own is not None else list(element.iter(*tag))


def mapped(text: Value, table: Value, *delete: Value) -> Value:
    """``text.translate(table, delete)``: a table has a character for each of 256, or is None."""
    if not isinstance(text, str) or not (delete or table is None or isinstance(table, str)):
        return text.translate(table, *delete)
    known = None if table is None else as_bytes(table)
    return str(byte_strs(as_bytes(text).translate(known, *map(as_bytes, delete))))


def is_alive(thread: Value) -> Value:
    """``thread.isAlive()``."""
    own = getattr(thread, "isAlive", None)
    return own() if own is not None else thread.is_alive()


# -- messages and arrays ---------------------------------------------------------------------------


def serialized(message: Value, *args: Value) -> Value:
    """``message.SerializeToString()``."""
    return byte_strs(message.SerializeToString(*args))


def field(message: Value, value: Value) -> Value:
    """The value of a message's field of bytes, which may be text."""
    return as_bytes(value) if hasattr(message, "SerializeToString") else value


def tostring(thing: Value, *args: Value, **kwargs: Value) -> Value:
    """``thing.tostring()``: of an array, its bytes."""
    own = getattr(thing, "tobytes" if hasattr(thing, "tobytes") else "tostring")
    return byte_strs(own(*args, **kwargs))


def ptp(thing: Value, *args: Value, **kwargs: Value) -> Value:
    """``array.ptp()``: from the least to the greatest."""
    return np.ptp(thing, *args, **kwargs)


def itemset(array: Value, *place_and_value: Value) -> None:
    """``array.itemset(place, value)``, where places are counted as in a flat array."""
    *at_place, value = place_and_value
    if len(at_place) == 1 and not isinstance(at_place[0], tuple):
        array.flat[at_place[0]] = value
    else:
        array[at_place[0] if len(at_place) == 1 else tuple(at_place)] = value


def negative(value: Value) -> Value:
    """``-value``: of an array of truths, what is not true."""
    truths = isinstance(value, (np.ndarray, np.generic)) and value.dtype == bool
    return ~value if truths else -value


def message(error: Value) -> Value:
    """``error.message``."""
    return error.message if hasattr(error, "message") else str(error)
