"""Is what was measured in the first process as fast in later ones, and is it the fastest?

    make bench
    python scripts/bench_choice.py                                # all nets, training and TEST
    python scripts/bench_choice.py --nets lenet vgg16 --threads 2 --quick
    python scripts/bench_choice.py --busy                         # beside two busy loops

For each net three processes run in turns after a fresh cache: "cold" chose by measuring, "warm"
and "warm2" remember.  Beside them runs one whose cache was made by an exhaustive search (every
candidate at length), and each single candidate, forced wherever it is offered.  Good: warm within
5 % of cold, and both within 5 % of the best of the others.  The two warm processes do the same work
with the same implementations: where they differ by more than 5 % the machine is not quiet enough,
and what is not good is called unclear.

With --busy our ratio to PyTorch is measured on the quiet machine and, with a fresh cache again,
beside two busy loops; good if the second is at least 0.9 of the first.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from bench import environment, measure
from bench.cases import CASES, Case
from bench.wire import Worker

ROOT = Path(__file__).resolve().parent.parent
ALIKE = 1.05  # times: as fast
BUSY = 0.9  # of the quiet ratio to PyTorch


def arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cores = len(os.sched_getaffinity(0))
    add = options.add_argument
    add("--nets", nargs="+", choices=list(CASES), default=list(CASES), metavar="NET")
    add("--phases", nargs="+", choices=measure.PHASES, default=list(measure.PHASES))
    add("--threads", nargs="+", type=int, default=sorted({1, cores}, reverse=True))
    add("--rounds", type=int, default=7, help="turns of each process")
    add("--turn", type=float, default=0.7, help="seconds of a turn, if a step is not longer")
    add("--quick", action="store_true", help="5 turns of 0.2 s, no exhaustive search")
    add("--busy", action="store_true", help="the ratio to PyTorch beside two busy loops instead")
    add("--output", type=Path, default=ROOT / "runs" / "choice_bench.json")
    args = options.parse_args()
    if args.quick:
        args.rounds, args.turn = 5, 0.2
    return args


def main() -> int:
    args = arguments()
    compare = busy_ratio if args.busy else cold_and_warm
    found = []
    for name in args.nets:
        for phase in args.phases:
            for threads in args.threads:
                result = {"net": name, "phase": phase, "threads": threads}
                result |= compare(CASES[name], phase, threads, args)
                found.append(result)
                print(line(result), flush=True)
                args.output.parent.mkdir(parents=True, exist_ok=True)
                about = {"machine": environment.machine(), "results": found}
                args.output.write_text(json.dumps(about, indent=1) + "\n")
    verdicts = Counter(result["verdict"] for result in found)
    print(", ".join(f"{n} {verdict}" for verdict, n in verdicts.items()) + f"; {args.output}")
    return 1 if verdicts["bad"] else 0


def line(result: dict[str, Any]) -> str:
    head = f"{result['net']:15s} {result['phase']:5s} {result['threads']} threads: "
    parts = [f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}" for k, v in result.items()]
    return head + ", ".join(parts[3:])


# -- cold, warm and the best there is --------------------------------------------------------------


def cold_and_warm(case: Case, phase: str, threads: int, args: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as cache, ExitStack() as stack:
        chosen = {}

        def start(name: str, folder: str) -> Worker:
            worker = stack.enter_context(ours(threads, f"{cache}/{folder}"))
            worker.ask("prepare", net=case.name, batch=case.batch, phase=phase)
            chosen[name] = worker.ask("remember")["choices"]
            return worker

        workers = {name: start(name, "own") for name in ("cold", "warm", "warm2")}
        singles = workers["cold"].ask("offered")["names"]
        if not args.quick:
            with ours(threads, f"{cache}/exhaustive") as searching:
                searching.ask("prepare", net=case.name, batch=case.batch, phase=phase)
                searching.ask("exhaust")
            workers["exhaustive"] = start("exhaustive", "exhaustive")
        seconds = in_turns(workers, args)
        best = "exhaustive" if "exhaustive" in seconds else "cold"
        for name in singles:
            with ours(threads, f"{cache}/none") as forced:
                forced.ask("force", name=name)
                forced.ask("prepare", net=case.name, batch=case.batch, phase=phase)
                trial = {"cold": workers["cold"], name: forced}
                pair = in_turns(trial, args, rounds=3)
                seconds[name] = pair[name] / pair["cold"] * seconds["cold"]
            best = min(best, name, key=lambda n: seconds[n])
    pair = sorted((seconds["warm"], seconds["warm2"]))
    figures = {
        "warm / cold": pair[1] / seconds["cold"],
        "cold / best": seconds["cold"] / seconds[best],
        "warm / best": pair[1] / seconds[best],
    }
    return {
        **{f"{name} ms": 1e3 * seconds[name] for name in workers},
        "best": best,
        **figures,
        "same choices": chosen["cold"] == chosen["warm"] == chosen["warm2"],
        "noise": pair[1] / pair[0],
        "verdict": verdict(max(figures.values()) <= ALIKE, pair[1] / pair[0]),
    }


def verdict(good: bool, noise: float) -> str:
    """``noise``: how much longer the same work took elsewhere at the same time."""
    return "good" if good else "unclear" if noise > ALIKE else "bad"


def ours(threads: int, cache: str) -> Worker:
    more = {"PCD_CACHE": cache}
    return Worker(Path(sys.executable), "ours", threads, "onednn", more=more)


def in_turns(
    workers: dict[str, Worker], args: argparse.Namespace, rounds: int = 0
) -> dict[str, float]:
    """Seconds of a step of each: the fastest of all turns, each of which begins with a step more.

    That one brings back what an idle process has lost: caches, and on some machines its pages.
    """
    counts = {}
    for name, worker in workers.items():
        worker.run(2)
        counts[name] = min(measure.MOST_STEPS, max(1, round(args.turn / min(worker.run(1)))))
    turns: dict[str, list[float]] = {name: [] for name in workers}
    for i in range(rounds or args.rounds):
        names = list(workers)
        for name in names if i % 2 == 0 else reversed(names):
            turns[name].append(min(workers[name].run(1 + counts[name])[1:]))
    return {name: min(seconds) for name, seconds in turns.items()}


# -- beside busy loops -----------------------------------------------------------------------------


def busy_ratio(case: Case, phase: str, threads: int, args: argparse.Namespace) -> dict[str, Any]:
    quiet = ratio(case, phase, threads, args)
    with busy_loops(2):
        busy = ratio(case, phase, threads, args)
    return {
        "quiet ms": quiet[0],
        "quiet ratio": quiet[1],
        "busy ms": busy[0],
        "busy ratio": busy[1],
        "busy / quiet": busy[1] / quiet[1],
        "verdict": verdict(busy[1] >= BUSY * quiet[1], noise=1.0),
    }


def ratio(case: Case, phase: str, threads: int, args: argparse.Namespace) -> tuple[float, float]:
    """Our milliseconds a step, and PyTorch's time by ours: of all steps, not of the fastest."""
    python = environment.torch_python(environment.FOLDER)
    with tempfile.TemporaryDirectory() as cache, ExitStack() as stack:
        pair = (
            stack.enter_context(ours(threads, cache)),
            stack.enter_context(Worker(python, "torch_side", threads)),
        )
        measure.prepare(*pair, case, phase)
        rounds = measure.interleaved(pair, args.rounds, args.turn)
        here, there = (
            statistics.mean(s for round_ in rounds for s in round_[side]) for side in range(2)
        )
    return here * 1e3, there / here


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


if __name__ == "__main__":
    sys.exit(main())
