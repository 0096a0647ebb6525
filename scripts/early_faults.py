"""Signals and losses that are no numbers in the first iterations of runs on several ranks.

    python scripts/early_faults.py --cases 1-200
    python scripts/early_faults.py --cases 17 --keep runs       # one of them, whose files stay

The number of a case decides everything about it: ranks, scheme, staleness (0 to 3), whether the run
goes on from a snapshot, and what befalls which rank in which of its first five iterations, at which
moment of it.  Then a run by `pcd train --ranks` is good if

- it ends, with the exit code that the docs promise, and without a traceback;
- a signal to stop leaves one snapshot; one for a snapshot leaves that one, and the last of the run;
  of the iteration in which the ranks have heard of it, or of the next;
- a loss that is no number is told with its rank, iteration and layer, and leaves no snapshot, or,
  if that was asked for, one of weights that are numbers.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pycaffe_dist.proto.weights import read_weights
from pycaffe_dist.testing.faults import happened, planted

NET = """
layer { name: "x" type: "DummyData" top: "data" top: "label"
  dummy_data_param { shape { dim: 4 dim: 12 } shape { dim: 4 }
    data_filler { type: "gaussian" } data_filler { type: "constant" value: 1 } } }
layer { name: "ip1" type: "InnerProduct" bottom: "data" top: "h"
  inner_product_param { num_output: 10 weight_filler { type: "xavier" } } }
layer { name: "relu" type: "ReLU" bottom: "h" top: "h" }
layer { name: "ip2" type: "InnerProduct" bottom: "h" top: "o"
  inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "o" bottom: "label" top: "loss" }
"""
SOLVER = """
net: "net.prototxt" base_lr: 0.01 lr_policy: "fixed" momentum: 0.9 display: 1
snapshot_prefix: "run" random_seed: 3 solver_mode: CPU
"""
FIRST, LAST = 4, 16  # the iteration that runs go on from, and their last one
EARLY = 5  # iterations
HANG_SECONDS = 120.0
SCHEMES = ("allreduce", "sharded", "sfb", "sf-push", "topk", "auto")
STOPS = {signal.SIGINT: 0, signal.SIGTERM: 143, signal.SIGUSR2: 0}  # with their exit codes
SNAPSHOTS = (signal.SIGHUP, signal.SIGUSR1)
# Of an iteration; the ranks tell each other of an iteration after "compute".
MOMENTS = ("batch", "compute", "backward", "gathered")


@dataclass(frozen=True)
class Case:
    """A run and what befalls it; ``kind`` is a signal's number or "nan"."""

    ranks: int
    scheme: str
    staleness: int
    resumes: bool
    kind: str
    rank: int
    step: int
    moment: str
    on_nan: str

    @staticmethod
    def draw(number: int) -> Case:
        rng = random.Random(number)
        nan = rng.random() < 0.5
        kind = "nan" if nan else str(int(rng.choice([*STOPS, *SNAPSHOTS])))
        ranks, resumes = rng.choice((2, 2, 3)), rng.random() < 0.25
        scheme, staleness = rng.choice(SCHEMES), rng.randrange(4)
        return Case(
            ranks,
            scheme,
            0 if scheme == "topk" else staleness,  # which exchanges gradients, and never updates
            resumes,
            kind,
            rng.randrange(ranks),
            rng.randrange(EARLY) + FIRST * resumes,
            "batch" if nan else rng.choice(MOMENTS),
            rng.choice(("stop", "snapshot")),
        )

    @property
    def fault(self) -> str:
        kind = "nan" if self.kind == "nan" else f"signal={self.kind}"
        return f"{kind}:{self.rank}:{self.step}:{self.moment}"

    def flags(self) -> list[str]:
        flags = ["--ranks", str(self.ranks), "--comm", self.scheme, "--on-nan", self.on_nan]
        flags += ["--staleness", str(self.staleness), "--stall-timeout", "20"]
        return [*flags, *(["--snapshot", f"run_iter_{FIRST}.solverstate"] if self.resumes else [])]

    def code(self) -> int:
        if self.kind == "nan":
            return 1
        return STOPS.get(signal.Signals(int(self.kind)), 0)

    def heard(self) -> tuple[int, int]:
        """The first and the last number of iterations after which all ranks may act."""
        if self.kind == "nan":
            acts = self.step + (self.staleness + 1 if self.staleness else 0)
            return acts, acts
        acts = self.step + 1 + (self.staleness + 1 if self.staleness else 0)
        return acts, acts + 1  # a signal may come after the ranks have told each other

    def snapshots(self) -> int:
        """How many are made."""
        if self.kind == "nan":
            return int(self.on_nan == "snapshot")
        return 1 + (signal.Signals(int(self.kind)) in SNAPSHOTS)


