"""Element-wise NumPy code as one pass over memory: traced once, compiled by LLVM.

A function that works on float32 arrays by NumPy's operations, many passes over a block, is called
with ``Symbol``s instead.  They write down what is done to each element; a kernel then does all of
it while the element is in a register.  Every operation rounds as NumPy's does, and in the same
order: the results are the same bits.  Numbers are arguments of the kernel, so that a changed
learning rate needs no other one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.engines.onednn.core.jit import (
    FLOAT_BYTES,
    Code,
    Kernel,
    Operand,
    address,
    vector_width,
)

FLOAT = np.dtype(np.float32)
UFUNCS = {
    np.add: "add",
    np.subtract: "sub",
    np.multiply: "mul",
    np.divide: "div",
    np.sqrt: "sqrt",
    np.sign: "sign",
}
SHORT = 1 << 12  # elements: fewer are done faster by one thread than they are shared out


Steps = list[tuple[str, tuple[str, ...]]]


@dataclass
class Trace:
    """Operations on one element, in their order.

    Attributes:
        steps: (operation, operands): values of earlier steps as "v1", numbers as "n1".
        numbers: the operands that are no arrays.
    """

    steps: Steps = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)

    def do(self, operation: str, *operands: Symbol | float) -> str:
        self.steps.append((operation, tuple(self._name(operand) for operand in operands)))
        return f"v{len(self.steps) - 1}"

    def _name(self, operand: Symbol | float) -> str:
        if isinstance(operand, Symbol):
            return operand.value
        self.numbers.append(float(np.float32(operand)))
        return f"n{len(self.numbers) - 1}"


class Symbol:
    """An array of the code that is traced; ``value`` names what it holds now."""

    dtype = FLOAT

    def __init__(self, trace: Trace, value: str = "") -> None:
        self._trace, self.value = trace, value

    def __array_ufunc__(
        self,
        ufunc: np.ufunc,
        method: str,
        *inputs: Symbol | float,
        out: tuple[Symbol] | None = None,
    ) -> Symbol:
        if method != "__call__" or ufunc not in UFUNCS:
            raise NotImplementedError(f"{ufunc.__name__} is not traced")
        made = self._trace.do(UFUNCS[ufunc], *inputs)
        if out is None:
            return Symbol(self._trace, made)
        out[0].value = made
        changed: Symbol = out[0]
        return changed

    def __setitem__(self, where: object, other: Symbol) -> None:
        assert where is Ellipsis
        self.value = other.value

    def __add__(self, other: Symbol | float) -> Symbol:
        return Symbol(self._trace, self._trace.do("add", self, other))

    def __iadd__(self, other: Symbol | float) -> Symbol:
        return self._change("add", other)

    def __isub__(self, other: Symbol | float) -> Symbol:
        return self._change("sub", other)

    def __imul__(self, other: Symbol | float) -> Symbol:
        return self._change("mul", other)

    def __itruediv__(self, other: Symbol | float) -> Symbol:
        return self._change("div", other)

    def _change(self, operation: str, other: Symbol | float) -> Symbol:
        self.value = self._trace.do(operation, self, other)
        return self


@dataclass(frozen=True)
class Traced:
    """A traced function: called with its arrays, flat and equally long, it changes them."""

    steps: tuple[tuple[str, tuple[str, ...]], ...]
    results: tuple[str, ...]  # by array: what it holds in the end
    numbers: Array

    def __call__(self, arrays: Sequence[Array]) -> None:
        wide = vector_width()
        count = arrays[0].size
        body = count // wide * wide
        places, numbers = [address(array) for array in arrays], address(self.numbers)
        if body:
            run = _kernel(self.steps, self.results, wide, body > SHORT)
            run(*places, numbers, body // wide)
        if body < count:
            rest = [place + FLOAT_BYTES * body for place in places]
            _kernel(self.steps, self.results, 1, False)(*rest, numbers, count - body)


def traced(work: Callable[..., object], arrays: int, rooms: int = 0) -> Traced:
    """Trace a function of so many arrays and of rooms, which hold nothing before and after."""
    trace = Trace()
    symbols = [Symbol(trace, f"a{i}") for i in range(arrays)]
    work(*symbols, *(Symbol(trace) for _ in range(rooms)))
    numbers = np.array([*trace.numbers, 0.0], np.float32)
    return Traced(tuple(trace.steps), tuple(s.value for s in symbols), numbers)


@cache
def _kernel(steps: Steps, results: tuple[str, ...], width: int, shared: bool) -> Kernel:
    """Called with the addresses of the arrays and of the numbers, and the number of vectors."""
    code = Code(len(results) + 2, width)
    *places, numbers, count = code.arguments
    operations = _operations(code)
    denormals = code.flush_denormals()
    used = {o for _, operands in steps for o in operands}
    known = {n: code.spread(numbers, int(n[1:])) for n in sorted(used) if n.startswith("n")}
    begin, end = code.share(count)
    with code.loop(begin, end) as i:
        offset = code.mul(i, FLOAT_BYTES * width)
        here = [code.add(place, offset) for place in places]
        values = {**known, **{f"a{k}": code.load(place) for k, place in enumerate(here)}}
        for k, (operation, operands) in enumerate(steps):
            values[f"v{k}"] = operations[operation](*(values[o] for o in operands))
        for k, (place, result) in enumerate(zip(here, results, strict=True)):
            if result != f"a{k}":
                code.store(values[result], place)
    denormals()
    return code.finish(threads=None if shared else 1)


def _operations(code: Code) -> Mapping[str, Callable[..., Operand]]:
    b = code.build

    def sign(x: Operand) -> Operand:
        """−1, 0 or 1, and NaN for NaN."""
        signed, zero = x, code.constant(0.0)
        for order, result in (("==", 0.0), ("<", -1.0), (">", 1.0)):
            signed = b.select(b.fcmp_ordered(order, x, zero), code.constant(result), signed)
        return signed

    return {
        "add": b.fadd,
        "sub": b.fsub,
        "mul": b.fmul,
        "div": b.fdiv,
        "sqrt": code.sqrt,
        "sign": sign,
    }
