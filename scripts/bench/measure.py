"""The measurements: both sides in turn, each alone on the machine while it runs."""

from __future__ import annotations

import math
import os
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.cases import TINY, Case
from bench.wire import Worker

PHASES = ("train", "test")
MOST_STEPS = 200  # in one turn
SMALL_BATCH = 2  # for --check
CHECK_RATE, CHECK_STEPS = 1e-4, 2  # the second has momentum
SINGLE, DOUBLE = 1e-4, 1e-7  # the differences that rounding explains


@dataclass(frozen=True)
class Sides:
    """How the two workers are started, and how long each works at a time."""

    our_python: Path
    engine: str
    torch_python: Path
    torch_options: str
    rounds: int
    turn: float  # seconds

    def ours(self, threads: int) -> Worker:
        return Worker(self.our_python, "ours", threads, self.engine)

    def torch(self, threads: int) -> Worker:
        options = [self.torch_options] if self.torch_options else []
        return Worker(self.torch_python, "torch_side", threads, *options)

    @contextmanager
    def both(self, threads: int) -> Iterator[tuple[Worker, Worker]]:
        with ExitStack() as stack:
            yield stack.enter_context(self.ours(threads)), stack.enter_context(self.torch(threads))


def peak(sides: Sides, threads: int) -> dict[str, Any]:
    """SGEMM of this machine: the better of NumPy's BLAS and PyTorch's."""
    with sides.both(threads) as (ours, torch):
        found = {"numpy": ours.ask("gemm")["gflops"], "torch": torch.ask("gemm")["gflops"]}
    return found | {"best": max(found.values())}


def prepare(ours: Worker, torch: Worker, case: Case, phase: str, **options: Any) -> dict[str, Any]:
    """The same net with the same parameters on both sides."""
    with tempfile.TemporaryDirectory() as folder:
        common = {"net": case.name, "batch": case.batch, "phase": phase, **options}
        common["weights"] = str(Path(folder) / "weights.npz")
        net = ours.ask("prepare", **common)
        shapes = torch.ask("prepare", **common)["shapes"]
    if net["shapes"] != shapes:
        raise SystemExit(
            f"{case.name}: the parameters differ: {net['shapes']} here, {shapes} there"
        )
    return net


def timing(sides: Sides, case: Case, threads: int, peak_gflops: float) -> Iterator[dict[str, Any]]:
    """Training step and TEST forward: medians, quartiles and rates of both sides, and the ratio."""
    for phase in PHASES:
        load = round(os.getloadavg()[0], 2)  # what others do: on a quiet machine, next to nothing
        with sides.both(threads) as pair:
            net = prepare(*pair, case, phase)
            rounds = interleaved(pair, sides.rounds, sides.turn)
        ratios = sorted(
            statistics.median(there) / statistics.median(here) for here, there in rounds
        )
        ours, torch = (
            summary([s for round_ in rounds for s in round_[i]], case, net["flops"], peak_gflops)
            for i in range(2)
        )
        yield {
            "net": case.name,
            "batch": case.batch,
            "phase": phase,
            "threads": threads,
            "load": load,
            "parameters": sum(int(np.prod(shape)) for shape in net["shapes"]),
            "gflop": net["flops"] / 1e9,
            "ours": ours,
            "torch": torch,
            "ratio": torch["ms"] / ours["ms"],
            "ratio_low": ratios[0],
            "ratio_high": ratios[-1],
        }


def interleaved(
    pair: tuple[Worker, Worker], rounds: int, turn: float
) -> list[tuple[list[float], list[float]]]:
    """Seconds of the steps of each round, ours and theirs; who begins alternates."""
    counts = []
    for worker in pair:
        worker.run(2)
        counts.append(min(MOST_STEPS, max(1, round(turn / min(worker.run(2))))))
    found = []
    for i in range(rounds):
        order = (0, 1) if i % 2 == 0 else (1, 0)
        done = {side: pair[side].run(counts[side]) for side in order}
        found.append((done[0], done[1]))
    return found


def summary(seconds: list[float], case: Case, flops: int, peak_gflops: float) -> dict[str, Any]:
    low, middle, high = np.percentile(seconds, (25, 50, 75))
    rate = flops / middle / 1e9
    return {
        "ms": middle * 1e3,
        "ms_25": low * 1e3,
        "ms_75": high * 1e3,
        "steps": len(seconds),
        "images_per_s": case.batch / middle,
        "gflops": rate,
        "of_peak": rate / peak_gflops,
    }


