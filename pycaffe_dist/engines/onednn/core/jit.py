"""Kernels made at run time by LLVM, for what oneDNN has no primitive for.

A kernel is one function of vectors of floats; its arguments are addresses and numbers.  It is
compiled for this processor when it is first needed, in some hundredths of a second, and run by the
threads of OpenMP that oneDNN uses too, each of which takes its share of the work.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any

from llvmlite import binding, ir

from pycaffe_dist.memory import Array
from pycaffe_dist.threads import threads

INT, BIT, FLOAT = ir.IntType(64), ir.IntType(1), ir.FloatType()
CHAR, STATUS = ir.IntType(8), ir.IntType(32)
FLOAT_BYTES = 4


class Code:
    """A kernel while it is written.  Numbers and addresses are 64-bit integers.

    Args:
        arguments: how many the kernel takes.
        width: floats in a vector.
    """

    def __init__(self, arguments: int, width: int = 16) -> None:
        self.module = ir.Module("kernel")
        self.vector = ir.VectorType(FLOAT, width)
        kind = ir.FunctionType(ir.VoidType(), [INT.as_pointer()])
        self.function = ir.Function(self.module, kind, "kernel")
        self.build = ir.IRBuilder(self.function.append_basic_block())
        (given,) = self.function.args
        self.arguments = [
            self.build.load(self.build.gep(given, [INT(i)])) for i in range(arguments)
        ]
        fma = ir.FunctionType(self.vector, [self.vector] * 3)
        self._fma = ir.Function(self.module, fma, f"llvm.fma.v{width}f32")

    def room(self, vectors: int) -> Any:
        """The address of memory that only this thread has; to be asked for before any loop."""
        place = self.build.alloca(self.vector, size=vectors)
        place.align = FLOAT_BYTES * self.vector.count
        return self.build.ptrtoint(place, INT)

    # -- numbers -----------------------------------------------------------------------------

    def add(self, *terms: Any) -> Any:
        total, *rest = (self._number(term) for term in terms)
        for term in rest:
            total = self.build.add(total, term)
        return total

    def sub(self, a: Any, b: Any) -> Any:
        return self.build.sub(self._number(a), self._number(b))

    def mul(self, *factors: Any) -> Any:
        total, *rest = (self._number(factor) for factor in factors)
        for factor in rest:
            total = self.build.mul(total, factor)
        return total

    def divided(self, a: Any, b: Any) -> tuple[Any, Any]:
        """The quotient and the rest of two numbers that are not negative."""
        b = self._number(b)
        return self.build.udiv(a, b), self.build.urem(a, b)

    def least(self, a: Any, b: Any) -> Any:
        return self._select("<", a, b)

    def most(self, a: Any, b: Any) -> Any:
        return self._select(">", a, b)

    def _select(self, order: str, a: Any, b: Any) -> Any:
        a, b = self._number(a), self._number(b)
        return self.build.select(self.build.icmp_signed(order, a, b), a, b)

    def all(self, *conditions: tuple[Any, str, Any]) -> Any:
        """Whether all comparisons (a, order, b) hold."""
        total = BIT(1)
        for a, order, b in conditions:
            holds = self.build.icmp_signed(order, self._number(a), self._number(b))
            total = self.build.and_(total, holds)
        return total

    def choose(self, condition: Any, a: Any, b: Any) -> Any:
        return self.build.select(condition, self._number(a), self._number(b))

    @staticmethod
    def _number(value: Any) -> Any:
        return INT(value) if isinstance(value, int) else value

    # -- the way through ---------------------------------------------------------------------

    @contextmanager
    def loop(self, begin: Any, end: Any, step: Any = 1) -> Iterator[Any]:
        """What is written inside is done for begin, begin + step, ... below end."""
        b = self.build
        before = b.block
        head, body, after = (b.append_basic_block() for _ in range(3))
        b.branch(head)
        b.position_at_end(head)
        i = b.phi(INT)
        i.add_incoming(self._number(begin), before)
        b.cbranch(b.icmp_signed("<", i, self._number(end)), body, after)
        b.position_at_end(body)
        yield i
        i.add_incoming(b.add(i, self._number(step)), b.block)
        b.branch(head)
        b.position_at_end(after)

    def where(self, condition: Any) -> AbstractContextManager[Any]:
        """What is written inside is done only if the condition holds."""
        return self.build.if_then(condition)  # type: ignore[no-any-return]

    def share(self, count: Any) -> tuple[Any, Any]:
        """Of ``count`` pieces of work, the first of this thread and the first of the next."""
        who, of = self.thread(), self._openmp("omp_get_num_threads")
        begin, end = (self.divided(self.mul(count, i), of)[0] for i in (who, self.add(who, 1)))
        return begin, end

    def thread(self) -> Any:
        """The number of this thread."""
        return self._openmp("omp_get_thread_num")

    def _openmp(self, name: str) -> Any:
        function = ctypes.cast(getattr(_openmp(), name), ctypes.c_void_p).value
        assert function
        return self.build.zext(self.call(function, STATUS), INT)

    def call(self, address: int, result: Any, *arguments: Any) -> Any:
        """Call a function of another library."""
        kind = ir.FunctionType(result, [a.type for a in arguments])
        return self.build.call(self.build.inttoptr(INT(address), kind.as_pointer()), arguments)

    # -- vectors -----------------------------------------------------------------------------

    def load(self, address: Any) -> Any:
        return self.build.load(self._pointer(address), align=FLOAT_BYTES)

    def store(self, value: Any, address: Any) -> None:
        self.build.store(value, self._pointer(address), align=FLOAT_BYTES)

    def _pointer(self, address: Any) -> Any:
        return self.build.inttoptr(address, self.vector.as_pointer())

    def constant(self, value: float) -> Any:
        return ir.Constant(self.vector, [ir.Constant(FLOAT, value)] * self.vector.count)

    def weighted(self, weights: Sequence[float], values: Sequence[Any]) -> Any:
        """Σ wᵢ vᵢ."""
        terms = [(float(w), v) for w, v in zip(weights, values, strict=True) if w]
        if not terms:
            return self.constant(0.0)
        terms.sort(key=lambda term: term[0] != 1)  # one that is taken as it is goes first
        (first, total), *rest = terms
        if first != 1:
            total = self.build.fmul(self.constant(first), total)
        for weight, value in rest:
            if abs(weight) == 1:
                add = self.build.fadd if weight > 0 else self.build.fsub
                total = add(total, value)
            else:
                total = self.build.call(self._fma, [self.constant(weight), value, total])
        return total

    def leaky(self, value: Any, slope: float) -> Any:
        """The value where it is positive, elsewhere (also where it is no number) times a slope."""
        positive = self.build.fcmp_ordered(">", value, self.constant(0.0))
        return self.build.select(positive, value, self.build.fmul(value, self.constant(slope)))

    def finish(self) -> Kernel:
        self.build.ret_void()
        return Kernel(str(self.module))


class Kernel:
    """A compiled kernel: called with addresses and numbers, it is run by all threads."""

    def __init__(self, text: str) -> None:
        module = binding.parse_assembly(text)
        module.verify()
        self._engine = binding.create_mcjit_compiler(module, _machine())
        self._engine.finalize_object()
        self._address = self._engine.get_function_address("kernel")
        self._alone = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._address)

    def __call__(self, *arguments: int) -> None:
        given = (ctypes.c_int64 * len(arguments))(*arguments)
        count = threads()
        if count == 1:
            self._alone(ctypes.addressof(given))
        else:
            _parallel()(self._address, ctypes.addressof(given), count, 0)


@cache
def _openmp() -> ctypes.CDLL:
    return ctypes.CDLL("libgomp.so.1")


@cache
def _parallel() -> Callable[..., object]:
    function = _openmp().GOMP_parallel
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint]
    function.restype = None
    return function


def _machine() -> Any:
    """The processor of this machine; each compiler wants one of its own."""
    target, cpu, features = _processor()
    return target.create_target_machine(cpu=cpu, features=features, opt=3, codemodel="jitdefault")


@cache
def _processor() -> tuple[Any, str, str]:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    features = binding.get_host_cpu_features().flatten()
    return binding.Target.from_default_triple(), binding.get_host_cpu_name(), features


def address(array: Array) -> int:
    found: int = array.__array_interface__["data"][0]
    return found
