"""``numpy`` of 2015: its names, and sizes that may be floats."""

import builtins as _builtins
import sys as _sys
from collections.abc import Iterator

import numpy as _real

from pycaffe_dist.py2.files import as_binary
from pycaffe_dist.py2.shadows import math as _math
from pycaffe_dist.py2.shadows import over
from pycaffe_dist.py2.strings import as_bytes
from pycaffe_dist.py2.values import Names, Value

# Names that NumPy took away, for what they stood for.
_GONE: Names = {
    "bool": _builtins.bool,
    "int": _builtins.int,
    "float": _builtins.float,
    "str": _builtins.str,
    "complex": _builtins.complex,
    "object": _builtins.object,
    "long": _builtins.int,
    "unicode": _builtins.str,
    "bool8": _real.bool_,
    "float_": _real.float64,
    "complex_": _real.complex128,
    "string_": _real.bytes_,
    "unicode_": _real.str_,
    "object0": _real.object_,
    "int0": _real.intp,
    "Inf": _real.inf,
    "NaN": _real.nan,
    "Infinity": _real.inf,
    "infty": _real.inf,
    "NAN": _real.nan,
    "PINF": _real.inf,
    "NINF": -_real.inf,
    "alen": len,
    "mat": _real.asmatrix,
    "math": _math,
    "typeDict": _real.sctypeDict,
    "sctypes": {
        "int": [_real.int8, _real.int16, _real.int32, _real.int64],
        "uint": [_real.uint8, _real.uint16, _real.uint32, _real.uint64],
        "float": [_real.float16, _real.float32, _real.float64, _real.longdouble],
        "complex": [_real.complex64, _real.complex128, _real.clongdouble],
    },
    "find_common_type": lambda arrays, scalars: _real.result_type(*arrays, *scalars),
    "disp": lambda text, *_: print(text),
    "asfarray": lambda a, dtype=_real.float64: _real.asarray(a, dtype),
    "product": _real.prod,
    "cumproduct": _real.cumprod,
    "alltrue": _real.all,
    "sometrue": _real.any,
    "round_": _real.round,
    "rank": _real.ndim,
    "row_stack": _real.vstack,
    "msort": lambda a: _real.sort(a, axis=0),
    "in1d": lambda a, b, **kw: _real.isin(_real.ravel(a), b, **kw),
    "asscalar": lambda a: _real.asarray(a).item(),
    "trapz": getattr(_real, "trapezoid", None),
}
globals().update(_GONE)


def _size(shape: Value) -> Value:
    """A shape, or a number, with floats cut to integers."""
    if isinstance(shape, (_builtins.float, _real.floating)):
        return _builtins.int(shape)
    if isinstance(shape, (tuple, list)):
        return tuple(map(_size, shape))
    return shape


def zeros(shape: Value, *args: Value, **kwargs: Value) -> Value:
    return _real.zeros(_size(shape), *args, **kwargs)


def ones(shape: Value, *args: Value, **kwargs: Value) -> Value:
    return _real.ones(_size(shape), *args, **kwargs)


def empty(shape: Value, *args: Value, **kwargs: Value) -> Value:
    return _real.empty(_size(shape), *args, **kwargs)


def full(shape: Value, *args: Value, **kwargs: Value) -> Value:
    return _real.full(_size(shape), *args, **kwargs)


def eye(N: Value, *args: Value, **kwargs: Value) -> Value:
    return _real.eye(_size(N), *map(_size, args), **kwargs)


def identity(n: Value, *args: Value, **kwargs: Value) -> Value:
    return _real.identity(_size(n), *args, **kwargs)


def resize(a: Value, new_shape: Value) -> Value:
    return _real.resize(a, _size(new_shape))


def divide(a: Value, b: Value, *args: Value, **kwargs: Value) -> Value:
    """Of whole numbers the floor of the quotient."""
    whole = all(_real.asarray(x).dtype.kind in "iub" for x in (a, b))
    return (_real.floor_divide if whole else _real.true_divide)(a, b, *args, **kwargs)


def linspace(start: Value, stop: Value, num: Value = 50, *args: Value, **kwargs: Value) -> Value:
    return _real.linspace(start, stop, _size(num), *args, **kwargs)


def tile(A: Value, reps: Value) -> Value:
    return _real.tile(A, _size(reps))