def train(folder: Path, *flags: str, faults: tuple[str, ...] = ()) -> tuple[int | None, str]:
    """Run `pcd train`; its exit code, None if it hangs, and what it has said."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI", "PMI", "GLOG"))}
    env |= {"PCD_ENGINE": "numpy", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    env |= planted(folder, *faults)
    command = [sys.executable, "-m", "pycaffe_dist", "train", "--solver", "solver.prototxt"]
    with (folder / "log.txt").open("w") as log:
        run = subprocess.Popen([*command, *flags], cwd=folder, env=env, stdout=log, stderr=log)
        try:
            code: int | None = run.wait(HANG_SECONDS)
        except subprocess.TimeoutExpired:
            run.terminate()
            run.wait()
            code = None
    return code, (folder / "log.txt").read_text()


def prepare(folder: Path, case: Case) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "net.prototxt").write_text(NET)
    (folder / "solver.prototxt").write_text(f"{SOLVER} max_iter: {LAST}")
    if case.resumes:
        train(folder, "--max-iter", str(FIRST))  # by one rank: any number goes on from it


def written(folder: Path) -> set[tuple[str, int]]:
    """The snapshots of a folder, and when they were written."""
    return {(path.name, path.stat().st_mtime_ns) for path in folder.glob("*.pcdstate")}


def judge(case: Case, folder: Path) -> list[str]:
    """Run a case and say what was wrong."""
    prepare(folder, case)
    before = written(folder)
    code, log = train(folder, *case.flags(), faults=(case.fault,))
    if not happened(folder):
        return [f"the fault did not happen:\n{log[-1000:]}"]
    wrong = [] if code == case.code() else [f"exit code {code}, not {case.code()}"]
    if "Traceback" in log:
        wrong.append("a traceback")
    made = sorted(name for name, _ in written(folder) - before)
    wrong += _judge_snapshots(case, folder, made)
    if case.kind == "nan":
        rank, at = case.rank, case.step
        says = rf'iteration {at}: the loss of rank {rank} on \S+ is nan; first seen in layer "x"'
        if not re.search(says, log):
            wrong.append(f"does not say: {says}")
        if f"gave up with exit code 1 after iteration {case.heard()[0]}\n" not in log:
            wrong.append(f"does not say that it gave up after iteration {case.heard()[0]}")
    return wrong + ([log[-2000:]] if wrong else [])


def _judge_snapshots(case: Case, folder: Path, made: list[str]) -> Iterator[str]:
    iterations = sorted(int(re.findall(r"_iter_(\d+)", name)[0]) for name in made)
    if len(iterations) != case.snapshots():
        yield f"{len(iterations)} snapshots ({made}), not {case.snapshots()}"
    elif iterations:
        first, last = case.heard()
        if not first <= iterations[0] <= last:
            yield f"a snapshot of iteration {iterations[0]}, not of {first} to {last}"
        if iterations[1:] not in ([], [LAST]):
            yield f"a snapshot of iteration {iterations[1]}, not of the last"
    for name in made:
        stored = read_weights(str(folder / name.replace(".pcdstate", ".caffemodel")))
        if not all(np.isfinite(blob.data).all() for layer in stored.layers for blob in layer.blobs):
            yield f"{name}: weights that are no numbers"


def numbers(text: str) -> list[int]:
    first, _, last = text.partition("-")
    return list(range(int(first), int(last or first) + 1))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=numbers, default=[*range(1, 21)], help="such as 1-200")
    parser.add_argument("--keep", help="a folder for the runs; else they are deleted")
    args = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as temporary:
        for number in args.cases:
            case, begin = Case.draw(number), time.monotonic()
            wrong = judge(case, Path(args.keep or temporary) / str(number))
            bad += bool(wrong)
            seconds = time.monotonic() - begin
            what = f"{case.fault} {' '.join(case.flags())}"
            print(f"{number:4} {seconds:5.1f} s {what}: {'; '.join(wrong) or 'good'}", flush=True)
    print(f"{len(args.cases) - bad} of {len(args.cases)} good")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
