"""How many threads compute, and how they treat numbers too small to matter.

One number rules OpenMP (oneDNN), OpenBLAS (NumPy) and our own pool: the cores that this process may
use, shared with the other ranks on its node.  In all of them denormal numbers count as zero:
gradients of a batch that is already learnt become denormal, and a processor computes with those
many times slower.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pycaffe_dist.errors import NetError
from pycaffe_dist.files import mapped

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

T = TypeVar("T")

# How many ranks share this node, as Open MPI's and MPICH's mpirun tell it.
LOCAL_RANKS = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")
PAUSE = 1  # omp_pause_soft: threads are given up, settings stay
FLUSH = 0x8040  # in x86's MXCSR: results (bit 15) and operands (bit 6)

_chosen: int | None = None
_pool: ThreadPoolExecutor | None = None


def threads() -> int:
    """The number of threads that compute in this process."""
    return _chosen or _default()


@cache
def _default() -> int:
    named = os.environ.get("OMP_NUM_THREADS", "")
    if named.isdigit() and int(named):
        return int(named)
    ranks = next((int(os.environ[v]) for v in LOCAL_RANKS if v in os.environ), 1)
    if ranks == 1:
        return cores()
    # A rank that mpirun has bound to some of its own cores shares them with fewer ranks, or none.
    return max(1, min(cores(), max(cores(), cores(os.getppid())) // ranks))


def cores(process: int = 0) -> int:
    """How many cores this process, or another, may use."""
    if not hasattr(os, "sched_getaffinity"):
        return os.cpu_count() or 1
    try:
        return len(os.sched_getaffinity(process))
    except OSError:  # it has ended, or may not be asked
        return len(os.sched_getaffinity(0))


def placement(nodes: Path = Path("/sys/devices/system/node")) -> str:
    """The threads that compute, the cores they may run on and whose memory is near: for people.

    Args:
        nodes: where Linux lists the cores of each NUMA node.
    """
    mine = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    text = f"{threads()} threads on {'cores ' + _ranges(mine) if mine else 'any core'}"
    found = {}
    for path in sorted(nodes.glob("node[0-9]*/cpulist")):
        shared = set(mine) & _listed(path.read_text())
        if shared:
            found[path.parent.name[4:]] = len(shared)
    if len(found) > 1:
        parts = ", ".join(f"{count} of node {node}" for node, count in found.items())
        text += f": {parts}; memory of another node is slower, a rank for each node is faster"
    elif found:
        text += f" of NUMA node {next(iter(found))}"
    if mine and threads() > len(mine):
        text += f"; {threads()} threads share {len(mine)} cores"
    return text


def _listed(text: str) -> set[int]:
    """0-3,8 as a set."""
    pairs = [part.partition("-") for part in text.strip().split(",") if part]
    return {i for a, _, b in pairs for i in range(int(a), int(b or a) + 1)}


def _ranges(numbers: Sequence[int]) -> str:
    """Numbers in order as 0-3,8."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ",".join(str(p[0]) if len(p) == 1 else f"{p[0]}-{p[-1]}" for p in parts)


def set_threads(count: int | None = None) -> int:
    """Let everything that computes use ``count`` threads, or the default; the number."""
    global _chosen, _pool
    if count is not None and count < 1:
        raise NetError(f"--threads {count}: at least 1 is needed")
    _chosen = count
    number = threads()
    for library, function in _controls():
        getattr(library, function)(ctypes.c_int(number))
    if _pool is not None:
        _pool.shutdown()
        _pool = None
    return number


def _controls() -> Iterator[tuple[ctypes.CDLL, str]]:
    """Functions of loaded libraries that set their number of threads."""
    for path in _loaded("libgomp"):
        yield ctypes.CDLL(path), "omp_set_num_threads"
    for library, prefix, suffix in _openblas():
        yield library, f"{prefix}openblas_set_num_threads{suffix}"


def _openblas() -> Iterator[tuple[ctypes.CDLL, str, str]]:
    for path in _loaded("openblas"):
        library = ctypes.CDLL(path)
        for prefix, suffix in (("scipy_", "64_"), ("", "64_"), ("scipy_", ""), ("", "")):
            if hasattr(library, f"{prefix}openblas_set_num_threads{suffix}"):
                yield library, prefix, suffix
                break


