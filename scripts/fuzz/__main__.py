"""Feed damaged files to every command that reads files, and report what is not a plain error.

    make fuzz SECONDS=3600                                  # all kinds, by hand
    python scripts/fuzz --seed 7 --only lmdb,leveldb        # some
    python scripts/fuzz --seed 7 --only lmdb --case 3529    # one case again, with its output
    python scripts/fuzz --seed 7 --quick                    # the readers alone: 50 times as many

A case is a folder with one damaged file and the sound ones that go with it, and one command, which
runs in a forked process with 5 seconds and 1 GB.  It may end well, or with a message (a PcdError).
A failure is a traceback, a signal, or more time or memory than that.  Case N of a seed is always
the same.  The first case of every distinct failure is kept in --work: copy the damaged file and its
command to tests/fuzz/corpus, where ``make test`` runs it for ever.
"""

from __future__ import annotations

import argparse
import collections
import os
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

os.environ |= {"PCD_CACHE": "", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
os.environ |= {"MALLOC_ARENA_MAX": "2", "MPLBACKEND": "agg"}

import quick
import runner
from kinds import KINDS

AT_ONCE = 100  # cases of a kind in one process


def main() -> int:
    args = _arguments()
    work = Path(args.work or tempfile.mkdtemp(prefix="pcd-fuzz-"))
    shutil.rmtree(work / "sound", ignore_errors=True)
    runner.prepare(work / "sound")
    if args.quick:
        return _quick(work, args)
    kinds = args.only.split(",") if args.only else [*KINDS]
    ended: collections.Counter[str] = collections.Counter()
    faults: collections.Counter[str] = collections.Counter()
    end = time.monotonic() + args.seconds
    number = args.case if args.case is not None else args.first
    with suppress(KeyboardInterrupt):  # what was found until then is told
        while time.monotonic() < end and number < args.first + args.count:
            for kind in kinds:
                _one(work, args, kind, number, ended, faults)
            number += 1
            if args.case is not None:
                break
    print(f"\nseed {args.seed}, {ended.total()} cases: {dict(ended.most_common())}")
    for what, count in faults.most_common():
        print(f"{count:6} {what}")
    return 1 if faults else 0


def _arguments() -> argparse.Namespace:
    form = argparse.RawDescriptionHelpFormatter
    p = argparse.ArgumentParser("fuzz", description=__doc__, formatter_class=form)
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--first", type=int, default=0, help="the number of the first case")
    p.add_argument("--count", type=int, default=1 << 60, help="cases of each kind, at most")
    p.add_argument("--work", help="where failures are kept")
    p.add_argument("--only", default="", help=f"kinds, with commas, of {', '.join(KINDS)}")
    p.add_argument("--quick", action="store_true", help="no commands, only what reads the files")
    p.add_argument("--case", type=int, help="run this one alone, and show what it prints")
    return p.parse_args()


def _quick(work: Path, args: argparse.Namespace) -> int:
    kinds = args.only.split(",") if args.only else [*quick.READERS]
    end = time.monotonic() + args.seconds
    number = done = 0
    seen: collections.Counter[str] = collections.Counter()
    while time.monotonic() < end and number < args.count:
        for kind in kinds:
            numbers = range(number, number + AT_ONCE)
            for fault in quick.faults(work / "sound", work / "quick", args.seed, kind, numbers):
                what = f"{kind}: {fault.partition(': ')[2]}"
                seen[what] += 1
                if seen[what] == 1:
                    print(f"{kind}, case {fault}", flush=True)
            done += AT_ONCE
        number += AT_ONCE
    print(f"\nseed {args.seed}, {done} cases, {seen.total()} faults")
    return 1 if seen else 0


def _one(
    work: Path,
    args: argparse.Namespace,
    kind: str,
    number: int,
    ended: collections.Counter[str],
    faults: collections.Counter[str],
) -> None:
    folder = work / "case"
    command = runner.make(work / "sound", folder, args.seed, kind, number)
    if command is None:
        ended["not made"] += 1
        return
    outcome = runner.run(folder, command)
    ended[{0: "well", runner.SAID: "with a message"}.get(outcome.code, f"{outcome.code}")] += 1
    if args.case is not None:
        print(outcome.text)
    if fault := outcome.fault():
        known = f"{kind}: {fault}"
        faults[known] += 1
        if faults[known] == 1:
            kept = work / f"{kind}-{number}"
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(folder, kept, symlinks=True)
            print(f"{known}\n    case {number}: {runner.words(command)}\n    {kept}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
