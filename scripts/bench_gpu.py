"""Training steps and TEST forwards on a GPU, against PyTorch on the same GPU, in turn.

    make bench-gpu
    python scripts/bench_gpu.py --nets alexnet resnet50 --device 1
    python scripts/bench_gpu.py --tf32                       # tensor cores, on both sides
    python scripts/bench_gpu.py --emulated --nets lenet      # does the script work? (no GPU)

The nets, parameters, batches and updates are those of bench_cpu.py, with batches four times as
large.  The batch is on the device from the start, on both sides; a turn is some steps and one wait
at its end, so that kernels of one step may be queued while another runs, as in training.  Each side
is a process of its own.  Each result is in runs/gpu_report.json as soon as it is known, beside
those of `make test-gpu`: please send that file in.  A net that does not fit into the device's
memory is told and left out, and so is a side that does not start.
"""

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import environment, gpu_report
from bench.cases import CASES

PHASES = ("train", "test")
LARGER = 4  # times the batch of the benchmark on CPUs


def arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = options.add_argument
    add("--nets", nargs="+", choices=list(CASES), default=list(CASES), metavar="NET")
    add("--batch", type=int, help="images, for all nets")
    add("--device", type=int, default=0)
    add("--turns", type=int, default=7, help="of each side")
    add("--steps", type=int, default=20, help="of a turn")
    add("--tf32", action="store_true", help="let matrix products round to TF32")
    add("--emulated", action="store_true", help="ours only, on the CPU, two images: no timing")
    add("--output", type=Path, default=gpu_report.PATH)
    add("--venv", type=Path, default=environment.FOLDER, help="PyTorch's environment")
    add("--side", choices=("ours", "torch"), help=argparse.SUPPRESS)
    return options.parse_args()


# -- a side ----------------------------------------------------------------------------------------


def our_side(args: argparse.Namespace) -> Any:
    from bench.ours import Ours

    from pycaffe_dist import engines

    class OnGpu(Ours):
        def __init__(self) -> None:
            super().__init__("numpy")
            self.engine = engines.create("cupy", args.device)

        def about(self) -> dict[str, Any]:
            xp = self.engine.xp
            return super().about() | {"cupy": xp.__version__, "gpu": self.engine.device_name}

        def step(self) -> Any:
            return self.net.forward() if self.solver is None else self.solver.step(1)

        def wait(self) -> None:
            self.engine.wait()

        def let_go(self) -> None:
            self.solver = self.net = self.data = None  # type: ignore[assignment]
            gc.collect()
            self.engine.xp.get_default_memory_pool().free_all_blocks()

    return OnGpu()


def torch_side(args: argparse.Namespace) -> Any:
    import torch
    from bench.torch_side import STILL, Torch

    torch.cuda.set_device(args.device)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = args.tf32
    torch.backends.cudnn.benchmark = True  # it measures its algorithms, too

    class OnGpu(Torch):
        def __init__(self) -> None:
            super().__init__(1, [])

        def about(self) -> dict[str, Any]:
            return super().about() | {"gpu": torch.cuda.get_device_name()}

        def prepare(self, **what: Any) -> dict[str, Any]:
            found = super().prepare(**what)
            self.module.cuda()
            self.images, self.labels = self.images.cuda(), self.labels.cuda()
            self.optimizer = self._sgd(STILL) if self.optimizer else None
            return found

        def step(self) -> Any:
            if self.optimizer is None:
                return super().step()
            self.optimizer.zero_grad()
            self._loss().backward()
            return self.optimizer.step()

        def wait(self) -> None:
            torch.cuda.synchronize()

        def let_go(self) -> None:
            self.module = self.optimizer = self.images = self.labels = None
            gc.collect()
            torch.cuda.empty_cache()

    return OnGpu()


