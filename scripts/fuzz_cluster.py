"""Seeded random tests of training on several ranks against one rank with the joint batch.

    make fuzz-cluster SEEDS=1-1000
    python scripts/fuzz_cluster.py --seeds 1-200            # a line for each seed, then a table
    python scripts/fuzz_cluster.py --seeds 17 --show        # the case itself: net, solver, settings
    python scripts/fuzz_cluster.py --seeds 1-50 --via mpi   # every seed by mpirun, not by threads

A seed draws a small net, a solver, a source of records and a way to distribute them.  Then

    joint      one rank with the batch of all ranks
    ranks      P ranks, with a snapshot on the way
    resumed    the same or another number of ranks, from that snapshot to the end

must have the same weights, solver history, losses and test scores.  All are computed in double
precision, so that rounding cannot hide a fault nor be taken for one.  Ranks must have the same
weights to the bit; a resumed run with the same number of ranks must repeat the bits.  Kinds of
seeds (by their number, or --kind):

    exact    as above                                 most of them
    single   in single precision by oneDNN: off by no more than sums in other orders are
    stale    --staleness 1..3: ranks agree in the end, the bound holds, and with a tiny rate the
             weights change as the joint run's do (staleness is then of the second order)
    wire     fp16 and bf16: ranks agree to the bit, and are off by no more than rounding at random
             of what is sent makes (cluster_fuzz/rounding.py)
    cli      `pcd train --ranks P` in single precision, near the joint run

Ranks are threads of this process, or processes of mpirun: of the MPI of the environment that runs
this, Open MPI or MPICH.  They are spread over emulated nodes at random, and chunks, blocks and
buckets are made so small that small nets take the ways of large ones.  Exit code 1 if a seed
failed.
"""

from __future__ import annotations

import os

os.environ.setdefault("PCD_ENGINE", "numpy")  # nothing is measured at the start
os.environ.setdefault("OMP_NUM_THREADS", "1")  # a rank has one
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import collections
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from cluster_fuzz.case import KINDS, Case, draw
from cluster_fuzz.files import net_text
from cluster_fuzz.judge import judge

VERDICTS = ("agrees", "DIFFERS", "FAILS", "HANGS", "skipped")


def show(case: Case) -> None:
    hidden = ("net", "features", "solver")
    for name, value in vars(case).items():
        if name not in hidden:
            print(f"# {name}: {value}")
    print(f"# features: {', '.join(case.features)}\n# solver: {case.solver}")
    print(net_text(case, Path("FOLDER"), case.joint // case.ranks))


def groups_of(case: Case, schemes: list[str]) -> set[str]:
    """What a case counts for in the table."""
    via = case.via if case.kind != "cli" else "cli"
    number = "same" if case.ranks == case.resumed else "other"
    found = {"all", f"kind: {case.kind}", f"via: {via}", f"resumed: {number} number"}
    found |= {f"scheme: {s}" for s in schemes} | {f"asked: {case.settings['comm']}"}
    found |= {f"net: {f}" for f in case.features} | {f"solver: {case.solver_type}"}
    found |= {f"source: {case.source}", f"ranks: {case.ranks}"}
    found.add("overlap: " + ("on" if case.settings["overlap"] else "off"))
    return found


def table(rows: list[tuple[Case, str, list[str]]]) -> None:
    """Seeds by kind, scheme and feature."""
    groups: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for case, verdict, schemes in rows:
        for key in groups_of(case, schemes):
            groups[key][verdict] += 1
    print(f"\n{'':36}" + "".join(f"{v:>9}" for v in VERDICTS))
    for key in sorted(groups):
        print(f"{key:36}" + "".join(f"{groups[key][v]:9}" for v in VERDICTS))


def run_seed(case: Case, keep: str | None) -> tuple[str, list[str]]:
    """Judge a case and say it in a line; files of one that fails may be kept."""
    folder = Path(tempfile.mkdtemp(prefix=f"seed{case.seed}-"))
    started = time.monotonic()
    try:
        verdict, words, schemes = judge(case, folder)
        seconds = time.monotonic() - started
        line = f"{case.seed:6} {case.kind:6} {verdict:8} {seconds:5.1f} s  {words.strip()[-400:]}"
        print(line, flush=True)
        if keep and verdict not in ("agrees", "skipped"):
            shutil.copytree(folder, Path(keep) / f"seed{case.seed}", dirs_exist_ok=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return verdict, schemes


def main() -> int:
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--seeds", default="1-20", help="A-B, or one")
    p.add_argument("--kind", default="", choices=["", *dict.fromkeys(KINDS)])
    p.add_argument("--via", default="", choices=["", "threads", "mpi"])
    p.add_argument("--show", action="store_true", help="print the case and do not run it")
    p.add_argument("--keep", metavar="DIR", help="where files of failing seeds stay")
    p.add_argument("--minutes", type=float, default=0, help="stop after so long")
    args = p.parse_args()
    first, _, last = args.seeds.partition("-")
    rows: list[tuple[Case, str, list[str]]] = []
    begin = time.monotonic()
    for seed in range(int(first), int(last or first) + 1):
        if args.minutes and time.monotonic() - begin > 60 * args.minutes:
            break
        case = draw(seed, args.kind, args.via)
        if args.show:
            show(case)
        else:
            rows.append((case, *run_seed(case, args.keep)))
    if rows:
        table(rows)
    return int(any(verdict not in ("agrees", "skipped") for _, verdict, _ in rows))


if __name__ == "__main__":
    sys.exit(main())
