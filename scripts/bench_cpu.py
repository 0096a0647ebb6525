"""Training steps and TEST forwards on the CPU, against PyTorch, in turn within one run.

    make bench
    python scripts/bench_cpu.py                                  # all nets, 2 threads and 1
    python scripts/bench_cpu.py --nets lenet vgg16 --threads 2 --quick
    python scripts/bench_cpu.py --check                          # are the nets of both sides one?
    python scripts/bench_cpu.py --peak-memory googlenet 32
    python scripts/bench_cpu.py --python-time --denormals
    python scripts/bench_cpu.py --peers                          # TEST, also at batch 1
    python scripts/bench_cpu.py --serial                         # what more cores would bring
    python scripts/bench_cpu.py --everything --output docs/cpu_bench.json

Each side is a process that runs while the other idles.  Both have the same net, parameters, batch
and update (SGD, momentum 0.9, weight decay 0.0005).  PyTorch lives in an environment of its own,
which the first run makes.  With --peers TEST forwards run in turn with OpenVINO, ONNX Runtime,
OpenCV and PyTorch, at the net's batch and at batch 1.  Results go to a JSON file, timings to a
chart beside it (extra `plot`).
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from bench import environment, measure, peers, report, serial
from bench.cases import CASES

ROOT = Path(__file__).resolve().parent.parent
DEFAULT = ROOT / "runs" / "cpu_bench.json"


def arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cores = len(os.sched_getaffinity(0))
    add = options.add_argument
    add("--engine", default="auto", help="ours: auto, numpy, onednn")
    add("--nets", nargs="+", choices=list(CASES), default=list(CASES), metavar="NET")
    add("--threads", nargs="+", type=int, default=sorted({1, cores}, reverse=True))
    add("--repeats", type=int, default=7, help="turns of each side")
    add("--turn", type=float, default=1.0, help="seconds of a turn, if a step is not longer")
    add("--quick", action="store_true", help="3 turns of 0.3 s")
    add("--output", type=Path, default=DEFAULT)
    add("--append", action="store_true", help="keep the other results that the file has")
    add("--venv", type=Path, help="PyTorch's environment, or that of the peers")
    add("--torch-options", default="", help="of fused,channels_last; eager as it comes if empty")
    add("--peers", action="store_true", help="TEST against OpenVINO, ONNX Runtime, OpenCV, PyTorch")
    text = "of --peers: all in fp32, or OpenVINO and ours in bf16"
    add("--precision", choices=("f32", "bf16"), default="f32", help=text)
    add("--batches", nargs="+", type=int, help="of --peers; the net's own and 1 if not given")
    text = "our training step with one thread and with the most of --threads: the serial share"
    add("--serial", action="store_true", help=text)
    add("--check", action="store_true", help="compare outputs, gradients and updates")
    add("--peak-memory", nargs=2, metavar=("NET", "BATCH"))
    add("--python-time", action="store_true", help="of a training step of lenet at batch 1")
    add("--denormals", action="store_true", help="a training step on a batch already learnt")
    add("--everything", action="store_true", help="all of these, and the timings")
    args = options.parse_args()
    if args.quick:
        args.repeats, args.turn = 3, 0.3
    if args.everything:
        args.check = args.python_time = args.denormals = True
        args.peak_memory = args.peak_memory or ("googlenet", "32")
    if args.peak_memory and args.peak_memory[0] not in CASES:
        options.error(f"--peak-memory: {args.peak_memory[0]!r} is not one of {', '.join(CASES)}")
    if args.serial and max(args.threads) < 2:
        options.error("--serial compares one thread with more: give --threads 2 or more")
    asked = (args.check, args.peak_memory, args.python_time, args.denormals)
    args.timings = args.everything or not any(asked)
    return args


class Results:
    """The JSON file, written after every result: what was measured is not lost with the rest."""

    def __init__(self, path: Path, about: dict[str, Any], append: bool) -> None:
        self.path = path
        kept = json.loads(path.read_text()) if append and path.exists() else {}
        before = kept.get("about", about)
        for side in ("ours", "torch"):  # one heading tells of all results
            if before[side] != about[side]:
                raise SystemExit(f"--append: {path} is of {before[side]}, this is {about[side]}")
        self.all: dict[str, Any] = {**kept, "about": {**about, "peak": before.get("peak", {})}}

    def put(self, kind: str, result: dict[str, Any], *key: str) -> None:
        """Add a result in place of the one with the same values of ``key``."""
        others = [r for r in self.all.get(kind, []) if any(r[k] != result[k] for k in key)]
        self.all[kind] = [*others, result] if key else [result]
        self.write()

    def write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(self.all, indent=1) + "\n")


def against_peers(args: argparse.Namespace) -> int:
    """Time TEST forwards in turn with all peers; JSON and a chart as they come."""
    output = args.output
    if output == DEFAULT:
        output = DEFAULT.with_name("cpu_peers.json")
    python = environment.peers_python(args.venv) if args.venv else environment.peers_python()
    field = peers.Field(
        Path(sys.executable), args.engine, python, args.repeats, args.turn, args.precision
    )
    found: list[dict[str, Any]] = json.loads(output.read_text())["results"] if args.append else []
    print(peers.table([]), flush=True)
    for name in args.nets:
        for batch in args.batches or (CASES[name].batch, 1):
            for threads in args.threads:
                result = peers.timing(field, CASES[name].with_batch(batch), threads)
                same = ("net", "batch", "threads")
                found = [r for r in found if any(r[k] != result[k] for k in same)] + [result]
                print(peers.table([result]).splitlines()[-1], flush=True)
                output.parent.mkdir(parents=True, exist_ok=True)
                about = {"machine": environment.machine(), "results": found}
                output.write_text(json.dumps(about, indent=1) + "\n")
    peers.chart(found, output.with_suffix(".png"), environment.machine()["cpu"])
    return 0


def serial_shares(args: argparse.Namespace) -> int:
    """Time our training steps with one thread and with many in turn; a table and JSON."""
    output = DEFAULT.with_name("cpu_serial.json") if args.output == DEFAULT else args.output
    python = Path(sys.executable)
    sides = measure.Sides(python, args.engine, python, "", args.repeats, args.turn)
    print(serial.heading(max(args.threads)), flush=True)
    found = []
    for name in args.nets:
        found.append(serial.timing(sides, CASES[name], max(args.threads)))
        print(serial.row(found[-1]), flush=True)
    about = {"machine": environment.machine(), "results": found}
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(about, indent=1) + "\n")
    return 0


def main() -> int:
    args = arguments()
    if args.peers:
        return against_peers(args)
    if args.serial:
        return serial_shares(args)
    torch = environment.torch_python(args.venv or environment.FOLDER)
    sides = measure.Sides(
        Path(sys.executable), args.engine, torch, args.torch_options, args.repeats, args.turn
    )
    with sides.both(1) as (ours, other):
        about = {"ours": ours.ask("about"), "torch": other.ask("about")}
    results = Results(args.output, {"machine": environment.machine(), **about}, args.append)
    most = max(args.threads)
    failed = 0
    if args.check:
        print("relative differences, in double precision by NumPy:")
        for name in args.nets:
            found = measure.check(sides, CASES[name], most)
            failed += not found["good"]
            print(report.check_line(found), flush=True)
            results.put("check", found, "net")
    if args.timings:
        time_all(sides, args, results)
    if args.peak_memory:
        case = CASES[args.peak_memory[0]].with_batch(int(args.peak_memory[1]))
        found = measure.peak_memory(sides, case, most)
        print(report.memory_line(found), flush=True)
        results.put("peak_memory", found, "net", "batch", "threads")
    if args.python_time:
        found = measure.python_time(sides, CASES["lenet"])
        print(report.python_line(found), flush=True)
        results.put("python_time", found)
    if args.denormals:
        found = measure.denormals(sides, CASES["lenet"], most)
        print(report.denormals_line(found), flush=True)
        results.put("denormals", found, "threads")
    return 1 if failed else 0


def time_all(sides: measure.Sides, args: argparse.Namespace, results: Results) -> None:
    about = results.all["about"]
    for threads in args.threads:
        about["peak"][str(threads)] = measure.peak(sides, threads)
    print(report.heading(about))
    print(report.timing_table([]), flush=True)
    for name in args.nets:
        for threads in args.threads:
            peak = about["peak"][str(threads)]["best"]
            for found in measure.timing(sides, CASES[name], threads, peak):
                print(report.timing_row(found), flush=True)
                results.put("timings", found, "net", "phase", "threads")
    order = list(CASES)
    timings = sorted(results.all["timings"], key=lambda r: order.index(r["net"]))
    results.all["timings"] = timings
    results.write()
    try:
        chart = args.output.with_suffix(".png")
        report.chart(about, timings, chart)
        print(f"{args.output}, {chart}")
    except ImportError:
        print(f"{args.output}; no chart: matplotlib is missing: pip install 'pycaffe_dist[plot]'")


if __name__ == "__main__":
    sys.exit(main())
