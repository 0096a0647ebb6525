"""Train every model for two iterations on made-up data, each in a process of its own; then the
small ones that have data of their own to their end.

    make bench-models
    python scripts/bench_models.py --jobs                 # those that are trained to their end
    python scripts/bench_models.py models/vgg16/train_val.prototxt

Prints the loss, the seconds and the peak memory of each, and how good the trained ones are; exit
code 1 if one fails.
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHILD = ROOT / "scripts" / "bench" / "two_iterations.py"


@dataclass(frozen=True)
class Job:
    """A model that is trained to its end: what makes its data, and what it has to reach."""

    data: str
    measure: str  # a blob of the test net
    least: float

    def run(self, model: str) -> tuple[bool, str]:
        made = subprocess.run([sys.executable, self.data], cwd=ROOT, capture_output=True, text=True)
        if made.returncode:
            return False, f"{self.data}: {made.stderr.strip()}"
        with tempfile.TemporaryDirectory() as folder:
            solver = f"models/{model}/solver.prototxt"
            command = [sys.executable, "-m", "pycaffe_dist", "train", "-solver", solver]
            command += ["--run-dir", f"{folder}/run"]
            before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
            after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.time() - begin
        found = re.findall(rf"Test net output #\d+: {self.measure} = (\S+)", done.stderr)
        if done.returncode or not found:
            return False, done.stderr.strip()[-300:]
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        text = f"{self.measure} {float(found[-1]):.4g}, {self.least} is asked for"
        return float(found[-1]) >= self.least, f"{text}; {seconds:.0f} s, {used:.0f} s of CPU"


JOBS = {
    "ssd_shapes": Job("data/ssd_shapes/create_ssd_shapes.py", "detection_eval", 0.9),
    "ctc_digits": Job("models/ctc_digits/make_data.py", "accuracy", 0.95),
}


def run(path: Path, batch: int, seconds: int) -> tuple[bool, str]:
    command = [sys.executable, str(CHILD), str(path), str(batch)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, cwd=ROOT)
    except subprocess.TimeoutExpired:
        return False, f"not done within {seconds} s"
    if done.returncode == 0:
        return True, done.stdout.strip()
    return False, done.stderr.strip().splitlines()[-1][:150] if done.stderr else "killed"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("nets", nargs="*", type=Path)
    options.add_argument("--jobs", action="store_true", help="only what is trained to its end")
    options.add_argument("--batch", type=int, default=2)
    options.add_argument("--seconds", type=int, default=240, help="for each net")
    args = options.parse_args()
    nets = args.nets
    everything = not nets and not args.jobs
    if everything:
        nets = sorted((ROOT / "models").glob("*/*train_val.prototxt"))
    failed = 0
    for path in nets:
        good, text = run(Path(os.path.abspath(path)), args.batch, args.seconds)
        failed += not good
        print(f"{'ok  ' if good else 'FAIL'} {path.parent.name}/{path.name}: {text}", flush=True)
    jobs = JOBS if everything or args.jobs else {}
    for model, job in jobs.items():
        good, text = job.run(model)
        failed += not good
        print(f"{'ok  ' if good else 'FAIL'} {model} to its end: {text}", flush=True)
    count = len(nets) + len(jobs)
    print(f"{count - failed} of {count} trained")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
