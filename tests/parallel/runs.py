"""Runs of `pcd` as people start them: files of a small net, the command, its processes."""

import os
import subprocess
import sys
import time
from pathlib import Path

from pycaffe_dist.parallel.job.launcher import VARIABLES
from pycaffe_dist.parallel.job.supervisor import JOB

NET = """
name: "pairs"
layer { name: "x" type: "DummyData" top: "data" top: "label"
  dummy_data_param { shape { dim: 8 dim: 6 } shape { dim: 8 }
    data_filler { type: "gaussian" } data_filler { type: "constant" value: 1 } } }
EXTRA
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip"
  inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
"""
PYTHON = """
layer { name: "fault" type: "Python" bottom: "data" top: "data"
  python_param { module: "fault" layer: "Fault" } }
"""
FAULT = """
import os, signal, sys, time
import pycaffe_dist as caffe

class Fault(caffe.Layer):
    def setup(self, bottom, top):
        self.count = 0
    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].shape)
    def forward(self, bottom, top):
        rank = int(os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK", 0)))
        self.count += 1
        BODY
    def backward(self, top, propagate_down, bottom):
        pass
"""
SOLVER = """
net: "net.prototxt" base_lr: 0.01 lr_policy: "fixed" max_iter: MAX display: 5
snapshot: EVERY snapshot_prefix: "run" random_seed: 3 solver_mode: CPU
"""
TRAIN = ["train", "-solver", "solver.prototxt"]
ENDLESS = 10_000_000
LONG = 120  # seconds that a machine with other work may take for what is a matter of a few
ENV = {k: v for k, v in os.environ.items() if not k.startswith(("GLOG", "OMPI", "PMI", "PCD"))}
ENV["PCD_ENGINE"] = "numpy"  # nothing is measured at start


def write(folder, steps=20, every=10, fault=None):
    solver = SOLVER.replace("MAX", str(steps)).replace("EVERY", str(every))
    (folder / "solver.prototxt").write_text(solver)
    (folder / "net.prototxt").write_text(NET.replace("EXTRA", PYTHON if fault else ""))
    if fault:
        (folder / "fault.py").write_text(FAULT.replace("BODY", fault))
    return folder


def processes(folder, rank=None):
    """The processes of jobs of a folder, by rank if they have one."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(entry / "cwd") != str(folder):
                continue
            env = dict(w.split("=", 1) for w in (entry / "environ").read_text().split("\0") if w)
        except OSError:
            continue
        own = next((env[name] for name, _ in VARIABLES if name in env), None)
        if JOB in env and (rank is None or own == str(rank)):
            found.append(int(entry.name))
    return found


def wait_for(condition, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return bool(condition())


class Run:
    """A `pcd` command under way."""

    def __init__(self, folder, *args, command=None, env=ENV):
        self.folder = folder
        self.log = folder / "stderr.txt"
        command = command or [sys.executable, "-m", "pycaffe_dist", *args]
        with self.log.open("w") as log, (folder / "stdout.txt").open("w") as out:
            self.process = subprocess.Popen(command, cwd=folder, env=env, stdout=out, stderr=log)

    def until(self, text, seconds=LONG):
        assert wait_for(lambda: text in self.log.read_text() or self.over, seconds), self.tail
        assert text in self.log.read_text(), self.tail
        return self

    @property
    def over(self):
        return self.process.poll() is not None

    @property
    def tail(self):
        return self.log.read_text()[-3000:]

    def end(self, code, seconds=LONG):
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"still running: {self.tail}") from None
        text = self.log.read_text()
        assert self.process.returncode == code, text[-3000:]
        return text


def train(folder, *args):
    return Run(folder, *TRAIN, *args)


def states(folder):
    return sorted(path.name for path in folder.glob("run_iter_*.solverstate"))


def kill_rank(folder, rank, number):
    (pid,) = processes(folder, rank)
    os.kill(pid, number)
