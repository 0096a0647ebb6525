"""Change one small thing in a CUDA kernel, many times, and say whether its tests notice.

    make mutate-kernels                                # all places: about a minute of CPU time
    python scripts/mutate_kernels.py --count 20 --seed 3 --only sums.cu

A barrier, a fence or a guard is taken out, an index is one too large, a bound is ``<=`` instead of
``<``, an atomic operation becomes two plain ones.  The tests of the kernels that reach the place
(tests/gpu/test_kernels_*.py) are run with the changed source, emulated, with every access to memory
checked.  A mutant is caught if one of them fails, whether by a bad access or by wrong numbers.
Changes that nobody could notice are in kernel_equivalents.txt, each with its reason.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import os
import random
import re
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from pycaffe_dist.engines.cupy import kernels
from pycaffe_dist.engines.cupy.kernels import KERNELS, Kernel
from pycaffe_dist.testing import cupy_standin
from pycaffe_dist.testing.emulation import AccessError
from pycaffe_dist.testing.kernels import Runner

ROOT = Path(__file__).resolve().parent.parent
EQUIVALENTS = Path(__file__).with_name("kernel_equivalents.txt")
SECONDS = 60  # that the tests of a mutant may take

# A kind, what it changes, what stands there instead when it is on, and what does for mutant NUMBER.
KINDS = [
    ("barrier", r"__syncthreads\(\);", ";", "if (mutant != NUMBER) __syncthreads();"),
    ("guard", r"if \(threadIdx\.x == 0\)", "if (true)", "if (mutant == NUMBER || !threadIdx.x)"),
    ("index", r"(?<=[\w)])\[([^\[\]=]+)\]", r"[\1 + 1]", r"[\1 + (mutant == NUMBER)]"),
    ("bound", r"(?<=[\w)\]]) < (?=[\w(-])", " <= ", " < Bound{NUMBER} + "),
    ("atomic", r"atomic(Max|Inc)\(", r"plain\1(", r"perhapsAtomic\1(NUMBER, "),
    ("fence", r"__threadfence\(\);", ";", "if (mutant != NUMBER) __threadfence();"),
]
PRELUDE = """
static int mutant = 0;  // the one that is on
extern "C" __attribute__((visibility("default"))) void choose_mutant(int k) { mutant = k; }

// a < Bound{k} + b is a <= b where mutant k is on.
template <class Number>
struct Limit {
  int k;
  Number value;
};
struct Bound {
  int k;
};
template <class Number>
Limit<Number> operator+(Bound bound, Number value) {
  return {bound.k, value};
}
template <class Number, class More>
auto operator+(Limit<Number> limit, More more) {
  return Bound{limit.k} + (limit.value + more);
}
template <class Number, class Less>
auto operator-(Limit<Number> limit, Less less) {
  return Bound{limit.k} + (limit.value - less);
}
template <class Left, class Number>
bool operator<(Left left, Limit<Number> right) {
  return mutant == right.k ? left <= right.value : left < right.value;
}

inline int perhapsAtomicMax(int k, int *at, int value) {
  if (mutant != k) return atomicMax(at, value);
  const int old = *at;
  if (value > old) *at = value;
  return old;
}

