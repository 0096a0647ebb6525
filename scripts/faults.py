"""Break training runs on purpose, at chosen moments, and see what comes of them.

    python scripts/faults.py                                  # every cell once
    python scripts/faults.py --cells 'kill:1' --repeats 20    # one kind, at 20 random steps
    python scripts/faults.py --cells MOMENT --repeats 20      # kill -9 at any time of training
    python scripts/faults.py --cells link --json links.json   # between network namespaces (root)
    python scripts/faults.py --elastic 1-100                  # random kills of elastic runs

A cell is a schedule of `pycaffe_dist.testing.faults`.  LeNet on the embedded digits is trained
once undisturbed, then once for each cell under `pcd launch` (or without it where the supervisor is
the victim, and then again with `--resume auto`).  A MOMENT is drawn from the time that training
took undisturbed, and drawn again where training was over by then.  A cell is good if
every attempt ends within 15 s of its fault, the log says why in a line, no process, file or shared
memory is left, and the last weights are, bit for bit, those of the undisturbed run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import elastic_faults  # noqa: E402
from bench.netlab import Lab, why_not  # noqa: E402

from pycaffe_dist.testing.faults import happened, planted  # noqa: E402

RANKS, ITERATIONS, SNAPSHOT, TEST = 3, 16, 4, 8
GONE_SECONDS = 15.0  # from a fault to the end of its attempt
RUN_SECONDS = 180
STALL_SECONDS = 4.0
ANYWHERE = ("compute", "exchange", "snapshot", "test", "end")
ON_DISK = ("write", "rename", "renamed")
DEATHS = ("kill", "segv", "exit", "exit=3", "raise", "memory")
RESTARTS = 4
# An mpirun is content with a rank that leaves with 0 before MPI starts; the other ranks are not.
NOT_STARTED = r"did not answer for \d+ s, in the exchange of the start of MPI"
FAILURE = re.compile(r"^\0?E\d{4} (\S+) .*The job failed: (.*); \d+ restarts? left$", re.M)
TRAINING = re.compile(r"^\0?I\d{4} (\S+) .*\] (?:Solving .*|Optimization Done\.)$", re.M)


@dataclass(frozen=True)
class Cell:
    """A schedule, where S stands for a random step, and what is expected of it.

    Attributes:
        failures: how many attempts fail.
        says: what the log has of it.
        flags: of `pcd train`, besides.
        launch: of `pcd launch`, besides.
        nodes: of a network lab; 0: all ranks are here.
        supervised: whether the supervisor lives on.
        code: what the run ends with.
    """

    faults: tuple[str, ...]
    failures: int = 1
    says: str = ""
    flags: tuple[str, ...] = ()
    launch: tuple[str, ...] = ()
    nodes: int = 0
    supervised: bool = True
    code: int = 0

    @property
    def name(self) -> str:
        return " + ".join([" ".join(self.faults), *self.flags[:2]])


def cells() -> Iterator[Cell]:
    """The matrix."""
    for kind in DEATHS:
        for who in ("0", "1"):
            for phase in (*ANYWHERE, *(ON_DISK if who == "0" else ())):
                yield Cell((f"{kind}:{who}:S:{phase}",))
            if kind not in ("raise", "memory"):  # what is said in words is not tried again
                yield Cell((f"{kind}:{who}:*:start",), says=NOT_STARTED if kind == "exit" else "")
                yield Cell((f"{kind}:{who}:*:begin",))
            yield Cell(("kill:1:5:compute", f"{kind}:{who}:*:load"), failures=2)
    for kind, number in (("kill", signal.SIGKILL), ("segv", signal.SIGSEGV)):
        yield Cell((f"{kind}:all:S:exchange",))
        for phase in ("compute", "exchange", "rename", "end"):
            yield Cell((f"{kind}:mpirun:S:{phase}",))
            yield Cell((f"{kind}:supervisor:S:{phase}",), supervised=False, code=-number)
    yield Cell(("kill:1:S:compute",), flags=("--comm", "sfb"))
    yield Cell(("kill:1:S:exchange",), flags=("--comm", "sfb"))
    yield Cell(("kill:2:S:exchange",), flags=("--comm", "sharded"))
    yield Cell(("kill:0:S:exit",), failures=0)
    yield Cell(("kill:1:S:exit",), failures=0)
    yield Cell(("kill:0:*:MOMENT",))
    yield Cell(("kill:1:*:MOMENT",))
    yield Cell(("kill:1:5:compute", "segv:0:9:rename"), failures=2)
    yield Cell(("kill:1:5:compute:9",), failures=5, code=137, says="Given up after 4 restarts")
    for who in ("0", "1"):
        for phase in ("compute", "exchange", "snapshot", "test"):
            says = rf"rank {who}( on \S+)? did not answer for \d+ s, in the exchange of "
            yield Cell((f"stop:{who}:S:{phase}",), says=says)
        yield Cell((f"stop=3:{who}:S:compute",), 0, flags=("--stall-timeout", "60"))
    yield Cell(("hang:1:S:compute",), says=r"rank 1 on \S+ did not answer")
    yield Cell(("stop:mpirun:S:compute",), says="no sign of life")
    yield Cell(("stop=3:mpirun:S:compute",), failures=0)
    yield Cell(("stop=3:supervisor:S:compute",), failures=0)
    yield Cell(("skew=86400:1:*:start",), failures=0)
    yield Cell(("kill:1:S:exchange",), nodes=2)
    yield Cell(("stop:1:S:exchange",), nodes=2, says=r"rank 1 on \S+ did not answer")
    yield Cell(("kill:daemon:S:exchange",), nodes=2)
    yield Cell(("stop:daemon:S:exchange",), failures=0, nodes=2)
    yield Cell(("link-down=2:1:S:exchange",), 0, flags=("--stall-timeout", "60"), nodes=2)
    yield Cell(("link-down=20:1:S:exchange",), -1, says="did not answer", nodes=2)
    # TCP tries again after twice the time of before: up to two minutes when the link was down one.
    patient = {"flags": ("--stall-timeout", "150"), "launch": ("--heartbeat-timeout", "160")}
    yield Cell(("link-down=60:1:S:exchange",), 0, **patient, nodes=2)
    tries = ("--max-restarts", "8")  # with pauses of 2, 4, 8, 16, 32 s
    yield Cell(("link-down=60:1:S:exchange",), -1, says="did not answer", launch=tries, nodes=2)
    yield Cell(("slow-link=10mbit:1:S:exchange",), failures=0, nodes=2)


@dataclass
class Verdict:
    """What came of a cell."""

    cell: str
    nodes: int
    seconds: float = 0.0
    gone: list[float] = field(default_factory=list)
    code: int | None = None
    reasons: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    missed: bool = False


class Trial:
    """One run of a cell, in a folder of its own."""

    def __init__(self, cell: Cell, folder: Path, lab: Lab | None, training: float) -> None:
        self.cell, self.folder, self.lab = cell, folder, lab
        self.log = folder / "log.txt"
        (folder / "tmp").mkdir(parents=True)
        moment = f"{random.uniform(0, training):.2f}s"
        step = random.randint(SNAPSHOT + 1, ITERATIONS - SNAPSHOT)
        self.faults = [f.replace(":S:", f":{step}:").replace("MOMENT", moment) for f in cell.faults]

    def run(self, launch: bool = True) -> int:
        """Train to the end; the exit code."""
        verb = ["launch", "--max-restarts", str(RESTARTS), "--heartbeat-timeout", "6"]
        verb += self.cell.launch
        ranks = ["--ranks", str(RANKS)]
        env = dict(
            os.environ, TMPDIR=str(self.folder / "tmp"), **planted(self.folder, *self.faults)
        )
        if self.lab:
            hosts = self.folder / "hosts"
            hosts.write_text("".join(f"{node} slots=1\n" for node in self.lab.nodes))
            ranks = ["--hostfile", str(hosts)]
            env |= self.lab.variables()
        verb = [*verb, *ranks, "--", "train"] if launch else ["train", *ranks, "--resume", "auto"]
        train = ["-solver", "models/digits/solver.prototxt", "--run-dir", str(self.folder)]
        train += ["--engine", "numpy", "--stall-timeout", str(STALL_SECONDS)]
        train += ["--set", f"max_iter={ITERATIONS}", "--set", f"snapshot={SNAPSHOT}"]
        train += ["--set", f"test_interval={TEST}", *self.comm(), *self.cell.flags]
        command = [sys.executable, "-m", "pycaffe_dist", *verb, *train]
        with self.log.open("a") as log:
            options = {"cwd": ROOT, "stderr": log, "stdout": log}
            process = (
                self.lab.popen(self.lab.nodes[0], command, env, **options)
                if self.lab
                else subprocess.Popen(command, env=env, **options)
            )
            try:
                return process.wait(RUN_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                return -1

    def comm(self) -> list[str]:
        return [] if "--comm" in self.cell.flags else ["--comm", "dense"]

    def weights(self) -> bytes:
        path = self.folder / f"digits_iter_{ITERATIONS}.caffemodel"
        return path.read_bytes() if path.exists() else b""

    def processes(self) -> list[int]:
        """Who belongs to this run."""
        return elastic_faults.processes(self.folder)

    def wait_until_gone(self) -> float:
        """How many seconds after its fault the last process of the run has gone."""
        begin = time.time()
        while self.processes() and time.time() - begin < 2 * GONE_SECONDS:
            time.sleep(0.02)
        return round(time.time() - happened(self.folder)[0]["time"], 2)

    def leftovers(self) -> list[str]:
        """Files that should have gone."""
        return [str(p) for p in (*self.folder.glob(".*.tmp"), *(self.folder / "tmp").iterdir())]


def judge(cell: Cell, folder: Path, lab: Lab | None, expected: bytes, training: float) -> Verdict:
    """Run a cell and say all that was wrong."""
    trial = Trial(cell, folder, lab, training)
    verdict = Verdict(" ".join([*trial.faults, *cell.flags]), cell.nodes)
    begin, before = time.monotonic(), shared_memory()
    verdict.code = trial.run()
    if not cell.supervised:
        verdict.gone.append(trial.wait_until_gone())
        if trial.run(launch=False):
            verdict.wrong.append("did not go on with --resume auto")
    text, faults = trial.log.read_text(), happened(folder)
    verdict.missed = "MOMENT" in cell.name and all(f["iteration"] == ITERATIONS for f in faults)
    _judge_log(cell, verdict, text, [fault["time"] for fault in faults])
    if verdict.code != cell.code:
        verdict.wrong.append(f"exit code {verdict.code}, not {cell.code}")
    # On other nodes MPI keeps its memory where it likes; after a kill -9 of a daemon it stays.
    memory = set() if lab else shared_memory() - before
    if left := [*map(str, trial.processes()), *trial.leftovers(), *memory]:
        verdict.wrong.append(f"left: {' '.join(left)}")
    if cell.code <= 0 and trial.weights() != expected:
        verdict.wrong.append("other weights")
    verdict.seconds = round(time.monotonic() - begin, 1)
    return verdict


def shared_memory() -> set[str]:
    """Files of shared memory that no process uses."""
    used = ""
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with suppress(OSError):  # it has ended
            used += maps.read_text()
    return {name for name in os.listdir("/dev/shm") if f"/dev/shm/{name}" not in used}


def _judge_log(cell: Cell, verdict: Verdict, text: str, faults: list[float]) -> None:
    """What is said of which failure, and when."""
    wrong, failures = verdict.wrong, FAILURE.findall(text)
    verdict.reasons = [reason for _, reason in failures]
    if not faults and not verdict.missed:
        wrong.append("the fault did not happen")
    known = cell.supervised and cell.failures >= 0 and not verdict.missed
    if known and len(failures) != cell.failures:
        wrong.append(f"{len(failures)} attempts failed, not {cell.failures}")
    ends = [elastic_faults.seconds(when) for when, _ in failures]
    for fault in faults:
        verdict.gone += [round(end - fault, 2) for end in ends if end >= fault][:1]
    # Who is silent must first be missed, and one that is cut off cannot be asked to leave.
    patience = 5 if cell.says == NOT_STARTED else 2
    most = GONE_SECONDS + (patience * STALL_SECONDS if cell.says else 0)
    if max(verdict.gone, default=0.0) > most:
        wrong.append(f"gone after {max(verdict.gone)} s")
    if cell.says and not re.search(cell.says, text):
        wrong.append(f"does not say: {cell.says}")
    if "Traceback" in text and not any("raise" in f for f in cell.faults):
        wrong.append("a traceback")


def undisturbed(cell: Cell, folder: Path, lab: Lab | None) -> tuple[bytes, float]:
    """The weights that a run ends with, and how many seconds it trains."""
    trial = Trial(cell, folder, lab, 0.0)
    code, text = trial.run(), trial.log.read_text()
    if code:
        raise SystemExit(f"an undisturbed run fails:\n{text[-3000:]}")
    begin, *_, end = map(elastic_faults.seconds, TRAINING.findall(text))
    return trial.weights(), end - begin


def place(cell: Cell) -> AbstractContextManager[Lab | None]:
    return Lab(cell.nodes, "1gbit") if cell.nodes else nullcontext()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cells", default="", help="those whose name has this regular expression")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", help="what was seen goes here too")
    parser.add_argument("--keep", help="a folder for the runs; else they are deleted")
    parser.add_argument("--elastic", type=elastic_faults.numbers, help="such cases: 1-100")
    args = parser.parse_args()
    if args.elastic:
        return elastic_faults.run_all(args.elastic, args.keep)
    random.seed(args.seed)
    if not (ROOT / "data/digits/digits_train_lmdb").exists():
        subprocess.run([sys.executable, ROOT / "data/digits/create_digits.py"], check=True)
    chosen = [c for c in cells() if re.search(args.cells, c.name + (" lab" if c.nodes else ""))]
    refused = why_not()
    if refused and any(c.nodes for c in chosen):
        print(f"no cells between nodes: {refused}")
        chosen = [c for c in chosen if not c.nodes]
    verdicts = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(args.keep or temporary)
        quiet: dict[Cell, tuple[bytes, float]] = {}
        todo = [cell for cell in chosen for _ in range(args.repeats)]
        while todo:
            cell, number = todo.pop(0), len(verdicts)
            same = replace(cell, faults=(), says="", failures=0, code=0, launch=(), supervised=True)
            if same not in quiet:
                with place(same) as lab:
                    quiet[same] = undisturbed(same, folder / f"quiet{number}", lab)
            with place(cell) as lab:
                verdict = judge(cell, folder / str(number), lab, *quiet[same])
            verdicts.append(verdict)
            if verdict.missed:
                todo.insert(0, cell)
            gone = max(verdict.gone, default=0.0)
            said = "too late" if verdict.missed else "good"
            said = "BAD: " + "; ".join(verdict.wrong) if verdict.wrong else said
            print(f"{verdict.cell:58} {gone:6.2f} s {verdict.seconds:6.1f} s  {said}", flush=True)
            if args.json:
                Path(args.json).write_text(json.dumps([asdict(v) for v in verdicts], indent=1))
    bad = sum(bool(v.wrong) for v in verdicts)
    late = sum(v.missed for v in verdicts)
    print(f"{len(verdicts) - bad} of {len(verdicts)} good" + f", {late} too late" * bool(late))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
