"""TEST forwards in turn with engines people would pick: OpenVINO, ONNX Runtime, OpenCV, PyTorch.

All run the file that `pcd export` writes of our net, PyTorch its own module with the same weights.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.cases import Case
from bench.measure import MOST_STEPS
from bench.report import COLOURS
from bench.wire import Worker

ONNX_PEERS = ("openvino", "onnxruntime", "opencv")
ALIKE = 1e-3  # of the largest probability: what rounding explains
BF16_ALIKE = 0.2


@dataclass(frozen=True)
class Field:
    """Who takes part, and how long each works at a time."""

    our_python: Path
    engine: str
    peers_python: Path
    rounds: int
    turn: float  # seconds
    precision: str = "f32"

    def ours(self, threads: int) -> Worker:
        more = {"PCD_PRECISION": "fp32" if self.precision == "f32" else self.precision}
        return Worker(self.our_python, "ours", threads, self.engine, more=more)

    def others(self, threads: int) -> Iterator[tuple[str, Worker]]:
        for name in ONNX_PEERS if self.precision == "f32" else ONNX_PEERS[:1]:
            arguments = str(threads), name, self.precision
            yield name, Worker(self.peers_python, "peer_side", threads, *arguments[1:])
        if self.precision == "f32":
            yield "torch", Worker(self.peers_python, "torch_side", threads)


def timing(field: Field, case: Case, threads: int) -> dict[str, Any]:
    """Medians of all, and the best of the others by ours.

    A peer whose output is another than ours does not compute the same net: it is left out.
    """
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        workers = {"ours": stack.enter_context(field.ours(threads))}
        workers |= {n: stack.enter_context(w) for n, w in field.others(threads)}
        differences = _prepare(workers, case, Path(folder))
        limit = ALIKE if field.precision == "f32" else BF16_ALIKE
        for name in [n for n, apart in differences.items() if not apart < limit]:
            print(f"{case.name}: {name} is left out, its output differs by {differences[name]:.1e}")
            del workers[name]
        seconds = _in_turn(workers, field.rounds, field.turn)
    ms = {name: 1e3 * statistics.median(spent) for name, spent in seconds.items()}
    best = min((name for name in ms if name != "ours"), key=lambda name: ms[name])
    return {
        "net": case.name,
        "batch": case.batch,
        "threads": threads,
        "precision": field.precision,
        "ms": ms,
        "least ms": {name: 1e3 * min(spent) for name, spent in seconds.items()},
        "differences": differences,
        "best": best,
        "ratio": ms[best] / ms["ours"],
    }


def _prepare(workers: dict[str, Worker], case: Case, folder: Path) -> dict[str, float]:
    """Give all the same net and batch; how far apart their outputs are."""
    files = {name: str(folder / name) for name in ("weights.npz", "net.onnx", "image.npy")}
    common = {"net": case.name, "batch": case.batch, "phase": "test"}
    workers["ours"].ask("prepare", weights=files["weights.npz"], **common)
    workers["ours"].ask("export", model=files["net.onnx"], image=files["image.npy"])
    outputs = {}
    for name, worker in workers.items():
        if name in ONNX_PEERS:
            worker.ask("load", model=files["net.onnx"], image=files["image.npy"])
        elif name == "torch":
            worker.ask("prepare", weights=files["weights.npz"], **common)
            continue  # compared by --check
        path = str(folder / f"{name}.npy")
        worker.ask("output", path=path)
        outputs[name] = np.load(path).ravel()
    ours = outputs.pop("ours")
    return {n: float(np.abs(o - ours).max() / np.abs(ours).max()) for n, o in outputs.items()}


def _in_turn(workers: dict[str, Worker], rounds: int, turn: float) -> dict[str, list[float]]:
    """Seconds of all steps of each; who begins changes from round to round."""
    counts = {}
    for name, worker in workers.items():
        worker.run(2)
        counts[name] = min(MOST_STEPS, max(1, round(turn / min(worker.run(2)))))
    found: dict[str, list[float]] = {name: [] for name in workers}
    for i in range(rounds):
        names = list(workers)
        for name in names[i % len(names) :] + names[: i % len(names)]:
            found[name] += worker_steps(workers[name], counts[name])
    return found


def worker_steps(worker: Worker, count: int) -> list[float]:
    """One step more than is counted: it brings back what an idle process has lost."""
    return worker.run(1 + count)[1:]


def table(results: Iterable[dict[str, Any]]) -> str:
    names = ("ours", *ONNX_PEERS, "torch")
    rows = [
        "| net (batch) | threads | ours, ms | OpenVINO | ONNX Runtime | OpenCV | PyTorch "
        "| best peer / ours |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for r in results:
        cells = [f"{r['ms'][name]:,.2f}" if name in r["ms"] else "" for name in names]
        cells = [f"{r['net']} ({r['batch']})", str(r["threads"]), *cells, f"{r['ratio']:.2f}"]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def chart(results: list[dict[str, Any]], path: Path, title: str) -> None:
    """For each net and batch, our speed by that of the best of the others."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    threads = sorted({r["threads"] for r in results}, reverse=True)
    labels = list(dict.fromkeys(f"{r['net']} ({r['batch']})" for r in results))
    height = 0.8 / len(threads)
    figure, panel = pyplot.subplots(figsize=(7, 1.5 + 0.4 * len(labels)))
    for j, count in enumerate(threads):
        shown = [r for r in results if r["threads"] == count]
        at = [labels.index(f"{r['net']} ({r['batch']})") + (j - 0.5) * height for r in shown]
        label = f"{count} thread{'s' * (count != 1)}"
        panel.barh(at, [r["ratio"] for r in shown], height, color=COLOURS[j % 2], label=label)
        for place, r in zip(at, shown, strict=True):
            panel.text(r["ratio"], place, f" {r['ratio']:.2f} ({r['best']})", va="center", size=7)
    panel.axvline(1, color="#c0392b", linewidth=1, zorder=0)
    panel.set_yticks(range(len(labels)), labels)
    panel.invert_yaxis()
    panel.margins(x=0.25)
    panel.set_xlabel("TEST forward: speed by the best peer's")
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(frameon=False, fontsize=8)
    figure.suptitle(title, fontsize=9)
    figure.tight_layout()
    figure.savefig(path, dpi=150)