def measure(args: argparse.Namespace) -> None:
    """One side: a line of JSON about it, then one for each net and phase."""
    side = our_side(args) if args.side == "ours" else torch_side(args)
    print(json.dumps(side.about()), flush=True)
    for name in args.nets:
        for phase in PHASES:
            found = {"net": name, "phase": phase, "batch": batch_of(args, name)}
            try:
                found["seconds"] = timed(side, args, **found)
            except Exception as e:  # of several libraries: memory, above all
                found["error"] = f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}"
            side.let_go()
            print(json.dumps(found), flush=True)


def timed(side: Any, args: argparse.Namespace, **what: Any) -> list[float]:
    """Seconds of a step, by turn."""
    side.prepare(**what)
    for _ in range(3):
        side.step()
    seconds = []
    for _ in range(args.turns):
        side.wait()
        begin = time.perf_counter()
        for _ in range(args.steps):
            side.step()
        side.wait()
        seconds.append((time.perf_counter() - begin) / args.steps)
    return seconds


def batch_of(args: argparse.Namespace, name: str) -> int:
    return args.batch or (2 if args.emulated else LARGER * CASES[name].batch)


# -- both ------------------------------------------------------------------------------------------


def run(side: str, python: Path, args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """What a side says, line by line; a side that fails says so in its last."""
    command = [str(python), str(Path(__file__)), "--side", side, "--nets", *args.nets]
    command += ["--turns", str(args.turns), "--steps", str(args.steps)]
    command += ["--device", str(args.device), *(["--batch", str(args.batch)] if args.batch else [])]
    command += ["--tf32"] * args.tf32 + ["--emulated"] * args.emulated
    variables = dict(os.environ, CUPY_TF32=str(int(args.tf32)))
    if args.emulated:
        variables["PCD_CUPY"] = "emulated"
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            yield json.loads(line)
    if process.returncode:
        yield {"error": f"the side {side!r} ended with {process.returncode}; see above"}


def sides(args: argparse.Namespace) -> Iterator[tuple[str, dict[str, Any]]]:
    """Everything that is found, by side."""
    for found in run("ours", Path(sys.executable), args):
        yield "ours", found
    if args.emulated:
        return
    try:
        python = environment.torch_python(args.venv)
    except (SystemExit, subprocess.CalledProcessError, OSError) as e:
        yield "torch", {"error": f"PyTorch cannot be installed: {e}"}
        return
    for found in run("torch", python, args):
        yield "torch", found


def line(row: dict[str, Any], other: dict[str, Any]) -> str:
    """A net and phase of ours, for people."""
    text = f"{row['net']:<16}{row['phase']:<7}{row['batch']:>6}"
    if "error" in row:
        return f"{text}  {row['error']}"
    here = statistics.median(row["seconds"]) * 1e3
    text += f"{here:>10.2f}"
    if "seconds" in other:
        there = statistics.median(other["seconds"]) * 1e3
        text += f"{there:>10.2f}{there / here:>7.2f}"
    return text


def main() -> int:
    args = arguments()
    if args.side:
        measure(args)
        return 0
    if args.emulated:
        args.turns = args.steps = 1
    found: dict[str, list[dict[str, Any]]] = {"ours": [], "torch": []}
    facts = {"machine": environment.machine(), "tf32": args.tf32}
    for side, row in sides(args):
        found[side].append(row)
        gpu_report.add("bench", facts | found, args.output)
    about = found["ours"][0]
    if "error" in about:
        print(about["error"], file=sys.stderr)
        return 1
    print(f"{about.get('gpu')}: {about['name']} {about['version']}, CuPy {about['cupy']}")
    print(f"{'net':<16}{'phase':<7}{'batch':>6}{'ours ms':>10}{'torch ms':>10}{'ratio':>7}")
    theirs = {(row["net"], row["phase"]): row for row in found["torch"] if "net" in row}
    for row in found["ours"][1:]:
        if "net" in row:
            print(line(row, theirs.get((row["net"], row["phase"]), {})))
        else:
            print(row["error"])
    print(args.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
