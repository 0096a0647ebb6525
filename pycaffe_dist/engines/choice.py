"""The choice between implementations: measured once on the real shapes, then remembered."""

from __future__ import annotations

import atexit
import json
import os
import platform
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from pycaffe_dist import caffe_log as log
from pycaffe_dist.aliases import Json
from pycaffe_dist.engines.race import Result, Runner, race
from pycaffe_dist.files import atomic_write
from pycaffe_dist.version import VERSION

FORMAT = 4  # of the file; another one where there are new candidates, or other ways to time them
SAVING = 1.0  # seconds between two writings of the file


class RefusedError(Exception):
    """An implementation that does not compute a case: another one does."""


class UnsupportedError(RefusedError):
    """It is not made for such cases, of which nobody need be told."""


class Named(Protocol):
    name: str


T = TypeVar("T", bound=Named)


@dataclass
class Candidate(Generic[T]):
    """One way to compute something: made by ``build``, run on made-up values by ``trial``.

    What is built has the candidate's name.  ``handicap`` multiplies its time: what it costs others
    is not in the trial.
    """

    name: str
    build: Callable[[], T]
    trial: Callable[[T], Callable[[], object]]
    handicap: float = 1.0

    def made(self) -> T:
        built = self.build()
        if built.name != self.name:
            raise AssertionError(f"the candidate {self.name!r} has built {built.name!r}")
        return built


@dataclass(frozen=True)
class Chosen(Generic[T]):
    """What computes a case, and how it was found.

    ``how`` is "measured" (now), "remembered" (from the file), "given" (by a rule, by force, or by
    the snapshot that training resumes from) or "only" (there is no other).
    """

    product: T
    how: str

    def __str__(self) -> str:
        return f"{self.product.name}, {self.how}"


