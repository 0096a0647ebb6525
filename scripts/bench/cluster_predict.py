"""The steps that `pcd simulate` expects beside those that ranks take (bench_cluster.py --predict).

What the simulator is told is measured without any exchange of gradients: what one rank does (each
node's step with no communication, by layers; products and copies of one rank), the test of links,
and how many ranks share a core.  Nothing is fitted to the steps that it predicts.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench.cases import MOMENTUM, WEIGHT_DECAY, find
from bench.cluster_cases import ALONE, AUTO, DWBP, Case
from bench.cluster_measure import FEWEST, MOST, WARM_UP, Options, prepare
from bench.cluster_wire import Ranks, our_ranks
from bench.environment import machine
from bench.netlab import Lab
from bench.ours import description
from bench.pages import source, stamp
from pycaffe_dist.aliases import Facts
from pycaffe_dist.parallel.observe.trace import write_trace
from pycaffe_dist.parallel.simulate import layer_times
from pycaffe_dist.parallel.simulate.hardware import Device, Network
from pycaffe_dist.parallel.simulate.series import SACP, VARIANTS, simulate
from pycaffe_dist.parallel.simulate.series import Case as Simulated
from pycaffe_dist.proto.caffe_pb2 import TRAIN, NetState, SolverParameter
from pycaffe_dist.proto.nets import NetFile
from pycaffe_dist.tools.model import dry_net
from pycaffe_dist.tools.simulate import stated_alone

SCRIPT = "scripts/bench_cluster.py --predict"
BAR = 0.05
MODES = ((DWBP, VARIANTS[1]), (AUTO, SACP))  # how ranks train, and what is simulated
SMALLER = {("vgg19", 4): 4}  # batch: four ranks of 8 do not fit into 24 GB

PREDICTED = {
    case.name: case
    for net in ("cifar10_quick", "googlenet", "alexnet", "vgg19")
    for nodes in (2, 4)
    for gbit in ("1", "2.5")
    for case in [
        Case(
            f"{net}-{nodes}-{gbit}",
            net,
            (ALONE, *(mode for mode, _ in MODES)),
            nodes,
            rate=f"{gbit}gbit",
            batch=SMALLER.get((net, nodes)),
        )
    ]
}


def predict(names: list[str], options: Options, path: Path) -> list[Facts]:
    """Measure the cases that the file at ``path`` does not have yet; all that it has then."""
    found: list[Facts] = json.loads(path.read_text()) if path.exists() else []
    for name in names:
        if any(row["case"] == name for row in found):
            continue
        found += compare(PREDICTED[name], options)
        path.write_text(json.dumps(found, indent=1) + "\n")
    return found


def compare(case: Case, options: Options) -> list[Facts]:
    """A row for each way of training: the step that was predicted, and the one that was taken."""
    with ExitStack() as stack:
        lab = stack.enter_context(Lab(case.nodes, case.rate))
        ranks = stack.enter_context(our_ranks(lab, case.ranks, options.engine, options.pin))
        prepare({"ours": ranks}, case)
        steps = {mode.name: _steps(ranks, mode.settings, options) for mode in case.modes}
        taken = _turn(ranks, None, FEWEST, trace=True)
        rounds = [_round(ranks, case, steps) for _ in range(options.rounds)]
    with tempfile.TemporaryDirectory() as folder:
        trace = str(Path(folder) / "trace.json")
        write_trace(trace, [answer["report"] for answer in taken])
        simulated = [expected(case, one, trace) for one in rounds]
    return [_row(case, mode.name, rounds, simulated) for mode, _ in MODES]


def _steps(ranks: Ranks, settings: dict[str, Any] | None, options: Options) -> int:
    """How many make a turn; the first ones find out how."""
    if not options.turn:
        return FEWEST
    seconds = statistics.mean(_turn(ranks, settings, FEWEST)[0]["seconds"])
    return min(MOST, max(FEWEST, round(options.turn / seconds)))


def _turn(
    ranks: Ranks, settings: dict[str, Any] | None, steps: int, **more: Any
) -> list[dict[str, Any]]:
    return ranks.ask("turn", settings=settings, warm_up=WARM_UP, steps=steps, **more)


def _round(ranks: Ranks, case: Case, steps: dict[str, int]) -> Facts:
    """What is measured in turn: one rank, the links, ranks that are alone, ranks that exchange."""
    found: Facts = {"one": ranks.ask_first("one", steps=FEWEST)}
    links = ranks.ask("links")
    found["links"] = {name: max(answer[name] for answer in links) for name in links[0]}
    for mode in case.modes:
        answers = _turn(ranks, mode.settings, steps[mode.name])
        seconds = [s for answer in answers for s in answer["seconds"]]
        found[mode.name] = statistics.mean(seconds)
        if mode is ALONE:
            found["spread"] = statistics.pstdev(seconds) / found[mode.name]
        said = f"{case.name}: {mode.label} {1e3 * found[mode.name]:,.1f} ms"
        print(said, file=sys.stderr, flush=True)
    return found


def expected(case: Case, measured: Facts, trace: str) -> dict[str, float]:
    """Seconds of a step of each way of training, simulated."""
    net_case = find(case.net, case.images)
    described = description(net_case, "train", net_case.without)
    net = dry_net(NetFile(described, case.net, []), NetState(phase=TRAIN))
    solver = SolverParameter(momentum=MOMENTUM, weight_decay=WEIGHT_DECAY)
    one, links = measured["one"], measured["links"]
    device = Device("here", one["flops"], one["flops"], one["memory"], links["handling"])
    sharing = -(-case.ranks // len(os.sched_getaffinity(0)))
    simulated = Simulated(
        net,
        solver,
        layer_times.of_trace(net, trace),
        device,
        Network(8 / links["beta"], links["alpha"]),
        case.ranks // case.nodes,
        sharing,
        spread=measured["spread"],
    )
    simulated = stated_alone(simulated, measured[ALONE.name] / sharing)
    points = simulate(simulated, [variant for _, variant in MODES], [case.nodes])
    return {mode.name: point.seconds for (mode, _), point in zip(MODES, points, strict=True)}


def _row(case: Case, mode: str, rounds: list[Facts], simulated: list[dict[str, float]]) -> Facts:
    """Medians over the rounds; ratios are taken within a round, as the machine changes between."""

    def ms(values: Iterable[float]) -> float:
        return round(1e3 * statistics.median(values), 1)

    ratios = [s[mode] / one[mode] for s, one in zip(simulated, rounds, strict=True)]
    links = {
        name: statistics.median(one["links"][name] for one in rounds) for name in rounds[0]["links"]
    }
    return {
        "case": case.name,
        "net": case.net,
        "batch": case.images,
        "nodes": case.nodes,
        "rate": case.rate,
        "mode": mode,
        "one_ms": ms(each["one"]["step"] for each in rounds),
        "alone_ms": ms(each[ALONE.name] for each in rounds),
        "predicted_ms": ms(s[mode] for s in simulated),
        "measured_ms": ms(each[mode] for each in rounds),
        "ratio": round(statistics.median(ratios), 3),
        "ratios": [round(ratio, 3) for ratio in ratios],
        "links": links,
        "machine": machine(),
        **stamp(),
    }


def page(found: list[Facts]) -> str:
    """The table for docs/scaling.md."""
    lines = [
        "| net (batch) | nodes | link | one rank, ms | alone, ms | training | predicted, ms "
        "| measured, ms | predicted / measured |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    titles = {mode.name: variant.name for mode, variant in MODES}
    for row in found:
        met = "" if abs(row["ratio"] - 1) <= BAR else ": missed"
        cells = (
            f"{row['net']} ({row['batch']})",
            str(row["nodes"]),
            row["rate"].replace("gbit", " Gbit/s"),
            *(f"{row[name]:,.1f}" for name in ("one_ms", "alone_ms")),
            titles[row["mode"]],
            *(f"{row[name]:,.1f}" for name in ("predicted_ms", "measured_ms")),
            f"{row['ratio']:.2f} ({min(row['ratios']):.2f} to {max(row['ratios']):.2f}){met}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    good = sum(abs(row["ratio"] - 1) <= BAR for row in found)
    cpu = found[0]["machine"]["cpu"]
    return "\n".join(
        [
            *lines,
            "",
            f"{good} of {len(found)} are within {BAR:.0%}. {found[0]['machine']['cores']} cores of "
            f"{cpu}.",
            "",
            source(SCRIPT, found),
        ]
    )
