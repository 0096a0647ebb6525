"""Ranks on emulated nodes against PyTorch DDP, and against ranks that do not communicate.

python scripts/bench_cluster.py                            (all cases: about an hour)
python scripts/bench_cluster.py --cases alexnet,googlenet
python scripts/bench_cluster.py --cases lenet --quick      (does it run?)
python scripts/bench_cluster.py --cases alexnet --modes alone,auto,ddp
python scripts/bench_cluster.py --predict --page docs/scaling.md     (against pcd simulate)

Nodes are network namespaces with shaped links (bench/netlab.py; root is needed).  All ways of
training of a case take turns, round by round; each rank has one thread, and one core of its own if
there are enough.  Exposed communication is the step less the step of the same ranks without any;
waited is the part of it in which our main thread stood still.  MB are what left a node's interface
in a step.

With --predict the cases are those of bench/cluster_predict.py, and steps are compared with those
that `pcd simulate` expects.  Their figures are added to --json (docs/scaling_measured.json), so
that a run that was ended continues with the next one.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from bench.cluster_cases import CASES, mode_names
from bench.cluster_chart import draw
from bench.cluster_measure import Options, measure, table
from bench.cluster_predict import PREDICTED, SCRIPT, page, predict
from bench.environment import FOLDER, machine, torch_python
from bench.netlab import why_not
from bench.pages import ROOT, put

PREDICTIONS = ROOT / "docs" / "scaling_measured.json"


def main() -> None:
    args = _parser().parse_args()
    # An exception, so that the lab is taken down and its ranks end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    refused = why_not()
    if refused:
        raise SystemExit(f"no network lab on this machine: {refused}")
    cases = PREDICTED if args.predict else CASES
    names = args.cases.split(",") if args.cases else [n for n, c in cases.items() if c.standard]
    unknown = [name for name in names if name not in cases]
    if unknown:
        raise SystemExit(f"no case {', '.join(unknown)}; there are: {', '.join(cases)}")
    options = Options(
        engine=args.engine,
        torch_python=Path() if args.predict else torch_python(args.torch),
        torch_options=args.torch_options,
        rounds=1 if args.quick else args.rounds,
        turn=0.0 if args.quick else args.turn,
        pin=args.pin,
        trace=args.trace,
    )
    if args.predict:
        text = page(predict(names, options, args.json or PREDICTIONS))
        print(text)
        if args.page:
            put(args.page, SCRIPT, text)
        return
    found = {"machine": machine(), "pinned": args.pin, "results": []}
    for name in names:
        result = measure(CASES[name].only(args.modes), options)
        found["results"].append(result)
        print("\n".join(table(result)), end="\n\n", flush=True)
        if args.json:  # after each case: an hour's work is not lost with the last of them
            args.json.write_text(json.dumps(found, indent=1) + "\n")
    if args.chart:
        draw(found["results"], args.chart)


def _parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    text = f"of: {', '.join(CASES)}; with --predict: {', '.join(PREDICTED)}"
    p.add_argument("--cases", metavar="NAMES", help=text)
    p.add_argument("--predict", action="store_true", help="compare with what is simulated")
    p.add_argument("--page", type=Path, metavar="FILE", help="with --predict: gets the table")
    p.add_argument("--modes", metavar="NAMES", help=f"of: {', '.join(mode_names())}")
    p.add_argument("--quick", action="store_true", help="one round of two steps each")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--turn", type=float, default=15.0, metavar="S", help="seconds of a turn")
    p.add_argument("--engine", default="auto", help="of our side")
    p.add_argument("--torch", type=Path, default=FOLDER, help="PyTorch's environment")
    p.add_argument("--torch-options", default="", metavar="NAMES", help="fused, channels_last")
    text = "a core for each rank, as long as there are enough"
    p.add_argument("--pin", action=argparse.BooleanOptionalAction, default=True, help=text)
    p.add_argument("--json", type=Path, metavar="FILE", help="the figures")
    p.add_argument("--chart", type=Path, metavar="FILE", help="a PNG")
    p.add_argument("--trace", type=Path, metavar="DIR", help="traces of our side's modes")
    return p


if __name__ == "__main__":
    main()
