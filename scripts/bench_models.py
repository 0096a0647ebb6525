"""Train every model for two iterations on made-up data, each in a process of its own; then the
small ones that have data of their own to their end.

    make bench-models
    python scripts/bench_models.py --jobs                 # those that are trained to their end
    python scripts/bench_models.py models/vgg16/train_val.prototxt
    python scripts/bench_models.py --zoo ../shared/zoo    # the train nets of a zoo's index.json
    python scripts/bench_models.py --zoo ../shared/zoo --part fork

Prints the loss, the seconds and the peak memory of each, and how good the trained ones are; exit
code 1 if one fails.
"""

import argparse
import json
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
CHILD = """
import re, sys, time
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetState, SolverParameter
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.solver import Solver
from pycaffe_dist.tools.fake_data import fake_data
path, batch, stages = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
begin = time.time()
net = fake_data(read_net(path).net, batch_size=batch)
net.ClearField("state")
solver = SolverParameter(base_lr=1e-8, lr_policy="fixed", max_iter=2, random_seed=1)
solver.train_net_param.CopyFrom(net)
solver.train_state.CopyFrom(NetState(stage=stages))
made = Solver(solver)
losses = []
made.on_gradients_ready.append(lambda: losses.append(made.last_loss))
made.step(2)
peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1e6
print(f"loss {losses[-1]:.4g}, {time.time() - begin:.1f} s, {peak:.2f} GB")
"""


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
    # Nets that are one file for all uses choose their layers by stage.
    stages = ["train"] if re.search(r'stage:\s*"train"', path.read_text(errors="replace")) else []
    command = [sys.executable, "-c", CHILD, str(path), str(batch), *stages]
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
    options.add_argument("--zoo", type=Path, help="a folder with index.json and nets/")
    options.add_argument("--part", default="train", help="which of the lists in index.json")
    options.add_argument("--jobs", action="store_true", help="only what is trained to its end")
    options.add_argument("--batch", type=int, default=2)
    options.add_argument("--seconds", type=int, default=240, help="for each net")
    args = options.parse_args()
    nets = args.nets
    if args.zoo:
        names = json.loads((args.zoo / "index.json").read_text())[args.part]
        nets = [args.zoo.resolve() / "nets" / name for name in names]
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