def _of_iterators(name: _builtins.str) -> Value:
    """A function that stacks arrays, also those that a generator gives."""
    stack = getattr(_real, name)

    def call(arrays: Value, *args: Value, **kwargs: Value) -> Value:
        return stack(list(arrays) if isinstance(arrays, Iterator) else arrays, *args, **kwargs)

    return call


vstack, hstack, dstack = map(_of_iterators, ("vstack", "hstack", "dstack"))
column_stack, concatenate = map(_of_iterators, ("column_stack", "concatenate"))


def array(value: Value, *args: Value, **kwargs: Value) -> Value:
    """Rows of different lengths make an array of objects."""
    return _or_objects(_real.array, value, args, kwargs)


def asarray(value: Value, *args: Value, **kwargs: Value) -> Value:
    return _or_objects(_real.asarray, value, args, kwargs)


def _or_objects(make: Value, value: Value, args: Value, kwargs: Value) -> Value:
    if kwargs.get("copy") is False:
        kwargs["copy"] = None  # which meant: only if it has to be
    try:
        return make(value, *args, **kwargs)
    except OverflowError:  # of which NumPy kept the lowest bits
        return _real.array(value).astype(args[0] if args else kwargs["dtype"])
    except ValueError as e:
        if args or "dtype" in kwargs or "inhomogeneous" not in _builtins.str(e):
            raise
        return make(value, dtype=_builtins.object)


def fromstring(
    string: Value, dtype: Value = _builtins.float, count: int = -1, sep: str = ""
) -> Value:
    """Of bytes, and of the text that a file was read into."""
    if sep:
        return _real.fromstring(_builtins.str(string), dtype, count, sep=sep)
    return _real.frombuffer(as_bytes(string), dtype, count).copy()


def frombuffer(buffer: Value, *args: Value, **kwargs: Value) -> Value:
    return _real.frombuffer(as_bytes(buffer), *args, **kwargs)


def load(file: Value, *args: Value, **kwargs: Value) -> Value:
    """Arrays of objects too, as Python 2 pickled them."""
    kwargs = {"allow_pickle": True, "encoding": "latin1", **kwargs}
    return _real.load(as_binary(file), *args, **kwargs)


def save(file: Value, arr: Value, **kwargs: Value) -> None:
    _real.save(as_binary(file), arr, **kwargs)


def sum(a: Value, *args: Value, **kwargs: Value) -> Value:
    if isinstance(a, Iterator):  # also where it hides Python's own
        return _builtins.sum(a, *args)
    return _real.sum(a, *args, **kwargs)


def set_printoptions(
    precision: Value = None, threshold: Value = None, *args: Value, **kwargs: Value
) -> None:
    """A threshold of NaN, the word or the number, leaves nothing out."""
    if threshold is not None and _builtins.str(threshold) == "nan":
        threshold = _sys.maxsize
    _real.set_printoptions(precision, threshold, *args, **kwargs)


def histogram(
    a: Value, bins: Value = 10, *args: Value, normed: Value = None, **kwargs: Value
) -> Value:
    if normed is not None:
        kwargs["density"] = bool_(normed)
    bins = _size(bins) if isinstance(bins, _builtins.float) else bins
    return _real.histogram(a, bins, *args, **kwargs)


class _Cast:
    """``cast['f'](x)``."""

    def __getitem__(self, dtype: Value) -> Value:
        return lambda value: _real.asarray(value).astype(dtype)


cast = _Cast()
bool_ = _real.bool_
# As it was, `from numpy import *` leaves Python's own names alone, but for three.
_PYTHONS = {*dir(_builtins), "long", "unicode"} - {"all", "any", "sum"}
OURS = (
    *(set(_GONE) - _PYTHONS),
    *("column_stack", "concatenate", "dstack", "hstack", "vstack"),
    *(
        "array",
        "asarray",
        "cast",
        "divide",
        "identity",
        "resize",
        "empty",
        "eye",
        "frombuffer",
        "fromstring",
        "full",
        "histogram",
    ),
    *("linspace", "load", "ones", "save", "set_printoptions", "sum", "tile", "zeros"),
)
_names = globals()
_get = over(_real, _names)


def __getattr__(name: str) -> Value:
    found = _get(name)
    if name == "__all__":
        return [n for n in found if n not in _PYTHONS]
    _names[name] = found  # asked for often
    return found
