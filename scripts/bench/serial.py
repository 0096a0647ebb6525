"""What of a training step is serial: our side with one thread and with all, in turn.

Amdahl's law with a serial share s, n threads: Tₙ = T₁ (s + (1 - s)/n).
"""

from __future__ import annotations

import statistics
from contextlib import ExitStack
from typing import Any

from bench.cases import Case
from bench.measure import Sides, interleaved

MANY = 64  # cores for which the law is read


def serial_share(one: float, many: float, threads: int) -> float:
    """s of the law, from the times with one thread and with ``threads``; 0 to 1."""
    return min(1.0, max(0.0, (many / one - 1 / threads) / (1 - 1 / threads)))


def speedup(share: float, threads: int) -> float:
    return 1 / (share + (1 - share) / threads)


def timing(sides: Sides, case: Case, threads: int) -> dict[str, Any]:
    """The medians of a training step, and what the law makes of them."""
    with ExitStack() as stack:
        alone, together = (stack.enter_context(sides.ours(n)) for n in (1, threads))
        for worker in (alone, together):
            worker.ask("prepare", net=case.name, batch=case.batch, phase="train")
        rounds = interleaved((alone, together), sides.rounds, sides.turn)
    one, many = (statistics.median(s for r in rounds for s in r[i]) for i in (0, 1))
    share = serial_share(one, many, threads)
    return {
        "net": case.name,
        "batch": case.batch,
        "threads": threads,
        "ms_1": one * 1e3,
        "ms": many * 1e3,
        "serial": share,
        "limit": speedup(share, MANY),
    }


def heading(threads: int) -> str:
    cells = f"| net (batch) | 1 thread, ms | {threads} threads, ms | serial share "
    return f"{cells}| speedup with {MANY} cores, at most |\n|---|---|---|---|---|"


def row(r: dict[str, Any]) -> str:
    times = f"{r['ms_1']:,.1f} | {r['ms']:,.1f}"
    return f"| {r['net']} ({r['batch']}) | {times} | {r['serial']:.1%} | {r['limit']:.1f} |"
