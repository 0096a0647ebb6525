"""Runs for the tests of the board: one that was trained, others whose files are written here."""

import json

import numpy as np
import warm
from PIL import Image

from pycaffe_dist.data.lmdb_writer import image_record, write_lmdb

EVIL = "<img src=x onerror=alert(1)>"
NET = """
name: "tiny <b>net</b>"
layer { name: "images" type: "Data" top: "data" top: "label" include { phase: TRAIN }
  transform_param { crop_size: 12 scale: 0.01 mean_value: 100 }
  data_param { source: "data/train_lmdb" batch_size: 8 backend: LMDB } }
layer { name: "images" type: "Data" top: "data" top: "label" include { phase: TEST }
  transform_param { crop_size: 12 scale: 0.01 mean_value: 100 }
  data_param { source: "data/test_lmdb" batch_size: 12 backend: LMDB } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
  convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: "xavier" } } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "ip" type: "InnerProduct" bottom: "conv" top: "ip"
  inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
layer { name: "acc" type: "Accuracy" bottom: "ip" bottom: "label" top: "acc"
  include { phase: TEST } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
"""
SOLVER = """
net: "net.prototxt" base_lr: 0.05 momentum: 0.9 lr_policy: "step" gamma: 0.5 stepsize: 10
display: 2 max_iter: 30 test_iter: 2 test_interval: 5 snapshot_prefix: "tiny" random_seed: 1
"""
CLASSES = ("left", "right", "below")


def pictures(rng, count):
    """Bright to the left (0), to the right (1), or below (2): (3, 14, 14) each."""
    for i in range(count):
        image = rng.integers(0, 80, (3, 14, 14), np.uint8)
        part = [np.s_[:, :, :7], np.s_[:, :, 7:], np.s_[:, 7:, :]][i % 3]
        image[part] += 150
        yield image, i % 3


def make_data(top):
    """data/, and the generator that goes on from there."""
    rng = np.random.default_rng(1)
    for part, count in (("train", 48), ("test", 24)):
        rows = [image_record(f"{i:04}", p, c) for i, (p, c) in enumerate(pictures(rng, count))]
        write_lmdb(top / "data" / f"{part}_lmdb", rows)
        (top / "data" / f"{part}_lmdb" / "labels.txt").write_text("\n".join(CLASSES))
    return rng


def make_project(top):
    """data/, net and solver, a picture of each class, runs/tiny trained; the folder."""
    rng = make_data(top)
    for image, label in pictures(rng, 3):
        pixels = image.transpose(1, 2, 0)[:, :, ::-1].copy()
        Image.fromarray(pixels).save(top / f"{CLASSES[label]}.png")
    (top / "net.prototxt").write_text(NET)
    (top / "solver.prototxt").write_text(SOLVER)
    words = ["--run-dir", "runs/tiny", "--quiet", "--trace", "runs/tiny/trace.json"]
    (top / "runs" / "tiny").mkdir(parents=True)
    done = warm.pcd("train", "--solver", "solver.prototxt", *words, "--keep-best", "acc", cwd=top)
    assert done.returncode == 0, done.stderr
    return top


def metrics_of(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def line(iteration, loss, kind="train", **facts):
    row = {"kind": kind, "iteration": iteration, "seconds": iteration / 50, "loss": loss}
    row |= {"lr": 0.01, "outputs": {"loss": loss}, "loss_weights": {"loss": 1.0}}
    return json.dumps(row | facts) + "\n"


def write_run(folder, count=50, rate="0.01", end=True, noise=0.0):
    """A folder as a run leaves it, with a loss that falls and an accuracy that rises."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(len(folder.name))
    text = line(0, 0, "begin", time=1e9, net="made", max_iter=count)
    for i in range(count):
        loss = 2 / (1 + i / 10) + noise * rng.random()
        text += line(i, round(loss, 6), lr=float(rate) * 0.5 ** (3 * i // count))
        if i % 10 == 0:
            outputs = {"acc": round(1 - 1 / (1 + i / 5), 6)}
            text += line(i, None, "test", outputs=outputs, loss_weights={}, net=0)
    if end:
        text += line(count, 0, "end", early=False)
    (folder / "metrics.jsonl").write_text(text)
    solver = f"base_lr: {rate}\nmax_iter: {count}\nmomentum: 0.9\n"
    (folder / "solver.prototxt").write_text(solver)
    return folder


def write_trace(path):
    """Two ranks in three steps; the second waits for the first, which is late."""
    events = []
    for rank in (0, 1):
        for step in range(3):
            begin, work = step * 10_000, 6000 if rank == 0 else 4000
            span = {"ph": "X", "pid": rank, "tid": 0, "cat": "compute"}
            events.append(span | {"name": "conv forward", "ts": begin, "dur": work})
            facts = {"scheme": "allreduce", "sent": 1000, "received": 1000}
            wire = span | {"tid": 1, "cat": "exchange", "name": "conv", "args": facts}
            events.append(wire | {"ts": begin + 4000, "dur": 4000})
            wait = span | {"cat": "wait", "name": "conv"}
            events.append(wait | {"ts": begin + work, "dur": 8000 - work})
    path.write_text(json.dumps({"traceEvents": events}))
