"""A launch whose every access to memory is looked at: what memory_check.h found, in words."""

from __future__ import annotations

import ctypes
import re
import subprocess
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.engines.cupy.kernels import Kernel

MOST_STEPS = 100_000_000  # accesses of a launch; more, and it is said not to end
MOST_AREAS = 1024

_VERBS = ("read", "written", "changed by an atomic operation")
_SHARED = re.compile(r": (\w+) +(\w+) TLS +\w+ +\w+ +\w+ (.*)")  # of readelf: place, size, name
_RACE, _OUTSIDE, _UNWRITTEN, _ENDLESS = 1, 2, 3, 4


class AccessError(AssertionError):
    """A kernel touches memory as it may not: a race, a place outside, a value nobody wrote."""


@dataclass(frozen=True)
class Table:
    """An array of addresses, and the arrays that are there."""

    addresses: Array
    arrays: Sequence[Array]


class _Access(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint) for name in ("block", "interval", "thread", "code", "step")]


class _Area(ctypes.Structure):
    _fields_ = [
        ("begin", ctypes.c_void_p),
        ("end", ctypes.c_void_p),
        ("element", ctypes.c_uint),
        ("numbers", ctypes.c_int),
        ("shared", ctypes.c_int),
        ("cells", ctypes.c_void_p),
    ]


class _Report(ctypes.Structure):
    _fields_ = [
        ("problem", ctypes.c_int),
        ("now_kind", ctypes.c_int),
        ("before_kind", ctypes.c_int),
        ("size", ctypes.c_uint),
        ("address", ctypes.c_ulonglong),
        ("shared", ctypes.c_ulonglong),
        ("now", _Access),
        ("before", _Access),
    ]


class Watch:
    """A library, made of a program with some kernels, which are watched."""

    def __init__(
        self, library: ctypes.CDLL, path: Path, program: str, kernels: Iterable[str]
    ) -> None:
        self._library, self._path = library, path
        self._shared = _shared_variables(path, frozenset(kernels))
        self._lines = program.splitlines()
        self._turn = threading.Lock()  # from saying what may be touched to the end of the launch
        library.bad_access.restype = ctypes.POINTER(_Report)

    @contextmanager
    def over(self, kernel: Kernel, args: Sequence[Any]) -> Iterator[None]:
        """Let the launch within touch these arrays, and nothing else."""
        areas = [_area(array) for _, array in _arrays(kernel, args)]
        areas += [
            _Area(v.begin, v.begin + v.size, 1, 0, 1) for v in self._shared if v.belongs_to(kernel)
        ]
        if len(areas) > MOST_AREAS:
            raise ValueError(f"{kernel.name}: at most {MOST_AREAS} arrays, not {len(areas)}")
        given = (_Area * max(1, len(areas)))(*areas)
        with self._turn:
            self._library.watch_memory(given, len(areas), ctypes.c_ulonglong(MOST_STEPS))
            yield

    def finding(self, kernel: Kernel, args: Sequence[Any]) -> str:
        """What was wrong with the launch."""
        report = self._library.bad_access().contents
        place = self._place(report, kernel, args)
        now = f"{_VERBS[report.now_kind]} by {self._who(report.now)}"
        if report.problem == _RACE:
            before = f"{_VERBS[report.before_kind]} by {self._who(report.before)}"
            return f"{kernel.name}: {place} is {before}, and {now}: no barrier is between"
        why = {
            _OUTSIDE: "that is outside of every array",
            _UNWRITTEN: "nobody has written it",
            _ENDLESS: f"after {MOST_STEPS} accesses the kernel does not end",
        }[report.problem]
        return f"{kernel.name}: {place} is {now}: {why}"

    def _who(self, access: _Access) -> str:
        told = f"thread {access.thread} of block {access.block - 1}"
        line = self._line(access.code)
        return f"{told} (`{line}`)" if line else told

    def _line(self, code: int) -> str:
        """The source's line of a place in the library, one byte behind a call."""
        said = _output("addr2line", "-e", self._path, hex(code - 1))
        match = re.search(r":(\d+)", said)
        number = int(match[1]) if match else 0
        return self._lines[number - 1].strip() if 0 < number <= len(self._lines) else ""

    def _place(self, report: _Report, kernel: Kernel, args: Sequence[Any]) -> str:
        """The array and the index, as the source calls them; beyond its ends for the nearest."""
        areas = [
            _Named(name, a.ctypes.data, a.nbytes, a.itemsize) for name, a in _arrays(kernel, args)
        ]
        areas += [
            _Named(f"shared {v.name}", report.shared + v.begin, v.size, report.size)
            for v in self._shared
            if v.belongs_to(kernel)
        ]
        address = report.address
        within = [area for area in areas if area.away(address) == 0]
        nearest = min(areas, key=lambda area: area.away(address))
        names = "/".join(area.name for area in within or [nearest])
        count = "" if within else f" of {nearest.nbytes // nearest.element}"
        return f"{names}[{(address - nearest.begin) // nearest.element}]{count}"


class _Named(NamedTuple):
    """Memory with a name."""

    name: str
    begin: int
    nbytes: int
    element: int

    def away(self, address: int) -> int:
        """How many bytes an address is away from it."""
        return max(self.begin - address, address - (self.begin + self.nbytes - 1), 0)


class _Shared(NamedTuple):
    """A variable of shared memory: where it is there, and what function's it is."""

    begin: int
    size: int
    function: str
    name: str
    kernels: frozenset[str]

    def belongs_to(self, kernel: Kernel) -> bool:
        """Whether it is not another kernel's; templates have one for each kernel that uses them."""
        words = set(re.findall(r"\w+", self.function)) & self.kernels
        return not words or kernel.name in words


def _shared_variables(path: Path, kernels: frozenset[str]) -> list[_Shared]:
    found = []
    for line in _output("readelf", "-sWC", path).splitlines():
        match = _SHARED.search(line)
        if match and not match[3].startswith("emulation::"):
            function, _, name = match[3].rpartition("::")
            found.append(_Shared(int(match[1], 16), int(match[2], 0), function, name, kernels))
    return found


def _arrays(kernel: Kernel, args: Sequence[Any]) -> Iterator[tuple[str, Array]]:
    """What a launch is given, and tables lead to, as the source calls it."""
    for argument, value in zip(kernel.parameters, args, strict=True):
        if isinstance(value, np.ndarray):
            yield argument.name, value
        elif isinstance(value, Table):
            yield argument.name, value.addresses
            yield from ((f"{argument.name}[{i}]", a) for i, a in enumerate(value.arrays))


def _area(array: Array) -> _Area:
    begin = array.ctypes.data
    numbers = array.dtype.kind == "f"
    return _Area(begin, begin + array.nbytes, array.itemsize, numbers, 0)


def _output(*command: object) -> str:
    """What one of the tools says that come with the compiler."""
    said = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True)
    return said.stdout