def _loaded(name: str) -> list[str]:
    """Paths of the shared libraries in this process whose file name has ``name``."""
    return [p for p in mapped() if name in Path(p).name and ".so" in Path(p).suffixes]


# -- our own pool ----------------------------------------------------------------------------------


def run(work: Callable[[T], object], items: Sequence[T]) -> None:
    """Do ``work`` for each item, shared out over the threads; NumPy lets go of the GIL in it."""
    others = [] if threads() == 1 else [_workers().submit(work, item) for item in items[1:]]
    for item in items[:1] if others else items:
        work(item)
    for other in others:
        other.result()


def shares(count: int, least: int) -> list[slice]:
    """``count`` things as a nearly equal share for each thread, none below ``least``."""
    number = max(1, min(threads(), count // least))
    edges = [count * i // number for i in range(number + 1)]
    return [slice(a, b) for a, b in pairwise(edges)]


def _workers() -> ThreadPoolExecutor:
    global _pool
    if _pool is None:
        from concurrent.futures import ThreadPoolExecutor  # slow to import

        others = max(1, threads() - 1)
        _pool = ThreadPoolExecutor(others, "pcd-compute", initializer=_flush_for_good)
    return _pool


# -- a process that forks --------------------------------------------------------------------------


def _dissolve_openmp() -> None:
    """Let the threads of OpenMP end: the next region starts new ones.

    A child would inherit the list of its parent's threads without the threads, and its first
    parallel region would wait for them for ever.  (OpenBLAS sees to its own.)
    """
    for path in _loaded("libgomp"):
        pause = getattr(ctypes.CDLL(path), "omp_pause_resource_all", None)  # since GCC 9
        if pause is not None:
            pause(PAUSE)


def _forget_pool() -> None:
    """The child has none of the pool's threads."""
    global _pool
    _pool = None


os.register_at_fork(before=_dissolve_openmp, after_in_child=_forget_pool)


# -- denormal numbers ------------------------------------------------------------------------------


class _Environment(ctypes.Structure):
    """fenv_t of glibc on x86-64: the x87 state, then MXCSR."""

    _fields_ = [("x87", ctypes.c_uint32 * 7), ("mxcsr", ctypes.c_uint32)]


@cache
def _math() -> ctypes.CDLL | None:
    """The C library that gets and sets the environment, where we know the shape of that."""
    system = os.uname()
    if (system.sysname, system.machine) != ("Linux", "x86_64"):
        return None
    try:
        library = ctypes.CDLL("libm.so.6")
    except OSError:
        return None
    library.fegetenv.argtypes = library.fesetenv.argtypes = [ctypes.c_void_p]
    return library


class flush_denormals:
    """While it is entered, denormals are zero in this thread, threads it starts, and BLAS."""

    def __enter__(self) -> None:
        self._library = library = _math()
        if library is None:
            return
        before = self._before = _Environment()
        library.fegetenv(ctypes.addressof(before))
        _flush(library, before)
        _restart_blas()

    def __exit__(self, *_: object) -> None:
        if self._library is not None:
            self._library.fesetenv(ctypes.addressof(self._before))


def _flush(library: ctypes.CDLL, environment: _Environment) -> None:
    flushing = _Environment.from_buffer_copy(environment)
    flushing.mxcsr |= FLUSH
    library.fesetenv(ctypes.addressof(flushing))


def _flush_for_good() -> None:
    library = _math()
    if library is not None:
        now = _Environment()
        library.fegetenv(ctypes.addressof(now))
        _flush(library, now)


@cache
def _restart_blas() -> None:
    """Threads take over the mode of the one that starts them: let OpenBLAS start its own anew.

    From then on they sleep when they have nothing to do: by default they ask for work for
    some 20 ms more, on cores that other threads could use.
    """
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")  # 2⁴ cycles
    for library, _, _ in _openblas():
        if hasattr(library, "blas_thread_shutdown_"):
            if hasattr(library, "openblas_read_env"):
                library.openblas_read_env()
            library.blas_thread_shutdown_()
