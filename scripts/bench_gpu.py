"""Training steps and TEST forwards on a GPU, against PyTorch on the same GPU, in turn.

    make bench-gpu
    python scripts/bench_gpu.py --nets alexnet resnet50 --device 1
    python scripts/bench_gpu.py --tf32                       # tensor cores, on both sides
    python scripts/bench_gpu.py --emulated --nets lenet      # does the script work? (no GPU)

The nets, parameters, batches and updates are those of bench_cpu.py, with batches four times as
large.  The batch is on the device from the start, on both sides; a turn is some steps and one wait
at its end, so that kernels of one step may be queued while another runs, as in training.  Each side
is a process of its own.  Results go to a JSON file: please send it in, with the lines printed.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench import environment
from bench.cases import CASES

ROOT = Path(__file__).resolve().parent.parent
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
    add("--output", type=Path, default=ROOT / "runs" / "gpu_bench.json")
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

    return OnGpu()


def measure(args: argparse.Namespace) -> None:
    """One side: a line of JSON about it, then one for each net and phase."""
    side = our_side(args) if args.side == "ours" else torch_side(args)
    print(json.dumps(side.about()), flush=True)
    for name in args.nets:
        for phase in PHASES:
            batch = batch_of(args, name)
            side.prepare(net=name, batch=batch, phase=phase)
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
            found = {"net": name, "phase": phase, "batch": batch, "seconds": seconds}
            print(json.dumps(found), flush=True)


def batch_of(args: argparse.Namespace, name: str) -> int:
    return args.batch or (2 if args.emulated else LARGER * CASES[name].batch)


# -- both ------------------------------------------------------------------------------------------


def run(side: str, python: Path, args: argparse.Namespace) -> list[dict[str, Any]]:
    command = [str(python), str(Path(__file__)), "--side", side, "--nets", *args.nets]
    command += ["--turns", str(args.turns), "--steps", str(args.steps)]
    command += ["--device", str(args.device), *(["--batch", str(args.batch)] if args.batch else [])]
    command += ["--tf32"] * args.tf32 + ["--emulated"] * args.emulated
    variables = dict(os.environ, CUPY_TF32=str(int(args.tf32)))
    if args.emulated:
        variables["PCD_CUPY"] = "emulated"
    done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"the side {side!r} failed; what it said is above")
    return [json.loads(line) for line in done.stdout.splitlines()]


def main() -> int:
    args = arguments()
    if args.side:
        measure(args)
        return 0
    if args.emulated:
        args.turns = args.steps = 1
    about, *ours = run("ours", Path(sys.executable), args)
    other: dict[str, Any] = {}
    theirs: list[dict[str, Any]] = []
    if not args.emulated:
        other, *theirs = run("torch", environment.torch_python(args.venv), args)
    print(f"{about.get('gpu')}: {about['name']} {about['version']}, CuPy {about['cupy']}")
    print(f"{'net':<16}{'phase':<7}{'batch':>6}{'ours ms':>10}{'torch ms':>10}{'ratio':>7}")
    for i, row in enumerate(ours):
        here = statistics.median(row["seconds"]) * 1e3
        line = f"{row['net']:<16}{row['phase']:<7}{row['batch']:>6}{here:>10.2f}"
        if theirs:
            there = statistics.median(theirs[i]["seconds"]) * 1e3
            line += f"{there:>10.2f}{there / here:>7.2f}"
        print(line)
    args.output.parent.mkdir(parents=True, exist_ok=True)
    machine = environment.machine()
    result = {"machine": machine, "ours": [about, *ours], "torch": [other, *theirs]}
    args.output.write_text(json.dumps(result | {"tf32": args.tf32}, indent=1) + "\n")
    print(args.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
