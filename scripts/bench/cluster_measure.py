"""A case of the cluster benchmark: its ways of training in turn, each alone on the machine."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.cluster_cases import ALONE, Case, Mode
from bench.cluster_wire import Ranks, our_ranks, torch_ranks
from bench.netlab import Lab
from pycaffe_dist.parallel.observe.trace import write_trace

WARM_UP = 3  # DDP sorts its buckets anew after the first step
FEWEST, MOST = 2, 100  # steps of a turn
# What a mode is compared with: (name of the ratio, mode, other mode).
RATIOS = (
    ("of_alone", "auto", "alone"),
    ("to_ddp", "auto", "ddp"),
    ("fp16_to_ddp_fp16", "auto_fp16", "ddp_fp16"),
    ("dwbp_to_dense", "dwbp", "dense"),
    ("sacp_to_dwbp", "auto", "dwbp"),
    ("ddp_of_alone", "ddp", "torch_alone"),
    ("alone_to_torch", "alone", "torch_alone"),
    ("s3_to_s0", "s3", "s0"),
)


@dataclass(frozen=True)
class Options:
    """How measuring goes."""

    engine: str
    torch_python: Path
    torch_options: str
    rounds: int
    turn: float  # seconds
    pin: bool
    trace: Path | None = None


@dataclass(frozen=True)
class Turn:
    """What the ranks said after a turn; lists are by rank."""

    steps: int
    seconds: list[float]  # of a step, on average
    waited: list[float]  # of a step, in which the main thread stood still for others; ours only
    sent: float  # bytes of a node in a step, at its interface

    def images_per_s(self, case: Case) -> float:
        return sum(case.images / s for s in self.seconds)


def measure(case: Case, options: Options) -> dict[str, Any]:
    """Images/s, step, exposed communication and bytes of every mode, and their ratios."""
    with ExitStack() as stack:
        lab = stack.enter_context(Lab(case.nodes, case.rate))
        sides: dict[str, Ranks] = {}
        for side in dict.fromkeys(mode.side for mode in case.modes):
            if side == "ours":
                ranks = our_ranks(lab, case.ranks, options.engine, options.pin)
            else:
                python = options.torch_python
                ranks = torch_ranks(lab, case.ranks, python, options.torch_options, options.pin)
            sides[side] = stack.enter_context(ranks)
        about = prepare(sides, case)
        runner = _Runner(sides, case, options)
        turns: dict[str, list[Turn]] = {mode.name: [] for mode in case.modes}
        for number in range(options.rounds):
            order = case.modes[number % len(case.modes) :] + case.modes[: number % len(case.modes)]
            for mode in order:
                turns[mode.name].append(runner.turn(mode))
        if options.trace:
            runner.trace(options.trace)
    return about | {"plans": runner.plans, **summary(case, turns)}


def prepare(sides: dict[str, Ranks], case: Case) -> dict[str, Any]:
    """The same net with the same batch on every rank."""
    found = {}
    for name, ranks in sides.items():
        about = ranks.ask("about")[0]
        shapes = ranks.ask("prepare", net=case.net, batch=case.images, phase="train")[0]["shapes"]
        found[name] = about | {"shapes": shapes}
    shapes = {name: about.pop("shapes") for name, about in found.items()}
    if len({str(s) for s in shapes.values()}) > 1:
        raise SystemExit(f"{case.net}: the parameters differ: {shapes}")
    return {
        "case": case.name,
        "title": case.title,
        "net": case.net,
        "batch": case.images,
        "nodes": case.nodes,
        "ranks": case.ranks,
        "rate": case.rate,
        "sides": found,
    }


class _Runner:
    """Lets one mode at a time train; how long a turn is, it finds out by a first short one."""

    def __init__(self, sides: dict[str, Ranks], case: Case, options: Options) -> None:
        self.sides, self.case, self.options = sides, case, options
        self.plans: dict[str, Any] = {}
        self._steps: dict[str, int] = {}
        self._normal = 0.0
        if any(mode.slow > 1 for mode in case.modes):
            self._normal = statistics.mean(self._run(ALONE, MOST // 4).seconds)
        for mode in case.modes:
            seconds = max(self._run(mode, FEWEST).seconds) if options.turn else 1.0
            self._steps[mode.name] = min(MOST, max(FEWEST, round(options.turn / seconds)))

    def turn(self, mode: Mode) -> Turn:
        made = self._run(mode, self._steps[mode.name])
        said = f"{self.case.name}: {mode.label} {made.images_per_s(self.case):.2f} images/s"
        print(said, file=sys.stderr, flush=True)
        return made

    def _run(self, mode: Mode, steps: int) -> Turn:
        answers = self._ask(mode, steps)
        self.plans[mode.name] = answers[0].get("plan")
        each = self.case.ranks // self.case.nodes
        return Turn(
            steps,
            [sum(a["seconds"]) / steps for a in answers],
            [a["waited"] / steps for a in answers if "waited" in a],
            statistics.mean(a["sent"] for a in answers[::each]) / steps,
        )

    def _ask(self, mode: Mode, steps: int, **more: Any) -> list[dict[str, Any]]:
        if mode.side == "ours":
            more |= {"slow": mode.slow, "normal": self._normal, "away": mode.away}
        ranks = self.sides[mode.side]
        return ranks.ask("turn", settings=mode.settings, warm_up=WARM_UP, steps=steps, **more)

    def trace(self, folder: Path) -> None:
        """Few steps of each of our modes, for ui.perfetto.dev."""
        folder.mkdir(parents=True, exist_ok=True)
        for mode in self.case.modes:
            if mode.side == "ours":
                answers = self._ask(mode, FEWEST, trace=True)
                path = folder / f"{self.case.name}-{mode.name}.json"
                write_trace(str(path), [answer["report"] for answer in answers])


def summary(case: Case, turns: dict[str, list[Turn]]) -> dict[str, Any]:
    """Medians over the rounds; ratios are taken within a round, as the machine changes between."""
    rates = {name: [t.images_per_s(case) for t in made] for name, made in turns.items()}
    modes = {}
    for mode in case.modes:
        made, alone = turns[mode.name], turns.get("alone" if mode.side == "ours" else "torch_alone")
        steps = [statistics.mean(t.seconds) for t in made]
        modes[mode.name] = {
            "label": mode.label,
            "images_per_s": statistics.median(rates[mode.name]),
            "low": min(rates[mode.name]),
            "high": max(rates[mode.name]),
            "steps": sum(t.steps for t in made),
            "step_ms": 1e3 * statistics.median(steps),
            "mb": statistics.median(t.sent for t in made) / 1e6,
        }
        if mode.settings is not None and alone and mode.slow == 1:
            exposed = [s - statistics.mean(a.seconds) for s, a in zip(steps, alone, strict=True)]
            shares = [e / s for e, s in zip(exposed, steps, strict=True)]
            modes[mode.name]["exposed_ms"] = 1e3 * statistics.median(exposed)
            modes[mode.name]["exposed"] = statistics.median(shares)
        if mode.settings is not None and mode.side == "ours":
            waited = [statistics.mean(t.waited) for t in made]
            modes[mode.name]["waited_ms"] = 1e3 * statistics.median(waited)
            shares = [w / s for w, s in zip(waited, steps, strict=True)]
            modes[mode.name]["waited"] = statistics.median(shares)
    ratios = {
        name: statistics.median(a / b for a, b in zip(rates[one], rates[other], strict=True))
        for name, one, other in RATIOS
        if one in rates and other in rates
    }
    return {"modes": modes, "ratios": ratios}


def table(result: dict[str, Any]) -> Sequence[str]:
    """A result for people."""
    head = f"{'':32}{'images/s':>10}{'step ms':>10}{'exposed':>9}{'ms':>8}{'waited':>9}{'MB':>8}"
    lines = [result["title"], head]
    for mode in result["modes"].values():
        line = f"{mode['label']:32}{mode['images_per_s']:10.2f}{mode['step_ms']:10.1f}"
        line += f"{100 * mode['exposed']:7.1f} %" if "exposed" in mode else " " * 9
        line += f"{mode['exposed_ms']:8.1f}" if "exposed_ms" in mode else " " * 8
        line += f"{100 * mode['waited']:7.1f} %" if "waited" in mode else " " * 9
        lines.append(line + f"{mode['mb']:8.2f}")
    return [*lines, ", ".join(f"{name} {value:.2f}" for name, value in result["ratios"].items())]
