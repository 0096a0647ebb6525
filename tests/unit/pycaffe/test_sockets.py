"""caffe.NCCL on CPUs: between threads, and between processes that a script has started."""

import multiprocessing
import threading

import numpy as np
import pytest

import pycaffe_dist as caffe
from pycaffe_dist.errors import PcdError
from pycaffe_dist.pycaffe import sockets
from pycaffe_dist.pycaffe.modes import CPU_INSTEAD
from pycaffe_dist.pycaffe.sockets import Sockets, new_id

NET = """
layer { name: "data" type: "Input" top: "data" top: "label"
        input_param { shape { dim: %d dim: 6 } shape { dim: %d } } }
layer { name: "low" type: "InnerProduct" bottom: "data" top: "low"
        inner_product_param { num_output: 6 weight_filler { type: "xavier" } } }
layer { name: "tanh" type: "TanH" bottom: "low" top: "low" }
layer { name: "high" type: "InnerProduct" bottom: "low" top: "high"
        inner_product_param { num_output: 6 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "high" bottom: "label" top: "loss" }
"""
SOLVER = """
net: "net%d.prototxt" base_lr: 0.1 lr_policy: "fixed" momentum: 0.9 random_seed: %d iter_size: 2
snapshot_after_train: false
"""


def together(*ranks):
    """What each of some functions gives that run at once; the first error of any."""
    found, errors = {}, []

    def run(rank):
        try:
            found[rank] = ranks[rank]()
        except Exception as e:
            errors.append(e)

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(len(ranks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [found[rank] for rank in range(len(ranks))]


def test_ranks_add_up_and_share_in_one_order():
    uid = new_id()

    def rank(number):
        def work():
            mine = [np.full(3, number + 1, np.float32), np.full(50_000, number, np.float64)]
            weights = np.full(2, 10.0 * number, np.float32)
            others = Sockets(number, 3, uid)
            others.broadcast([weights], root=0)
            others.all_reduce(mine[:1], mean=True)
            others.begin(lambda: others.all_reduce(mine[1:], mean=False)).wait()
            return weights.tolist(), mine[0].tolist(), set(mine[1])

        return work

    assert together(*map(rank, range(3))) == [([0, 0], [2, 2, 2], {3})] * 3


def test_a_rank_that_has_gone_is_named():
    uid = new_id()

    def gone():
        Sockets(1, 2, uid).close()

    def waits():
        Sockets(0, 2, uid).all_reduce([np.zeros(3, np.float32)], mean=True)

    with pytest.raises(PcdError, match="rank 1 has gone"):
        together(waits, gone)


@pytest.mark.parametrize(("rank", "who"), [(0, r"rank 0 waited .* \[1\]"), (1, "rank 1 .* rank 0")])
def test_ranks_do_not_wait_for_ever(monkeypatch, rank, who):
    monkeypatch.setattr(sockets, "START", 0.0)
    with pytest.raises(PcdError, match=who):
        Sockets(rank, 2, new_id())


def trained(solver, batches, labels):
    """The solver's weights after three iterations with these batches."""
    passes = iter(batches)

    def feed(layer):
        if layer == 0:
            solver.net.blobs["data"].data[...] = next(passes)
            solver.net.blobs["label"].data[...] = labels

    solver.net.before_forward(feed)
    solver.step(3)
    return [blob.data.copy() for blobs in solver.net.params.values() for blob in blobs]


def one_of_two(rank, uid, batches, layer_wise):
    """What a process of Caffe's python/train.py does."""
    caffe.set_mode_gpu()
    caffe.set_device(rank)
    caffe.set_solver_count(2)
    caffe.set_solver_rank(rank)
    caffe.set_multiprocess(True)
    solver = caffe.SGDSolver(f"solver{rank}.prototxt")
    nccl = caffe.NCCL(solver, uid)
    nccl.bcast()
    solver.add_callback(nccl)
    if layer_wise:
        solver.net.after_backward(nccl)
    np.savez(f"rank{rank}", *trained(solver, batches, np.arange(4) + rank))


@pytest.mark.parametrize("layer_wise", [False, True])
def test_processes_train_as_one_with_the_joint_batch(tmp_path, monkeypatch, layer_wise):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(CPU_INSTEAD, "1")
    batches = np.random.default_rng(1).standard_normal((6, 2, 4, 6)).astype(np.float32)
    for rank in range(2):  # other weights to start with, but for the broadcast
        (tmp_path / f"net{rank}.prototxt").write_text(NET % (4, 4))
        (tmp_path / f"solver{rank}.prototxt").write_text(SOLVER % (rank, 5 + rank))
    assert caffe.has_nccl()
    uid = caffe.NCCL.new_uid()
    start = multiprocessing.get_context("fork").Process
    ranks = [
        start(target=one_of_two, args=(rank, uid, batches[:, rank], layer_wise))
        for rank in range(2)
    ]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join()
    assert [rank.exitcode for rank in ranks] == [0, 0]
    (tmp_path / "net0.prototxt").write_text(NET % (8, 8))
    solver = caffe.SGDSolver("solver0.prototxt")
    joint = trained(solver, batches.reshape(6, 8, 6), [*range(4), *range(1, 5)])
    first, second = (list(np.load(f"rank{rank}.npz").values()) for rank in range(2))
    for mine, theirs, want in zip(first, second, joint, strict=True):
        np.testing.assert_array_equal(mine, theirs)
        np.testing.assert_allclose(mine, want, rtol=1e-4, atol=1e-6)
