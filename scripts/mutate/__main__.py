"""Mutation test: does any test fail if one small thing in the sources is changed?

    make mutate COUNT=50 SEED=1               # a sample of all packages
    make mutate COUNT=50 BASE=origin/main     # of the lines that were changed since
    make mutate COUNT=50 ONLY='layers/*'      # of some files

The first call notes which blocks of statements each test reaches, which takes as long as the tests
themselves; the notes are kept in runs/mutate/calls until they are removed.  Changes are made in
copies.  Those that nobody could notice are in equivalents.txt, each with its reason.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue

import blocks
import places
from forks import Forks
from known import Known
from near import Near
from places import Change
from trial import ROOT, Copy, Verdict

PACKAGES = {
    "layers": ("layers/*",),
    "core": (
        *("solver.py", "net.py", "learnable.py", "blob.py", "memory.py", "fillers.py"),
        *("loading.py", "recycling.py", "update_step.py", "layer.py", "sidecar.py", "files.py"),
    ),
    "solvers": ("solvers/*",),
    "proto": ("proto/*",),
    "data": ("data/*",),
    "parallel": ("parallel/*",),
    "onednn": ("engines/onednn/*",),
    "pycaffe": ("pycaffe/*",),
    "onnx": ("onnx/*",),
    "tools": ("tools/*",),
    "cli": ("cli/*",),
    "board": ("board/*",),
    "py2": ("py2/*",),
}
EQUIVALENTS = Path(__file__).with_name("equivalents.txt")
RARE = ("arguments", "return")  # these mostly fail at once, and say little
RUNS = ROOT / "runs" / "mutate"


def package_of(file: str) -> str:
    short = file.removeprefix("pycaffe_dist/")
    return next(
        (name for name, globs in PACKAGES.items() if any(fnmatch.fnmatch(short, g) for g in globs)),
        "others",
    )


def changed_lines(base: str) -> dict[str, set[int]]:
    """By file, the lines that are not as in ``base``."""
    difference = subprocess.check_output(
        ["git", "diff", "-U0", "--no-color", base, "--", "pycaffe_dist"], cwd=ROOT, text=True
    )
    found: dict[str, set[int]] = {}
    lines: set[int] = set()
    for line in difference.splitlines():
        if line.startswith("+++ b/"):
            lines = found.setdefault(line.removeprefix("+++ b/"), set())
        elif hunk := re.match(r"@@ \S+ \+(\d+)(?:,(\d+))? @@", line):
            first = int(hunk[1])
            lines |= set(range(first, first + int(hunk[2] or 1)))
    return found


def candidates(only: str, base: str) -> dict[str, list[Change]]:
    """By file, the changes to choose from."""
    lines = changed_lines(base) if base else None
    found = {}
    for path in sorted((ROOT / "pycaffe_dist").rglob("*.py")):
        name = str(path.relative_to(ROOT))
        short = name.removeprefix("pycaffe_dist/")
        if only and not any(fnmatch.fnmatch(short, glob) for glob in only.split(",")):
            continue
        if (not only and not base and package_of(name) == "others") or name.endswith("_pb2.py"):
            continue
        if lines is not None and name not in lines:
            continue
        changes = places.Finder(path.read_bytes(), name).found
        changes = [c for c in changes if lines is None or c.line in lines[name]]
        if changes:
            found[name] = changes
    return found


def sample(by_file: dict[str, list[Change]], count: int, seed: int) -> list[Change]:
    """A file by the root of its size, then a kind, then a place, so that no kind is everywhere."""
    rng = random.Random(seed)
    chosen: list[Change] = []
    used: set[tuple[str, int]] = set()
    while by_file and len(chosen) < count:
        names = list(by_file)
        name = rng.choices(names, [len(by_file[n]) ** 0.5 for n in names])[0]
        kinds = sorted({change.kind for change in by_file[name]})
        kind = rng.choices(kinds, [1 if kind in RARE else 3 for kind in kinds])[0]
        change = rng.choice([c for c in by_file[name] if c.kind == kind])
        by_file[name].remove(change)
        if not by_file[name]:
            del by_file[name]
        if (name, change.line) not in used and change.is_program((ROOT / name).read_bytes()):
            used.add((name, change.line))
            chosen.append(change)
    return chosen


def equivalents() -> dict[tuple[str, str, str], str]:
    """File, function and changed line, and why nobody can notice the change."""
    found = {}
    for line in EQUIVALENTS.read_text().splitlines():
        if line and not line.startswith("#"):
            file, function, after, reason = (part.strip() for part in line.split(" :: "))
            found[f"pycaffe_dist/{file}", function, after] = reason
    return found


def is_equivalent(change: Change) -> bool:
    line = change.line_of((ROOT / change.file).read_bytes())
    return (change.file, change.function, line) in equivalents()


def judge_all(
    changes: list[Change], known: Known | Near, copies: list[Copy], most: float
) -> list[Verdict]:
    free: SimpleQueue[tuple[Copy, Forks]] = SimpleQueue()
    stages = {change: list(known.stages(change, most)) for change in changes}
    taken = {test for each in stages.values() for tests, _ in each for test in tests}
    for copy, forks in [(copy, copy.collect(sorted(taken))) for copy in copies]:
        forks.wait()
        free.put((copy, forks))

    def judge(change: Change) -> Verdict:
        if is_equivalent(change):
            return Verdict(change, "equivalent")
        copy, forks = free.get()
        try:
            verdict = copy.judge(change, stages[change], forks)
        finally:
            free.put((copy, forks))
        print(f"{verdict.word:8} {change}", flush=True)
        return verdict

    with ThreadPoolExecutor(len(copies)) as pool:
        verdicts = list(pool.map(judge, changes))
    doubt(verdicts, *free.get())
    return verdicts


def doubt(verdicts: list[Verdict], copy: Copy, forks: Forks) -> None:
    """A test that fails without the change, too, has caught nothing."""
    tests = sorted({v.test for v in verdicts if v.test})
    while tests and (failed := copy.run(tests, 300, forks)[1]):
        tests.remove(failed)
        for verdict in verdicts:
            if verdict.test == failed:
                verdict.word = "doubtful"


def show_unreached(known: Known, only: str) -> None:
    for path in blocks.sources(ROOT):
        name = str(path.relative_to(ROOT))
        short, lines = name.removeprefix("pycaffe_dist/"), path.read_text().splitlines()
        if not only or any(fnmatch.fnmatch(short, glob) for glob in only.split(",")):
            for line in known.unreached(name):
                print(f"{name}:{line}: {lines[line - 1].strip()}")


def report(verdicts: list[Verdict]) -> None:
    words = ("caught", "hung", "survived", "uncalled", "doubtful", "equivalent")
    print("\n| package | mutants | " + " | ".join(words) + " | score |\n" + "|---" * 9 + "|")
    for package in (*PACKAGES, "others", "all"):
        own = [v for v in verdicts if package in ("all", package_of(v.change.file))]
        counts = Counter(v.word for v in own)
        if own:
            told = len(own) - counts["equivalent"]
            score = (counts["caught"] + counts["hung"]) / told if told else 1
            cells = [str(counts[word]) for word in words]
            print(f"| {package} | {len(own)} | {' | '.join(cells)} | {score:.0%} |")
    print()
    for verdict in verdicts:
        if verdict.word not in ("caught", "hung", "equivalent"):
            print(f"{verdict.word} ({verdict.ran} tests): {verdict.change}")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make mutate", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--base", default="", help="a commit: lines that were changed since")
    parser.add_argument("--only", default="", help="globs below pycaffe_dist/, with commas between")
    parser.add_argument("--most", type=float, default=20, help="seconds of tests for a change")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 4))
    parser.add_argument("--calls", type=Path, default=RUNS / "calls", help="notes of the tests")
    parser.add_argument("--tests", default="", help="folders to note, with spaces between")
    parser.add_argument("--near", action="store_true", help="no notes: tests named after the file")
    parser.add_argument("--unreached", action="store_true", help="show the blocks no test reaches")
    parser.add_argument("--list", action="store_true", help="show the changes, and test nothing")
    options = parser.parse_args()
    changes = sample(candidates(options.only, options.base), options.count, options.seed)
    if options.list or not changes:
        print(*changes or ["nothing to change there"], sep="\n")
        return 0
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        known: Known | Near = Near(ROOT)
        if not options.near:
            if not any(options.calls.glob("*.jsonl")):
                options.calls.mkdir(parents=True, exist_ok=True)
                marked = Copy(Path(folder, "marked"))
                marked.map_calls(options.calls.resolve(), options.jobs, options.tests.split())
            known = Known(options.calls, ROOT)
            if options.unreached:
                show_unreached(known, options.only)
                return 0
        copies = [Copy(Path(folder, str(i))) for i in range(options.jobs)]
        verdicts = judge_all(changes, known, copies, options.most)
    report(verdicts)
    rows = [json.dumps({**asdict(v.change), "word": v.word, "test": v.test}) for v in verdicts]
    RUNS.mkdir(parents=True, exist_ok=True)
    (RUNS / f"{options.seed}.jsonl").write_text("\n".join(rows) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
