"""Arrays of the stand-in: NumPy computes, but nothing goes to or from the host unasked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from pycaffe_dist.testing.cupy_standin import cuda
from pycaffe_dist.testing.cupy_standin.given import Given
from pycaffe_dist.testing.cupy_standin.memory import COUNTS, Memory, MemoryPointer

Host = np.ndarray[Any, Any]


class ndarray:
    """A device array.  ``get`` and ``set`` cross over to the host; plain arrays are refused."""

    __array_ufunc__ = None  # NumPy's functions leave it to us, and we refuse
    __slots__ = ("__weakref__", "_host", "_memory")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, host: Host, memory: Memory) -> None:
        self._host, self._memory = host, memory

    def __array__(self, dtype: Given = None, copy: Given = None) -> Host:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct "
            "a NumPy array explicitly."
        )

    # -- what it is --------------------------------------------------------------------------

    shape = property(lambda self: self._host.shape)
    strides = property(lambda self: self._host.strides)
    dtype = property(lambda self: self._host.dtype)
    ndim = property(lambda self: self._host.ndim)
    size = property(lambda self: self._host.size)
    itemsize = property(lambda self: self._host.itemsize)
    nbytes = property(lambda self: self._host.nbytes)
    flags = property(lambda self: self._host.flags)

    @property
    def data(self) -> MemoryPointer:
        return MemoryPointer(self._memory, int(self._host.ctypes.data))

    @property
    def T(self) -> ndarray:
        return ndarray(self._host.T, self._memory)

    def __len__(self) -> int:
        return len(self._host)

    def __repr__(self) -> str:
        return f"<{'×'.join(map(str, self.shape)) or 'one'} {self.dtype} on the device>"

    # -- to and from the host ----------------------------------------------------------------

    def get(
        self, stream: Given = None, order: str = "C", out: Host | None = None, blocking: bool = True
    ) -> Host:
        stream = stream or cuda.get_current_stream()
        COUNTS["to_host"] += 1
        touch(stream, "copy to host", reads=[self])
        if out is None:
            out = np.empty(self.shape, self.dtype)
        if not out.flags.c_contiguous:
            raise RuntimeError("`out` cannot be specified when copying to a non-contiguous ndarray")
        if blocking or not cuda.is_pinned(out):
            stream.synchronize()
        out[...] = self._host
        return out

    def set(self, arr: Host, stream: Given = None) -> None:
        stream = stream or cuda.get_current_stream()
        if not isinstance(arr, np.ndarray) or (arr.shape, arr.dtype) != (self.shape, self.dtype):
            raise ValueError("set() takes a NumPy array of the same shape and type")
        if not (self.flags.c_contiguous or self.flags.f_contiguous):
            raise RuntimeError("Cannot set to non-contiguous array")
        COUNTS["to_device"] += 1
        if not cuda.is_pinned(arr):
            COUNTS["synchronise"] += 1
        touch(stream, "copy to device", writes=[self])
        self._host[...] = arr

    def item(self) -> Any:
        return self.get().item()

    def __bool__(self) -> bool:
        return bool(self.get())

    def __int__(self) -> int:
        return int(self.get())

    def __float__(self) -> float:
        return float(self.get())

    # -- parts -------------------------------------------------------------------------------

    def __getitem__(self, key: Given) -> ndarray:
        if _has_mask(key):
            COUNTS["synchronise"] += 1  # how many there are decides the shape
        at = _Index(key)
        with _in_range(at):
            found: ndarray = lift(lambda host, at: host[at], "getitem", self, at)
        return found

    def __setitem__(self, key: Given, value: Given) -> None:
        if not isinstance(value, ndarray) and np.ndim(value):
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        if _has_mask(key) and isinstance(value, ndarray) and value.ndim:
            COUNTS["synchronise"] += 1
        at = _Index(key)
        given = [value] if isinstance(value, ndarray) else []
        touch(cuda.get_current_stream(), "setitem", [*at.arrays(), *given], [self])
        with np.errstate(all="ignore"), _in_range(at):
            self._host[at.host()] = value._host if isinstance(value, ndarray) else value

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def fill(self, value: Given) -> None:
        self[...] = value


class _Index:
    """An index whose arrays are on the device."""

    def __init__(self, key: Given) -> None:
        self.key = key

    def host(self) -> Any:
        parts = self.key if isinstance(self.key, tuple) else (self.key,)
        plain = tuple(p._host if isinstance(p, ndarray) else _no_host(p) for p in parts)
        return plain if isinstance(self.key, tuple) else plain[0]

    def arrays(self) -> list[ndarray]:
        parts = self.key if isinstance(self.key, tuple) else (self.key,)
        return [p for p in parts if isinstance(p, ndarray)]


@contextmanager
def _in_range(at: _Index) -> Iterator[None]:
    """On a device an index out of range wraps round, and nobody is told."""
    try:
        yield
    except IndexError as e:
        if at.arrays():
            raise AssertionError(f"CuPy does not raise this: {e}") from e
        raise


def _has_mask(key: Given) -> bool:
    return any(a.dtype == bool for a in _Index(key).arrays())


def _no_host(x: Given) -> Any:
    if isinstance(x, (np.ndarray, list)):
        raise TypeError(f"Unsupported type {type(x)}: memory of the host and of the device mix")
    return x


# -- computing -------------------------------------------------------------------------------------


def touch(
    stream: Given, what: str, reads: Sequence[ndarray] = (), writes: Sequence[ndarray] = ()
) -> None:
    """Enter work on a stream: what it reads and what it writes."""
    now = stream.begin(what)
    for array in reads:
        array._memory.block.read(stream.number, stream.clock, now)
    for array in writes:
        array._memory.block.write(stream.number, stream.clock, now)


def own(host: Given) -> ndarray:
    """A new array in memory of its own."""
    host = np.asarray(host)
    begin = int(host.ctypes.data)
    return ndarray(host, Memory(begin, host.nbytes, cuda.get_current_stream().number))


def lift(function: Callable[..., Given], what: str, *args: Given, **kwargs: Given) -> Any:
    """Call a function of NumPy with device arrays; what comes of it lives on the device."""
    reads: list[ndarray] = []

    def plain(x: Given) -> Any:
        if isinstance(x, ndarray):
            reads.append(x)
            return x._host
        if isinstance(x, _Index):
            reads.extend(x.arrays())
            return x.host()
        return _no_host(x)

    out = kwargs.pop("out", None)
    if out is not None and not isinstance(out, ndarray):
        raise TypeError(f"out is {type(out)}, and not a device array")
    plain_args = [plain(x) for x in args]
    plain_kwargs = {name: plain(x) for name, x in kwargs.items()}
    if out is not None:
        plain_kwargs["out"] = out._host
    with np.errstate(all="ignore"):
        result = function(*plain_args, **plain_kwargs)
    stream = cuda.get_current_stream()
    if out is not None:
        touch(stream, what, reads, [out])
        return out
    if not isinstance(result, (np.ndarray, np.generic)):
        touch(stream, what, reads)
        return result
    view = _view_of(result, reads)
    if view is None:
        made = own(result)
        touch(stream, what, reads, [made])
        return made
    return ndarray(np.asarray(result), view._memory)


def _view_of(result: Given, sources: Sequence[ndarray]) -> ndarray | None:
    if not isinstance(result, np.ndarray):
        return None
    root = _root(result)
    return next((s for s in sources if _root(s._host) is root), None)


def _root(host: Host) -> Any:
    while isinstance(host.base, np.ndarray):
        host = host.base
    return host


def _method(name: str) -> Callable[..., Given]:
    def method(self: ndarray, *args: Given, **kwargs: Given) -> Any:
        return lift(getattr(np.ndarray, name), name, self, *args, **kwargs)

    method.__name__ = name
    return method


METHODS = [
    "all",
    "any",
    "argmax",
    "argmin",
    "astype",
    "copy",
    "max",
    "min",
    "prod",
    "ravel",
    "reshape",
    "sum",
    "swapaxes",
    "transpose",
    "view",
]
for _name in METHODS:
    setattr(ndarray, _name, _method(_name))


def _operator(ufunc: np.ufunc, swapped: bool = False) -> Callable[..., Given]:
    def method(self: ndarray, other: Given) -> Any:
        a, b = (other, self) if swapped else (self, other)
        return lift(ufunc, ufunc.__name__, a, b)

    return method


def _in_place(ufunc: np.ufunc) -> Callable[..., Given]:
    def method(self: ndarray, other: Given) -> ndarray:
        lift(ufunc, ufunc.__name__, self, other, out=self)
        return self

    return method


OPERATORS = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "matmul": np.matmul,
}
for _name, _ufunc in OPERATORS.items():
    setattr(ndarray, f"__{_name}__", _operator(_ufunc))
    setattr(ndarray, f"__r{_name}__", _operator(_ufunc, swapped=True))
    if _name != "matmul":
        setattr(ndarray, f"__i{_name}__", _in_place(_ufunc))
COMPARISONS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
for _name, _ufunc in COMPARISONS.items():
    setattr(ndarray, f"__{_name}__", _operator(_ufunc))
UNARY = {"neg": np.negative, "abs": np.absolute, "invert": np.invert}
for _name, _ufunc in UNARY.items():
    setattr(
        ndarray,
        f"__{_name}__",
        lambda self, _ufunc=_ufunc: lift(_ufunc, _ufunc.__name__, self),
    )