def peak_memory(sides: Sides, case: Case, threads: int) -> dict[str, Any]:
    """The most memory that three training steps take, and what of it was there before the net."""
    found: dict[str, Any] = {"net": case.name, "batch": case.batch, "threads": threads}
    for name, start in (("ours", sides.ours), ("torch", sides.torch)):
        with start(threads) as worker:
            before = worker.ask("memory")["VmRSS"]
            worker.ask("prepare", net=case.name, batch=case.batch, phase="train")
            worker.run(3)
            found[name] = {"peak": worker.ask("memory")["VmHWM"], "before": before}
    return found | {"ratio": found["ours"]["peak"] / found["torch"]["peak"]}


def python_time(sides: Sides, lenet: Case) -> dict[str, Any]:
    """Milliseconds of lenet's step at batch 1, whole, and with next to nothing left to compute.

    The second is the step of a net of the same layers on 16 x 16 pixels with one channel each: all
    calls are still made, the largest multiplies 3,600 numbers.  What remains is Python and the way
    into and out of native code: an upper bound of the time spent in Python.
    """
    found: dict[str, Any] = {"threads": 1}
    with sides.both(1) as pair:
        for name, case in (("whole", lenet.with_batch(1)), ("empty", TINY)):
            prepare(*pair, case, "train")
            rounds = interleaved(pair, sides.rounds, sides.turn)
            for i, side in enumerate(("ours", "torch")):
                steps = [s for round_ in rounds for s in round_[i]]
                found.setdefault(side, {})[f"{name}_ms"] = statistics.median(steps) * 1e3
    return found


def denormals(sides: Sides, case: Case, threads: int) -> dict[str, Any]:
    """A training step on a batch that is known by heart, and on a new one, in turn."""
    found: dict[str, Any] = {"net": case.name, "batch": case.batch, "threads": threads}
    with sides.both(threads) as pair:
        prepare(*pair, case, "train")
        seconds: dict[bool, list[list[float]]] = {False: [[], []], True: [[], []]}
        for _ in range(sides.rounds):
            for known, spent in seconds.items():
                for worker in pair:
                    worker.ask("learn", known=known)
                for ours, torch in interleaved(pair, 1, sides.turn):
                    spent[0] += ours
                    spent[1] += torch
    for i, side in enumerate(("ours", "torch")):
        new, learnt = (statistics.median(seconds[known][i]) * 1e3 for known in (False, True))
        found[side] = {"new_ms": new, "learnt_ms": learnt, "slower": learnt / new}
    return found


def check(sides: Sides, case: Case, threads: int) -> dict[str, Any]:
    """Whether the two nets are one: relative differences of outputs, gradients and updates.

    Gradients are compared in double precision (and by the NumPy engine): in single precision a
    value within rounding of a ReLU's edge goes another way on each side, and so does all below.
    ``single`` is the difference of the outputs as they are when timed, by the engine asked for.
    """
    small = case.with_batch(SMALL_BATCH)
    found: dict[str, Any] = {"net": case.name, "batch": small.batch}
    with sides.both(threads) as pair:
        for phase in PHASES:
            single = results(pair, small, phase, double=False)["output"]
            apart = results(pair, small, phase, double=True)
            found[phase] = {"single": single, **apart}
    found["good"] = all(
        value < (SINGLE if what == "single" else DOUBLE)
        for phase in PHASES
        for what, value in found[phase].items()
    )
    return found


def results(pair: tuple[Worker, Worker], case: Case, phase: str, double: bool) -> dict[str, float]:
    """How far apart the sides are in each kind of result; the worst of each kind."""
    with tempfile.TemporaryDirectory() as folder:
        prepare(*pair, case, phase, dropout=False, double=double)
        files = [Path(folder) / f"{i}.npz" for i in range(2)]
        for worker, path in zip(pair, files, strict=True):
            worker.ask("check", path=str(path), rate=CHECK_RATE, steps=CHECK_STEPS)
        with np.load(files[0]) as ours, np.load(files[1]) as torch:
            return {
                kind: apart([(ours[name], torch[name]) for name in names])
                for kind in ("output", "gradient", "update")
                if (names := [name for name in torch.files if name.startswith(kind)])
            }


def apart(pairs: list[tuple[np.ndarray, np.ndarray]]) -> float:
    """The largest ‖a − b‖ / max(‖b‖, 10⁻⁶ of all b together).

    Gradients of biases in front of a BatchNorm are nothing but rounding: hence the least.
    """
    norms = [float(np.linalg.norm(b)) for _, b in pairs]
    least = 1e-6 * math.hypot(*norms)
    return max(
        float(np.linalg.norm(a - b)) / max(norm, least)
        for (a, b), norm in zip(pairs, norms, strict=True)
    )