inline unsigned int perhapsAtomicInc(int k, unsigned int *at, unsigned int last) {
  if (mutant != k) return atomicInc(at, last);
  const unsigned int old = *at;
  *at = old >= last ? 0 : old + 1;
  return old;
}
"""
_SIZES = r"\w+(\[[^\[\]=]+\])+"
_VARIABLE = re.compile(rf"^\s*(__shared__ )?[\w: ]+ {_SIZES}(, {_SIZES})*;")  # not an access
_NAME = re.compile(r"^KERNEL (\w+)|^struct (\w+)|(\w+)\(", re.MULTILINE)


@dataclass(frozen=True)
class Mutant:
    """A changed line of a function or struct of a file (or of what it includes)."""

    file: str
    function: str
    kind: str
    before: str
    after: str
    number: int  # of the file's, from 1 on
    kernels: tuple[str, ...]  # that reach the place

    def __str__(self) -> str:
        return f"{self.file} {self.function} ({self.kind}): {self.before}  ->  {self.after}"

    @property
    def key(self) -> tuple[str, str]:
        """How kernel_equivalents.txt calls it."""
        return self.function, self.after


# -- places ----------------------------------------------------------------------------------------


def definitions(text: str) -> Iterator[tuple[str, int, int]]:
    """Every function and struct at the outermost level: name, first and last place in the text."""
    at = begin = depth = 0
    for line in text.splitlines(keepends=True):
        code = line.split("//")[0]
        if depth == 0 and (not code.strip() or code.startswith(("#", "union"))):
            begin = at + len(line)
        opened = "{" in code
        depth += code.count("{") - code.count("}")
        at += len(line)
        if depth == 0 and (opened or "}" in code) and code.strip():
            match = _NAME.search(text, begin, at)
            if match:
                yield next(name for name in match.groups() if name), begin, at
            begin = at


@cache
def reaching(file: str) -> dict[str, set[str]]:
    """For each function of a file the kernels of the file that use it, over others too."""
    text = kernels.source(file)
    bodies = {name: text[a:b] for name, a, b in definitions(text)}
    words = {name: set(re.findall(r"\w+", body)) & set(bodies) for name, body in bodies.items()}
    found: dict[str, set[str]] = {name: set() for name in bodies}
    for kernel in bodies:
        reached, new = {kernel}, {kernel}
        while new:
            new = set().union(*(words[name] for name in new)) - reached
            reached |= new
        if kernel in KERNELS:
            for name in reached:
                found[name].add(kernel)
    return found


@cache
def mutated(file: str) -> tuple[str, list[Mutant]]:
    """A file's text with all changes in it, of which one at a time can be on; and what they are."""
    text = kernels.source(file)
    found: list[Mutant] = []
    pieces, done = [PRELUDE], 0
    for name, begin, end in definitions(text):
        users = tuple(sorted(reaching(file)[name]))
        pieces.append(text[done:begin])
        unrolled = False
        for line in text[begin:end].splitlines(keepends=True):
            changes = list(_changes(line)) if users else []
            if unrolled:  # its bound is constant, and what it goes over is in registers
                changes = [change for change in changes if change[0] != "bound"]
            unrolled = line.strip() == "#pragma unroll"
            numbered = list(enumerate(changes, len(found) + 1))
            for number, (kind, _, after, _) in numbered:
                found.append(Mutant(file, name, kind, line.strip(), after.strip(), number, users))
            for number, (_, (first, last), _, instead) in sorted(numbered, key=_from_the_end):
                line = line[:first] + instead.replace("NUMBER", str(number)) + line[last:]
            pieces.append(line)
        done = end
    return "".join([*pieces, text[done:]]), found


def _from_the_end(numbered: tuple[int, tuple[str, tuple[int, int], str, str]]) -> int:
    return -numbered[1][1][0]


def _changes(line: str) -> Iterator[tuple[str, tuple[int, int], str, str]]:
    """Of a line of code: kind, where, the changed line, and what stands there instead."""
    code = line.split("//")[0]
    for kind, pattern, change, instead in KINDS:
        for match in re.finditer(pattern, code):
            if not (kind == "index" and _VARIABLE.match(code)):
                after = code[: match.start()] + match.expand(change) + code[match.end() :]
                yield kind, match.span(), after, match.expand(instead)


def mutants(only: str = "") -> list[Mutant]:
    """All of them; those of common.cuh are taken from the first file that uses the function."""
    common = {
        name for path in kernels.HERE.glob("*.cuh") for name, *_ in definitions(path.read_text())
    }
    found: dict[tuple[str, ...], Mutant] = {}
    for file in [only] if only else kernels.FILES:
        for mutant in mutated(file)[1]:
            place = "" if mutant.function in common else f"{file} {mutant.number}"
            found.setdefault((place, mutant.function, mutant.before, mutant.after), mutant)
    return list(found.values())


