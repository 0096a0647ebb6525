"""caffe.NCCL, as Caffe's own python/train.py uses it: processes of the script's own, no MPI."""

import os
import subprocess
import sys

import numpy as np
import pytest

import pycaffe_dist as caffe
from pycaffe_dist.engines.cupy import backend
from pycaffe_dist.errors import PcdError
from pycaffe_dist.testing.gpu import emulated

NET = """
layer { name: "data" type: "Input" top: "data" top: "label"
        input_param { shape { dim: BATCH dim: 6 } shape { dim: BATCH } } }
layer { name: "low" type: "InnerProduct" bottom: "data" top: "low" param { name: "w" }
        inner_product_param { num_output: 6 weight_filler { type: "xavier" } } }
layer { name: "tanh" type: "TanH" bottom: "low" top: "low" }
layer { name: "high" type: "InnerProduct" bottom: "low" top: "high" param { name: "w" }
        inner_product_param { num_output: 6 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "high" bottom: "label" top: "loss" }
"""
SOLVER = """
net: "net.prototxt" base_lr: 0.1 lr_policy: "fixed" momentum: 0.9 random_seed: SEED
iter_size: 2 snapshot_after_train: false
"""
RANK = """
import sys
import numpy as np
import pycaffe_dist as caffe

rank, uid, layer_wise = int(sys.argv[1]), bytes.fromhex(sys.argv[2]), sys.argv[3] == "1"
assert caffe.has_nccl()
caffe.set_solver_count(2)
caffe.set_solver_rank(rank)
caffe.set_multiprocess(True)
caffe.set_device(rank)
caffe.set_mode_gpu()
solver = caffe.SGDSolver(f"solver{rank}.prototxt")
nccl = caffe.NCCL(solver, uid)
nccl.bcast()
solver.add_callback(nccl)
if layer_wise:
    solver.net.after_backward(nccl)
batches = np.load("batches.npy")
passes = iter(batches[:, rank])

def feed(layer):
    if layer == 0:
        solver.net.blobs["data"].data[...] = next(passes)
        solver.net.blobs["label"].data[...] = np.arange(4) + rank

solver.net.before_forward(feed)
solver.step(5)
np.savez(f"rank{rank}", *[b.data for blobs in solver.net.params.values() for b in blobs])
"""


@pytest.fixture
def batches():
    return np.random.default_rng(1).standard_normal((10, 2, 4, 6)).astype(np.float32)


@pytest.mark.parametrize("layer_wise", ["0", "1"])
def test_a_script_with_processes_of_its_own_trains_as_one_with_the_joint_batch(
    tmp_path, monkeypatch, batches, layer_wise
):
    monkeypatch.chdir(tmp_path)
    np.save("batches", batches)
    (tmp_path / "rank.py").write_text(RANK)
    (tmp_path / "net.prototxt").write_text(NET.replace("BATCH", "4"))
    for rank in range(2):  # other weights to start with, but for the broadcast
        (tmp_path / f"solver{rank}.prototxt").write_text(SOLVER.replace("SEED", str(5 + rank)))
    with emulated():
        uid = caffe.NCCL.new_uid().hex()
        ranks = [
            subprocess.Popen(
                [sys.executable, "rank.py", str(rank), uid, layer_wise],
                env=os.environ | {backend.VARIABLE: "emulated"},
                stderr=subprocess.PIPE,
                text=True,
            )
            for rank in range(2)
        ]
        said = [rank.communicate(timeout=150)[1] for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0, 0], said
    first, second = (list(np.load(f"rank{r}.npz").values()) for r in range(2))
    for mine, theirs in zip(first, second, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    for got, want in zip(first, joint(tmp_path, batches), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)


def joint(folder, batches):
    """The weights of one solver with both batches."""
    (folder / "net.prototxt").write_text(NET.replace("BATCH", "8"))
    solver = caffe.SGDSolver("solver0.prototxt")
    passes = iter(batches)

    def feed(layer):
        if layer == 0:
            solver.net.blobs["data"].data[...] = next(passes).reshape(8, 6)
            solver.net.blobs["label"].data[...] = [*range(4), *range(1, 5)]

    solver.net.before_forward(feed)
    solver.step(5)
    return [blob.data for blobs in solver.net.params.values() for blob in blobs]


def test_a_solver_on_the_cpu_has_no_nccl(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.prototxt").write_text(NET.replace("BATCH", "4"))
    (tmp_path / "solver.prototxt").write_text(SOLVER.replace("SEED", "1"))
    solver = caffe.SGDSolver("solver.prototxt")
    with pytest.raises(PcdError, match="call set_mode_gpu"):
        caffe.NCCL(solver, bytes(128))
    with pytest.raises(PcdError, match="two functions, or an NCCL"):
        solver.add_callback(print)
