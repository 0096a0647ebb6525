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
from typing import TypeAlias

from llvmlite import binding, ir

from pycaffe_dist.aliases import Array
from pycaffe_dist.threads import FLUSH, threads

INT, BIT, FLOAT = ir.IntType(64), ir.IntType(1), ir.FloatType()
CHAR, STATUS = ir.IntType(8), ir.IntType(32)
FLOAT_BYTES = 4


Operand: TypeAlias = ir.Value  # or a Python number, of which a constant is made


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

    def room(self, vectors: int) -> ir.Value:
        """The address of memory that only this thread has; to be asked for before any loop."""
        place = self.build.alloca(self.vector, size=vectors)
        place.align = FLOAT_BYTES * self.vector.count
        return self.build.ptrtoint(place, INT)

    # -- numbers -----------------------------------------------------------------------------

    def add(self, *terms: Operand) -> ir.Value:
        total, *rest = (self._number(term) for term in terms)
        for term in rest:
            total = self.build.add(total, term)
        return total

    def sub(self, a: Operand, b: Operand) -> ir.Value:
        return self.build.sub(self._number(a), self._number(b))

    def mul(self, *factors: Operand) -> ir.Value:
        total, *rest = (self._number(factor) for factor in factors)
        for factor in rest:
            total = self.build.mul(total, factor)
        return total

    def divided(self, a: Operand, b: Operand) -> tuple[Operand, Operand]:
        """The quotient and the rest of two numbers that are not negative."""
        b = self._number(b)
        return self.build.udiv(a, b), self.build.urem(a, b)

    def least(self, a: Operand, b: Operand) -> ir.Value:
        return self._select("<", a, b)

    def most(self, a: Operand, b: Operand) -> ir.Value:
        return self._select(">", a, b)

    def _select(self, order: str, a: Operand, b: Operand) -> ir.Value:
        a, b = self._number(a), self._number(b)
        return self.build.select(self.build.icmp_signed(order, a, b), a, b)

    def all(self, *conditions: tuple[Operand, str, Operand]) -> ir.Value:
        """Whether all comparisons (a, order, b) hold."""
        total = BIT(1)
        for a, order, b in conditions:
            holds = self.build.icmp_signed(order, self._number(a), self._number(b))
            total = self.build.and_(total, holds)
        return total

    def choose(self, condition: Operand, a: Operand, b: Operand) -> ir.Value:
        return self.build.select(condition, self._number(a), self._number(b))

    @staticmethod
    def _number(value: Operand) -> ir.Value:
        return INT(value) if isinstance(value, int) else value

    # -- the way through ---------------------------------------------------------------------

    @contextmanager
    def loop(self, begin: Operand, end: Operand, step: Operand = 1) -> Iterator[Operand]:
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

    def where(self, condition: ir.Value) -> AbstractContextManager[object]:
        """What is written inside is done only if the condition holds."""
        return self.build.if_then(condition)

    def share(self, count: Operand) -> tuple[Operand, Operand]:
        """Of ``count`` pieces of work, the first of this thread and the first of the next."""
        who, of = self.thread(), self._openmp("omp_get_num_threads")
        begin, end = (self.divided(self.mul(count, i), of)[0] for i in (who, self.add(who, 1)))
        return begin, end

    def thread(self) -> ir.Value:
        """The number of this thread."""
        return self._openmp("omp_get_thread_num")

    def _openmp(self, name: str) -> ir.Value:
        function = ctypes.cast(getattr(_openmp(), name), ctypes.c_void_p).value
        assert function
        return self.build.zext(self.call(function, STATUS), INT)

    def call(self, address: int, result: Operand, *arguments: Operand) -> ir.Value:
        """Call a function of another library."""
        kind = ir.FunctionType(result, [a.type for a in arguments])
        return self.build.call(self.build.inttoptr(INT(address), kind.as_pointer()), arguments)

    # -- vectors -----------------------------------------------------------------------------

    def load(self, address: Operand) -> ir.Value:
        return self.build.load(self._pointer(address), align=FLOAT_BYTES)

    def store(self, value: Operand, address: Operand, past_caches: bool = False) -> None:
        """Past the caches only to an address that is a multiple of a vector's size."""
        size = FLOAT_BYTES * self.vector.count
        stored = self.build.store(
            value, self._pointer(address), align=size if past_caches else FLOAT_BYTES
        )
        if past_caches:
            stored.set_metadata("nontemporal", self.module.add_metadata([STATUS(1)]))

    def _pointer(self, address: Operand) -> ir.Value:
        return self.build.inttoptr(address, self.vector.as_pointer())

    def constant(self, value: float) -> ir.Value:
        return ir.Constant(self.vector, [ir.Constant(FLOAT, value)] * self.vector.count)

    def weighted(self, weights: Sequence[float], values: Sequence[Operand]) -> ir.Value:
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
                total = self.fma(self.constant(weight), value, total)
        return total

    def fma(self, a: Operand, b: Operand, c: Operand) -> ir.Value:
        """a·b + c, rounded once."""
        return self.build.call(self._fma, [a, b, c])

    def leaky(self, value: Operand, slope: float) -> ir.Value:
        """The value where it is positive, elsewhere (also where it is NaN) times a slope."""
        positive = self.build.fcmp_ordered(">", value, self.constant(0.0))
        return self.build.select(positive, value, self.build.fmul(value, self.constant(slope)))

    def sqrt(self, value: Operand) -> ir.Value:
        kind = ir.FunctionType(self.vector, [self.vector])
        name = f"llvm.sqrt.v{self.vector.count}f32"
        known = self.module.globals.get(name)
        return self.build.call(known or ir.Function(self.module, kind, name), [value])

    def spread(self, address: Operand, index: int) -> ir.Value:
        """A vector all of whose elements are the float at this place behind an address."""
        place = self.add(address, FLOAT_BYTES * index)
        number = self.build.load(self.build.inttoptr(place, FLOAT.as_pointer()), align=FLOAT_BYTES)
        first = self.build.insert_element(ir.Constant(self.vector, ir.Undefined), number, INT(0))
        mask = ir.Constant(ir.VectorType(STATUS, self.vector.count), [0] * self.vector.count)
        return self.build.shuffle_vector(first, ir.Constant(self.vector, ir.Undefined), mask)

    def flush_denormals(self) -> Callable[[], None]:
        """Denormal numbers are zero in this thread from here on, until what is returned is called.

        Threads of OpenMP were started by anyone, in any mode.
        """
        pointer = CHAR.as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer])
        get, put = (ir.Function(self.module, kind, f"llvm.x86.sse.{x}mxcsr") for x in ("st", "ld"))
        before, during = (self.build.alloca(STATUS) for _ in range(2))
        self.build.call(get, [self.build.bitcast(before, pointer)])
        self.build.store(self.build.or_(self.build.load(before), STATUS(FLUSH)), during)
        self.build.call(put, [self.build.bitcast(during, pointer)])
        return lambda: self.build.call(put, [self.build.bitcast(before, pointer)])

    def bytes_at(self, address: Operand, count: int) -> ir.Value:
        """So many bytes, as a vector."""
        pointer = self.build.inttoptr(address, ir.VectorType(CHAR, count).as_pointer())
        return self.build.load(pointer, align=1)

    def chosen(self, vector: ir.Value, order: Sequence[int]) -> ir.Value:
        """These elements of a vector, in this order."""
        if list(order) == list(range(vector.type.count)):
            return vector
        mask = ir.Constant(ir.VectorType(STATUS, len(order)), [STATUS(i) for i in order])
        return self.build.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), mask)

    def finish(self, threads: int | None = None) -> Kernel:
        """The kernel, which so many threads run; None: those that compute."""
        self.build.ret_void()
        return Kernel(str(self.module), threads)


class Kernel:
    """A compiled kernel: called with addresses and numbers, it is run by all threads."""

    def __init__(self, text: str, threads: int | None = None) -> None:
        self._threads = threads
        module = binding.parse_assembly(text)
        module.verify()
        self._engine = binding.create_mcjit_compiler(module, _machine())
        self._engine.finalize_object()
        self._address = self._engine.get_function_address("kernel")
        self._alone = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._address)

    def __call__(self, *arguments: int) -> None:
        given = (ctypes.c_int64 * len(arguments))(*arguments)
        count = self._threads or threads()
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


def _machine() -> binding.TargetMachine:
    """The processor of this machine; each compiler wants one of its own."""
    target, cpu, features = _processor()
    return target.create_target_machine(cpu=cpu, features=features, opt=3, codemodel="jitdefault")


@cache
def _processor() -> tuple[binding.Target, str, str]:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    features = binding.get_host_cpu_features().flatten()
    return binding.Target.from_default_triple(), binding.get_host_cpu_name(), features


def vector_width() -> int:
    """Floats in the widest vectors of this processor."""
    return 16 if "+avx512f" in _processor()[2].split(",") else 8


def address(array: Array) -> int:
    found: int = array.__array_interface__["data"][0]
    return found