class Choices:
    """What computes each case.

    Attributes:
        measuring: if False, always the first candidate: the library's own choice.
        used: the name of what was chosen, for each case so far.

    Args:
        clock: the seconds at which all that candidates have been given to do is done.
    """

    def __init__(self, path: Path | None, clock: Callable[[], float] = time.perf_counter) -> None:
        self.path, self._clock = path, clock
        self.measuring = True
        self.used: dict[str, str] = {}
        self._given: dict[str, str] = {}
        self._forced: str | None = None
        self._again: set[str] | None = None  # while measuring anew: what has been
        self._file: dict[str, Entry] | None = None
        self._new: dict[str, Entry] = {}
        self._saved = 0.0
        self._said: set[str] = set()

    def pick(self, case: str, candidates: Sequence[Candidate[T]]) -> Chosen[T]:
        """What is to compute a case.  Candidates that are refused are left out."""
        chosen = self._pick(case, candidates)
        self.used[case] = chosen.product.name
        return chosen

    def _pick(self, case: str, candidates: Sequence[Candidate[T]]) -> Chosen[T]:
        if self._forced is not None:
            return Chosen(_first([*_named(self._forced, candidates), *candidates]), "given")
        if len(candidates) == 1:
            return Chosen(_first(candidates), "only")
        if not self.measuring:
            return Chosen(_first(candidates), "given")
        given = _built(self._given.get(case), candidates)
        if given is not None:
            return Chosen(given, "given")
        entry = self.remembered().get(case)
        trusted = entry is not None and (self._again is None or case in self._again)
        known = _built(entry.name, candidates) if entry and trusted else None
        if known is not None:
            self._say(f"Implementations as remembered in {self.path}")
            return Chosen(known, "remembered")
        return self._measure(case, candidates)

    def _measure(self, case: str, candidates: Sequence[Candidate[T]]) -> Chosen[T]:
        kept = f"remembered in {self.path}" if self.path else "not kept: PCD_CACHE is empty"
        self._say(f"Measuring which implementation of each layer is fastest: {kept}")
        built: dict[str, T] = {}
        runners: list[Runner] = []
        problems: list[Exception] = []
        for candidate in candidates:
            try:
                product = candidate.made()
                runner = Runner(candidate.name, candidate.trial(product), candidate.handicap)
                runner.turn(self._clock)
            except (RefusedError, MemoryError) as e:
                problems.append(e)
                continue
            built[candidate.name] = product
            runners.append(runner)
        if not runners:
            raise _worst(problems)
        result = race(runners, self._clock)
        if self._again is not None:
            self._again.add(case)
        if result.settled:
            self._remember(case, result)
        else:
            self._say(
                "The machine is busy: times scatter too much to tell which implementation is "
                "fastest. The library's own choice is used and not remembered; "
                "'pcd tune MODEL' on a quiet machine settles it"
            )
        return Chosen(built[result.winner], "measured")

    def _say(self, text: str) -> None:
        """A line in the log, once."""
        if text not in self._said:
            self._said.add(text)
            log.info("choice.py", "%s", text)

    # -- from outside ------------------------------------------------------------------------

    @contextmanager
    def forced(self, name: str) -> Iterator[None]:
        """Where a candidate of that name is offered it is taken, else the first one."""
        before, self._forced = self._forced, name
        try:
            yield
        finally:
            self._forced = before

    @contextmanager
    def anew(self) -> Iterator[None]:
        """Measure whatever is asked for once, also what is remembered."""
        self._again = set()
        try:
            yield
        finally:
            self._again = None

    def give(self, names: Mapping[str, str]) -> None:
        """From now on these are chosen, whatever was measured."""
        self._given.update(names)

    # -- on disk -----------------------------------------------------------------------------

    def remembered(self) -> Mapping[str, Entry]:
        """What the file knows, and what was measured since."""
        if self._file is None:
            self._file = self._read()
            atexit.register(self.save)
        return self._file

    def _remember(self, case: str, result: Result) -> None:
        entry = Entry(result.winner, {n: 1e3 * s for n, s in result.seconds.items()})
        self.remembered()
        assert self._file is not None
        self._file[case] = self._new[case] = entry
        if time.monotonic() - self._saved > SAVING:
            self.save()

    def _read(self) -> dict[str, Entry]:
        """Of another version or damaged, the file counts as empty."""
        try:
            read = json.loads(self.path.read_text()) if self.path else {}
            if read.get("version") != _version():
                return {}
            return {str(case): Entry.of(entry) for case, entry in read["choices"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}

    def save(self) -> None:
        """Add what is new to the file; a cache that cannot be written is not an error."""
        if not self._new or self.path is None:
            return
        self._saved = time.monotonic()
        entries = {c: vars(e) for c, e in sorted((self._read() | self._new).items())}
        text = json.dumps({"version": _version(), "choices": entries}, indent=0)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(self.path) as file:
                file.write(text.encode())
        except OSError:
            pass
        self._new.clear()

    def clear(self) -> int:
        """Forget everything; how many choices there were."""
        count = len(self.remembered())
        self._file, self._new = {}, {}
        if self.path is not None:
            self.path.unlink(missing_ok=True)
        return count


@dataclass(frozen=True)
class Entry:
    """A choice in the file, and the milliseconds of all that were measured."""

    name: str
    ms: dict[str, float]

    @classmethod
    def of(cls, read: Json) -> Entry:
        return cls(str(read["name"]), {str(n): float(t) for n, t in read["ms"].items()})


def _version() -> str:
    return f"{FORMAT}, pycaffe_dist {VERSION}"


def _named(name: str | None, candidates: Sequence[Candidate[T]]) -> list[Candidate[T]]:
    return [candidate for candidate in candidates if candidate.name == name]


def _built(name: str | None, candidates: Sequence[Candidate[T]]) -> T | None:
    """The candidate of that name, if there is one and it is not refused."""
    named = _named(name, candidates)
    try:
        return named[0].made() if named else None
    except (RefusedError, MemoryError):
        return None


def _first(candidates: Sequence[Candidate[T]]) -> T:
    problems: list[Exception] = []
    for candidate in candidates:
        try:
            return candidate.made()
        except (RefusedError, MemoryError) as e:
            problems.append(e)
    raise _worst(problems)


def _worst(problems: Sequence[Exception]) -> Exception:
    """Why no candidate could be made: for want of memory, if that was one of the reasons."""
    short = [e for e in problems if isinstance(e, MemoryError)]
    return [*problems, *short][-1]


def cache_file(kind: str, machine: str = "") -> Path | None:
    """Where a machine's choices are kept; PCD_CACHE names another folder, empty is none.

    Args:
        kind: a word for what is chosen between.
        machine: one for what computes; without it the processor.
    """
    folder = os.environ.get("PCD_CACHE")
    if folder == "":
        return None
    root = Path(folder) if folder else Path.home() / ".cache" / "pycaffe_dist"
    return root / f"{kind}-{machine or cpu()}.json"


def cpu() -> str:
    """The processor, as a word for file names."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    fields = dict(re.findall(r"^([^\t:]+)\s*: (.*)$", text.split("\n\n")[0], re.MULTILINE))
    names = ("model name", "cpu family", "model", "stepping")
    return word("-".join(fields[n] for n in names if n in fields) or platform.processor()) or "cpu"


def word(text: str) -> str:
    """A text as a part of a file's name."""
    return re.sub(r"\W+", "_", text)
