"""A test net's batches among ranks, and the means that are told."""

from types import SimpleNamespace

import numpy as np
import pytest

from pycaffe_dist import events as e
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.solver import Solver
from pycaffe_dist.solvers import testing

pytestmark = pytest.mark.host  # what it computes with is no part of it
NET = """
layer { name: "x" type: "DummyData" top: "x" top: "t" dummy_data_param {
  shape { dim: 2 dim: 3 } shape { dim: 2 dim: 3 } } }
layer { name: "loss" type: "EuclideanLoss" bottom: "x" bottom: "t" top: "loss" loss_weight: 0.5 }
layer { name: "y" type: "Reduction" bottom: "x" top: "y" reduction_param { axis: 1 } }
"""


@pytest.fixture
def tested(tmp_path, monkeypatch):
    """What a rank tells of batches whose outputs are 1, 2, 4, ..., and whether it ran each."""

    def run(count, rank=0, size=1, more=""):
        (tmp_path / "net.prototxt").write_text(NET)
        text = f'net: "{tmp_path}/net.prototxt" base_lr: 0.1 lr_policy: "fixed" max_iter: 1 '
        text += f"test_iter: {count} test_interval: 9 snapshot_after_train: false {more}"
        solver = Solver(parse_text(text, SolverParameter()).message)
        told, done, net = [], [], solver.test_nets[0]

        def forward():
            done.append(True)
            for blob in (net.blobs[i] for i in net.output_ids):
                blob.data[...] = 2 ** (len(done) - 1)
            return 10 * 2 ** (len(done) - 1)

        solver.subscribers.append(told.append)
        solver.ranks = SimpleNamespace(size=size, rank=rank, mean=lambda shares: shares)
        monkeypatch.setattr(net, "forward", forward)
        monkeypatch.setattr(net, "feed", lambda: done.append(False))
        testing.test(solver, 0)
        assert isinstance(told[0], e.TestBegins) and len(told) == 2
        return told[1], done

    return run


COMPUTE_LOSS = "test_compute_loss: true"


def test_one_rank_tells_the_means_of_all_batches(tested):
    told, done = tested(3, more=COMPUTE_LOSS)
    assert told.loss == pytest.approx(70 / 3) and done == [True] * 3
    assert [(o.index, o.name, o.value, o.loss_weight) for o in told.outputs] == [
        (0, "loss", pytest.approx(7 / 3), 0.5),
        (1, "y", pytest.approx(7 / 3), 0),
        (2, "y", pytest.approx(7 / 3), 0),
    ]
    assert tested(3)[0].loss is None


@pytest.mark.parametrize(("rank", "ran", "total"), [(0, [0, 2], 5), (1, [1], 2)])
def test_ranks_take_batches_in_turn_and_their_mean_is_that_of_all(tested, rank, ran, total):
    told, done = tested(3, rank, 2, COMPUTE_LOSS)
    assert [i for i, there in enumerate(done) if there] == ran and len(done) == 3
    assert told.loss == pytest.approx(10 * total * 2 / 3)
    assert [o.value for o in told.outputs] == pytest.approx([total * 2 / 3] * 3)


def test_a_rank_without_a_batch_adds_nothing_to_the_means(tested):
    told, done = tested(1, rank=1, size=2, more=COMPUTE_LOSS)
    assert done == [False] and told.loss == 0
    assert [(o.name, o.value) for o in told.outputs] == [("loss", 0), ("y", 0), ("y", 0)]


def test_no_batches_have_no_outputs(tested):
    told, done = tested(0, more=COMPUTE_LOSS)
    assert (told.outputs, told.loss, done) == ([], None, [])


def test_outputs_are_numbered_over_all_blobs():
    blobs = [SimpleNamespace(data=np.array(d, np.float32)) for d in ([1, 2], [3], [4, 5])]
    net = SimpleNamespace(
        output_ids=[2, 0], blobs=blobs, blob_names=["a", "b", "c"], blob_loss_weights=[0, 1, 2]
    )
    assert [(o.index, o.name, o.value, o.loss_weight) for o in testing.outputs_of(net)] == [
        *((0, "c", 4, 2), (1, "c", 5, 2), (2, "a", 1, 0), (3, "a", 2, 0))
    ]
