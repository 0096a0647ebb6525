"""Random kills of elastic runs, for `scripts/faults.py --elastic`.

The number of a case decides everything about it: who is killed (a rank, two or all of them, mpirun,
the launcher), in which moment of which iteration, whether again while the run recovers, the scheme,
how often snapshots are kept in memory, and whether those on disk are waited for.  A run of a small
net on digits is good if it ends with exit code 0 (after a kill of the launcher: when it is started
again with `--resume auto`) and leaves no process and nothing in memory, and its weights are those
of an undisturbed run: bit for bit, or within 1e-5 where it had fewer ranks for a while.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import numpy as np

from pycaffe_dist.parallel.job.memory import FOLDER, root
from pycaffe_dist.proto.weights import read_weights
from pycaffe_dist.testing.faults import happened, planted

ROOT = Path(__file__).resolve().parent.parent
NET = """
layer { name: "x" type: "Data" top: "data" top: "label" transform_param { scale: 0.00390625 }
  data_param { source: "ROOT/data/digits/digits_train_lmdb" backend: LMDB batch_size: 8 } }
layer { name: "ip1" type: "InnerProduct" bottom: "data" top: "h"
  inner_product_param { num_output: 32 weight_filler { type: "xavier" } } }
layer { name: "relu" type: "ReLU" bottom: "h" top: "h" }
layer { name: "ip2" type: "InnerProduct" bottom: "h" top: "o"
  inner_product_param { num_output: 10 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "o" bottom: "label" top: "loss" }
"""
LAST, EVERY, TEST = 40, 16, 12  # iterations of a run, of a snapshot on disk, of a test
SOLVER = f"""
net: "net.prototxt" base_lr: 0.05 lr_policy: "fixed" momentum: 0.9 max_iter: {LAST} display: 10
snapshot: {EVERY} test_iter: 3 test_interval: {TEST} snapshot_prefix: "run" random_seed: 3
"""
RANKS = 3
SCHEMES = ("dense", "sharded", "sfb", "sf-push", "topk")
PHASES = ("start", "begin", "compute", "exchange", "test", "snapshot", "write", "rename", "end")
OF_RANK_0 = ("write", "rename")
HANG_SECONDS, PROGRESS_SECONDS = 400.0, 15.0
NEAR = 1e-5
BEGINS = re.compile(r"^\0?I\d{4} (\S+) .*Starting Optimization$", re.M)


@dataclass(frozen=True)
class Case:
    """A run and what befalls it."""

    who: str
    phase: str
    faults: tuple[str, ...]
    scheme: str
    kept: int
    beside: bool  # --snapshot-async

    @staticmethod
    def draw(number: int) -> Case:
        rng = random.Random(number)
        phase = rng.choice(PHASES)
        who = "0" if phase in OF_RANK_0 else rng.choice(("0", "1", "2", "two", "all", "mpirun"))
        if phase not in ("start", "end", *OF_RANK_0) and rng.random() < 0.15:
            who = "launcher"
        if who == "mpirun" and phase == "start":
            who = "1"
        kind, step = rng.choice(("kill", "kill", "segv")), rng.randrange(1, LAST - 2)
        at = "*" if phase in ("start", "begin", "end") else str(step)
        names = {"two": ["0", "2"], "launcher": ["supervisor"]}.get(who, [who])
        faults = [
            f"{'kill' if who in ('launcher', 'mpirun') else kind}:{n}:{at}:{phase}" for n in names
        ]
        if who != "launcher" and phase not in ("start", "end") and rng.random() < 0.2:
            faults.append(f"kill:{rng.randrange(RANKS)}:*:load")
        return Case(
            who,
            phase,
            tuple(faults),
            rng.choice(SCHEMES),
            rng.choice((2, 3, 5)),
            rng.random() < 0.5,
        )

    def command(self, again: bool = False) -> list[str]:
        elastic = [
            "--elastic",
            f"2:{RANKS}",
            "--memory-snapshot",
            str(self.kept),
            "--join-after",
            "5",
        ]
        train = ["train", "--solver", "solver.prototxt", "--comm", self.scheme, "--deterministic"]
        train += ["--snapshot-async"] * self.beside + ["--resume", "auto"] * again
        return ["launch", *elastic, "--", *train]


@dataclass
class Verdict:
    """What came of a case: what was wrong, and how long there was no progress."""

    wrong: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    fewer: bool = False


def run(folder: Path, command: list[str], faults: tuple[str, ...]) -> int | None:
    """Run `pcd`; its exit code, None if it hangs."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI", "PMI", "GLOG"))}
    env |= {"PCD_ENGINE": "numpy", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    env |= planted(folder, *faults)
    with (folder / "log.txt").open("a") as log:
        words = [sys.executable, "-m", "pycaffe_dist", *command]
        process = subprocess.Popen(words, cwd=folder, env=env, stdout=log, stderr=log)
        try:
            return process.wait(HANG_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return None


def prepare(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "net.prototxt").write_text(NET.replace("ROOT", str(ROOT)))
    (folder / "solver.prototxt").write_text(SOLVER)
    return folder


def weights(folder: Path) -> np.ndarray:
    path = folder / f"run_iter_{LAST}.caffemodel"
    if not path.exists():
        return np.empty(0)
    layers = read_weights(str(path)).layers
    return np.concatenate([np.ravel(blob.data) for layer in layers for blob in layer.blobs])


def judge(case: Case, folder: Path, expected: np.ndarray) -> Verdict:
    """Run a case and say what was wrong."""
    verdict, before = Verdict(), set(left_in_memory())
    prepare(folder)
    code = run(folder, case.command(), case.faults)
    if case.who == "launcher" and code not in (0, None):
        wait_until_gone(folder)
        code = run(folder, case.command(again=True), case.faults)
    if code != 0:
        verdict.wrong.append("hangs" if code is None else f"exit code {code}")
    log, faults = (folder / "log.txt").read_text(), happened(folder)
    if not faults:
        verdict.wrong.append("the fault did not happen")
    verdict.fewer = "Continuing with 2 of" in log
    found = weights(folder)
    if verdict.fewer and case.scheme != "topk":  # whose residuals belong to ranks
        scale = np.abs(expected).max()
        same = found.size == expected.size and np.abs(found - expected).max() <= NEAR * scale
    else:
        same = verdict.fewer or np.array_equal(found, expected)
    if not same:
        verdict.wrong.append("other weights")
    begins = [seconds(when) for when in BEGINS.findall(log)]
    for fault in faults:
        verdict.seconds += [b - fault["time"] for b in begins if b > fault["time"]][:1]
    if left := [*map(str, processes(folder)), *(set(left_in_memory()) - before)]:
        verdict.wrong.append(f"left: {' '.join(left)}")
    return verdict


def seconds(when: str) -> float:
    """The time of a line of the log."""
    today = datetime.now()
    clock = datetime.strptime(when, "%H:%M:%S.%f")
    return clock.replace(year=today.year, month=today.month, day=today.day).timestamp()


def processes(folder: Path) -> list[int]:
    """Who belongs to a run."""
    found, mark = [], f"PCD_FAULTS_FOLDER={folder}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def left_in_memory() -> list[str]:
    """Folders whose launchers are no more."""
    folders = [path.name for path in root().glob(f"{FOLDER}*")]
    return [name for name in folders if not Path("/proc", name.split("-")[2]).exists()]


def wait_until_gone(folder: Path) -> None:
    end = time.monotonic() + HANG_SECONDS
    while processes(folder) and time.monotonic() < end:
        time.sleep(0.05)


def table(verdicts: list[tuple[Case, Verdict]]) -> None:
    """Cells with counts: good of all, by who was killed and when."""
    cells: dict[tuple[str, str], list[Verdict]] = defaultdict(list)
    for case, verdict in verdicts:
        who = f"rank {case.who}" if case.who.isdigit() else case.who
        cells[who, case.phase].append(verdict)
    rows = sorted({who for who, _ in cells})
    print("\n| killed | " + " | ".join(PHASES) + " |\n|---" * 1 + "|---" * len(PHASES) + "|")
    for who in rows:
        texts = []
        for phase in PHASES:
            here = cells.get((who, phase), [])
            good = sum(not v.wrong for v in here)
            texts.append(f"{good} of {len(here)}" if here else "")
        print(f"| {who} | " + " | ".join(texts) + " |")


def numbers(text: str) -> list[int]:
    first, _, last = text.partition("-")
    return list(range(int(first), int(last or first) + 1))


def run_all(cases: list[int], keep: str | None) -> int:
    """Run cases, a line each, then the table; 1 if one was bad."""
    verdicts: list[tuple[Case, Verdict]] = []
    quiet: dict[str, np.ndarray] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(keep or temporary)
        for number in cases:
            case = Case.draw(number)
            if case.scheme not in quiet:
                plain = ["train", "--solver", "solver.prototxt", "--comm", case.scheme]
                here = prepare(folder / f"quiet-{case.scheme}")
                if run(here, [*plain, "--deterministic", "--ranks", str(RANKS)], ()):
                    raise SystemExit((here / "log.txt").read_text()[-3000:])
                quiet[case.scheme] = weights(here)
            verdict = judge(case, folder / str(number), quiet[case.scheme])
            verdicts.append((case, verdict))
            slow = max(verdict.seconds, default=0.0)
            words = "; ".join(verdict.wrong) or "good" + ", fewer ranks for a while" * verdict.fewer
            what = f"{' '.join(case.faults)} {case.scheme} every {case.kept}"
            print(f"{number:5} {slow:6.1f} s  {what}: {words}", flush=True)
    table(verdicts)
    bad = sum(bool(verdict.wrong) for _, verdict in verdicts)
    slow = sum(max(v.seconds, default=0.0) > PROGRESS_SECONDS for _, v in verdicts)
    print(f"{len(verdicts) - bad} of {len(verdicts)} good; {slow} without progress for over 15 s")
    return 1 if bad else 0