# -- trials ----------------------------------------------------------------------------------------


@cache
def checks() -> dict[str, list[Callable[[Any], None]]]:
    """By kernel, the tests that are about it, with each set of their parameters."""
    found: dict[str, list[Callable[[Any], None]]] = {name: [] for name in KERNELS}
    for path in sorted((ROOT / "tests/gpu").glob("test_kernels_*.py")):
        spec = importlib.util.spec_from_file_location(f"checks_{path.stem}", path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for test in vars(module).values():
            for name in getattr(test, "kernels", ()):
                found[name] += [partial(test, **given) for given in parameters(test)]
    return found


def parameters(test: Any) -> Iterator[dict[str, Any]]:
    """What pytest would call a test with, one combination after the other."""
    sets = []
    for mark in getattr(test, "pytestmark", ()):
        if mark.name == "parametrize":
            names, values = mark.args
            split = [n.strip() for n in names.split(",")] if isinstance(names, str) else names
            single = len(split) == 1
            sets.append([dict(zip(split, (v,) if single else v, strict=True)) for v in values])
    for chosen in itertools.product(*sets):
        yield {name: value for part in chosen for name, value in part.items()}


def trial(mutant: Mutant, tried: tuple[str, ...]) -> str:
    """What is said of the first failing test of these kernels; "" if all pass."""
    changed, _ = mutated(mutant.file)
    options = kernels.options("float32")
    module = cupy_standin.kernels.compiled(changed, options)
    module.library(checked=True).functions.choose_mutant(mutant.number)

    def source(kernel: Kernel) -> str:
        return changed if kernel.file == mutant.file else kernels.source(kernel.file)

    run = Runner("float32", source=source)
    run.ways = run.ways[:1]
    for name in tried:
        for check in checks()[name]:
            try:
                check(run)
            except AccessError as error:
                return f"access: {error}"
            except (AssertionError, RuntimeError) as error:
                return f"numbers: {error}"
    return ""


def apart(mutant: Mutant, tried: tuple[str, ...]) -> str:
    """The trial in a process of its own, as a mutant may crash or never end."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(SECONDS)
        code = 1
        try:
            os.write(write, trial(mutant, tried).encode()[:4000])
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return f"ended by signal {os.WTERMSIG(status)}"
    if os.WEXITSTATUS(status):
        raise RuntimeError(f"the trial of a mutant failed: {mutant}")
    return said


def equivalents() -> dict[tuple[str, str], str]:
    """Function and changed line, and why nobody can notice the change."""
    found = {}
    for line in EQUIVALENTS.read_text().splitlines():
        if line and not line.startswith("#"):
            function, after, reason = (part.strip() for part in line.split(" :: "))
            found[function, after] = reason
    return found


def sample(everything: list[Mutant], count: int, seed: int) -> list[tuple[Mutant, tuple[str, ...]]]:
    """So many mutants, and the kernels that each is tried with, until one catches it."""
    rng = random.Random(seed)
    chosen = rng.sample(everything, min(count, len(everything)))
    return [(m, tuple(rng.sample(m.kernels, len(m.kernels)))) for m in chosen]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=100_000, help="mutants; by default all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="a file of kernels")
    parser.add_argument("--verbose", action="store_true", help="say what caught each")
    given = parser.parse_args()
    known = equivalents()
    checks()  # before the forks, once for all
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PCD_CACHE"] = folder
        for mutant, tried in sample(mutants(given.only), given.count, given.seed):
            if mutant.key in known:
                counts["equivalent"] += 1
                continue
            said = apart(mutant, tried)
            counts[said.split(":")[0] if said else "survived"] += 1
            if not said:
                print(f"SURVIVED {mutant}", flush=True)
            elif given.verbose:
                print(f"caught {mutant}\n    {' '.join(said.split())[:200]}", flush=True)
    print(", ".join(f"{kind} {count}" for kind, count in sorted(counts.items())))
    return 1 if counts["survived"] else 0


if __name__ == "__main__":
    sys.exit(main())
