"""Does cifar10_quick learn as much on several ranks as on one?  The figures of docs/convergence.md.

    python data/cifar10/get_cifar10.py --npm --out DIR        # once
    nice python scripts/convergence.py --data DIR             # all runs that are not done yet
    python scripts/convergence.py --data DIR --only auto      # those with "auto" in their names
    python scripts/convergence.py --data DIR --torch ENV      # PyTorch DDP's, too
    python scripts/convergence.py --list                      # the runs, and what is done
    python scripts/convergence.py --write                     # table and chart, from the JSON

A run sees ITERATIONS batches of 100 images, four fifths of them at the solver's rate and the rest
at a tenth of it, as models/cifar10_quick/solver.prototxt does in 5,000.  A rank has one thread.
The joint batch is kept (P ranks take 100/P images each, rounded up), or it is scaled: each rank
takes 100, so that there are P times fewer steps, with P times the rate (the linear rule), which is
reached in a line within the first tenth of them.  PyTorch trains the same net with the same fillers
and records, in an environment that is made in ENV if it is not there.

What was done is in the JSON file, so that a run of this script that was ended continues with the
next one.  Accuracy does not depend on how busy the machine is; no time is measured.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from bench.environment import machine, torch_python
from bench.pages import put, source, stamp

from pycaffe_dist.data.backends import open_source
from pycaffe_dist.data.datum import parse_record
from pycaffe_dist.proto.caffe_pb2 import TRAIN, DataParameter
from pycaffe_dist.proto.nets import read_net, read_solver
from pycaffe_dist.proto.text import format_text

ROOT = Path(__file__).resolve().parent.parent
MODEL = ROOT / "models" / "cifar10_quick"
DOCS = ROOT / "docs"
JSON, CHART, PAGE = DOCS / "convergence.json", DOCS / "convergence.png", DOCS / "convergence.md"
SCRIPT = "scripts/convergence.py"
SETS = {"cifar10_train_lmdb": 50_000, "cifar10_test_lmdb": 10_000}
BATCH = 100
SHOWN = 12.0  # points below one rank that the chart has room for
TESTS = 2  # in a run
POINT = 1.0  # how far from one rank's accuracy a run may end
SCHEMES = ("auto", "allreduce", "sharded", "sfb", "sf-push", "topk")
# PyTorch's ways, and the hooks of bench/torch_hooks.py.
PEERS = {"PyTorch DDP": "", "PyTorch DDP, fp16": "fp16", "PyTorch DDP, PowerSGD": "powersgd"}


@dataclass(frozen=True)
class Run:
    """cifar10_quick on so many ranks."""

    ranks: int
    comm: str = "auto"
    staleness: int = 0
    scaled: bool = False
    seed: int = 1

    @property
    def name(self) -> str:
        words = [f"{self.ranks} rank{'s' * (self.ranks > 1)}"]
        words += [self.comm] * (self.ranks > 1)
        words += [f"s = {self.staleness}"] * bool(self.staleness)
        words += ["scaled batch"] * self.scaled + [f"seed {self.seed}"] * (self.seed != 1)
        return ", ".join(words)

    @property
    def batch(self) -> int:
        """Of a rank."""
        return BATCH if self.scaled else math.ceil(BATCH / self.ranks)

    @property
    def factor(self) -> int:
        """How much larger batch and rate are, and how much fewer the steps."""
        return self.ranks if self.scaled else 1

    def steps(self, iterations: int) -> int:
        """As many as see so many batches of one rank; there is a test after the last one."""
        return iterations // self.factor // TESTS * TESTS


def runs() -> Iterator[Run]:
    """All of them, the most telling ones first."""
    yield Run(1)
    yield Run(4, "dense")
    yield Run(4)
    yield Run(4, staleness=3)
    yield Run(2)
    yield Run(8)
    yield Run(4, "topk")
    yield Run(4, scaled=True)
    yield from (Run(1, seed=seed) for seed in (2, 3))
    yield from (Run(4, comm) for comm in ("sfb", "sharded", "sf-push", "allreduce"))
    yield from (Run(ranks, staleness=3) for ranks in (2, 8))
    yield from (Run(ranks, scaled=True) for ranks in (2, 8))
    yield Run(4, "sfb", staleness=3)
    yield Run(4, staleness=3, scaled=True)
    yield Run(4, "topk", scaled=True)
    yield from (Run(4, comm) for comm in PEERS)
    yield from (Run(ranks, "topk") for ranks in (2, 8))
    yield from (Run(ranks, comm) for ranks in (2, 8) for comm in SCHEMES[1:-1])


# -- running ---------------------------------------------------------------------------------------


def train(run: Run, data: Path, iterations: int, folder: Path) -> dict[str, Any]:
    """Train by `pcd train`; what came of it."""
    prepare(run, data, iterations, folder)
    command = [sys.executable, "-m", "pycaffe_dist", "train", "--solver", "solver.prototxt"]
    command += ["--run-dir", "run", "--threads", "1", "--deterministic"]
    if run.ranks > 1:
        command += ["--ranks", str(run.ranks), "--comm", run.comm]
        command += ["--staleness", str(run.staleness)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    rows = [json.loads(line) for line in (folder / "run/metrics.jsonl").read_text().splitlines()]
    tests = [
        [row["iteration"], round(100 * row["outputs"]["accuracy"], 2)]
        for row in rows
        if row["kind"] == "test"
    ]
    whole = tests and tests[-1][0] == run.steps(iterations)
    if not whole and "NaN" not in done.stderr:
        raise SystemExit(f"{run.name}: exit code {done.returncode}\n{done.stderr[-3000:]}")
    return {
        "accuracy": tests[-1][1] if whole else None,  # None: the loss is no number
        "batch": run.batch * run.ranks,
        "tests": tests,
    }


def prepare(run: Run, data: Path, iterations: int, folder: Path) -> None:
    """Write the net and the solver of a run."""
    net = read_net(str(MODEL / "train_val.prototxt")).net
    for layer in net.layer:
        if layer.type == "Data":
            layer.data_param.source = str(data / Path(layer.data_param.source).name)
            layer.transform_param.mean_file = str(data / "mean.binaryproto")
            if layer.include[0].phase == TRAIN:
                layer.data_param.batch_size = run.batch
    (folder / "net.prototxt").write_text(format_text(net))
    param = read_solver(str(MODEL / "solver.prototxt")).message
    steps = run.steps(iterations)
    rate = param.base_lr * run.factor
    param.net, param.snapshot_prefix, param.random_seed = "net.prototxt", "quick", run.seed
    param.max_iter, param.snapshot, param.test_interval = steps, 0, steps // TESTS
    param.test_initialization = False
    param.stepvalue[:] = [steps * 4 // 5]
    if run.scaled:
        param.warmup_iter, param.warmup_start_lr = steps // 10, param.base_lr
    param.base_lr = rate
    (folder / "solver.prototxt").write_text(format_text(param))


def make_mean(data: Path) -> None:
    if not (data / "mean.binaryproto").exists():
        words = ["compute_image_mean", data / "cifar10_train_lmdb", data / "mean.binaryproto"]
        subprocess.run([sys.executable, "-m", "pycaffe_dist", *words], check=True)


# -- PyTorch ---------------------------------------------------------------------------------------


def train_torch(
    run: Run, data: Path, iterations: int, folder: Path, environment: Path
) -> dict[str, Any]:
    """Train by DDP, a process for each rank; what came of it."""
    make_arrays(data)
    for name in ("images.npy", "mean.npy", "labels.npy"):
        (folder / name).symlink_to(data / name)
    python, env = torch_python(environment), dict(os.environ, GLOO_SOCKET_IFNAME="lo")
    words = [run.ranks, folder, iterations, PEERS[run.comm], run.seed]
    command = [python, "-m", "bench.convergence_torch"]
    processes = [
        subprocess.Popen([*map(str, [*command, rank, *words])], cwd=ROOT / "scripts", env=env)
        for rank in range(run.ranks)
    ]
    codes = [process.wait() for process in processes]
    if any(codes):
        raise SystemExit(f"{run.name}: a rank failed; see above")
    accuracy = json.loads((folder / "accuracy.json").read_text())["accuracy"]
    return {"accuracy": round(accuracy, 2), "batch": BATCH, "tests": [[iterations, accuracy]]}


def make_arrays(data: Path) -> None:
    """The records of both databases as NumPy's files, which PyTorch's environment can read."""
    if (data / "labels.npy").exists():
        return
    images, labels = [], []
    for name, count in SETS.items():
        records = open_source(str(data / name), DataParameter.LMDB)
        for _ in range(count):
            pixels, label, _ = parse_record(records.view()[1])
            images.append(pixels.astype(np.uint8))
            labels.append(label)
    np.save(data / "images.npy", np.stack(images))
    training = images[: SETS["cifar10_train_lmdb"]]
    np.save(data / "mean.npy", np.mean(training, 0, dtype=np.float64).astype(np.float32))
    np.save(data / "labels.npy", np.array(labels))


# -- the page --------------------------------------------------------------------------------------


def write(found: dict[str, Any]) -> None:
    """The table of docs/convergence.md, and its chart."""
    done = {run: found["runs"][run.name] for run in runs() if run.name in found["runs"]}
    one = done[Run(1)]["accuracy"]
    lines = ["| run | joint batch | accuracy | against one rank |", "|---|---|---|---|"]
    for run, result in done.items():
        accuracy, batch = result["accuracy"], f"{result['batch']}"
        if accuracy is None:
            lines.append(f"| {run.name} | {batch} | the loss became NaN | |")
            continue
        missed = "" if abs(accuracy - one) <= POINT or run.ranks == 1 else ": beyond a point"
        difference = "" if run == Run(1) else f"{accuracy - one:+.2f}{missed}"
        lines.append(f"| {run.name} | {batch} | {accuracy:.2f} % | {difference} |")
    missing = [run.name for run in runs() if run not in done]
    text = "\n".join(lines)
    if missing:
        text += f"\n\nNot run yet: {'; '.join(missing)}."
    head = f"Every run sees {found['iterations']:,} batches of {BATCH} images."
    source_line = source(SCRIPT, list(done.values()))
    chart = f"![accuracy of every run]({CHART.name})"
    put(PAGE, f"{SCRIPT} --write", f"{head}\n\n{text}\n\n{chart}\n\n{source_line}")
    draw(done, one, found["iterations"])


def draw(done: dict[Run, dict[str, Any]], one: float, iterations: int) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 1 + 0.26 * len(done)), layout="constrained")
    axes.axvspan(one - POINT, one + POINT, color="#dfe7f1", label="one rank, and a point around")
    axes.axvline(one, color="#3b6fb6", lw=1)
    names = [run.name for run in done][::-1]
    least = one - SHOWN
    for y, run in enumerate(reversed(done)):
        accuracy = done[run]["accuracy"]
        colour = "#c0703a" if run.comm in PEERS else "#3b6fb6"
        at = max(accuracy or 0.0, least)
        text = "no number" if accuracy is None else f"{accuracy:.1f}"
        axes.plot(at, y, "<" if at == least else "o", color=colour, ms=5)
        axes.annotate(text, (at, y), (6, -3), textcoords="offset points", fontsize=8)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_xlabel(f"accuracy on the test set, %, after {iterations:,} batches of {BATCH} images")
    axes.legend(loc="upper left", fontsize=8)
    axes.margins(x=0.12)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(CHART, dpi=130)
    pyplot.close(figure)


# -- main ------------------------------------------------------------------------------------------


def main() -> None:
    args = _parser().parse_args()
    found: dict[str, Any] = json.loads(args.json.read_text()) if args.json.exists() else {}
    iterations = args.iterations or found.get("iterations", 5000)
    if found and iterations != found["iterations"]:
        raise SystemExit(f"{args.json} has runs of {found['iterations']} iterations; take another")
    found = {"iterations": iterations, "runs": found.get("runs", {})}
    if args.list:
        print(*(f"{run.name}: {found['runs'].get(run.name, '-')}" for run in runs()), sep="\n")
        return
    if args.write:
        write(found)
        return
    if args.data is None:
        raise SystemExit("--data: the folder with cifar10_train_lmdb and cifar10_test_lmdb")
    data = args.data.resolve()
    make_mean(data)
    for run in runs():
        peer = run.comm in PEERS
        if args.only not in run.name or run.name in found["runs"] or (peer and not args.torch):
            continue
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            if peer:
                result = train_torch(run, data, iterations, folder, args.torch)
            else:
                result = train(run, data, iterations, folder)
        found["runs"][run.name] = result | {"machine": machine(), **stamp()}
        args.json.write_text(json.dumps(found, indent=1) + "\n")
        print(f"{run.name}: {result['accuracy']} %", flush=True)


def _parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--data", type=Path, metavar="DIR", help="with the two databases")
    p.add_argument("--json", type=Path, default=JSON, metavar="FILE", help="what was done")
    p.add_argument("--iterations", type=int, metavar="N", help="of 100 images (default: 5000)")
    p.add_argument("--only", default="", metavar="WORD", help="runs with it in their names")
    p.add_argument("--torch", type=Path, metavar="ENV", help="PyTorch's environment: DDP, too")
    p.add_argument("--write", action="store_true", help="the page and its chart, from the JSON")
    p.add_argument("--list", action="store_true", help="the runs, and what is done")
    return p


if __name__ == "__main__":
    main()
