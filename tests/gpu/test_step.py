"""What a training step on the device may not do: wait, copy a blob to the host, ask for memory."""

import gc
import threading
from contextlib import nullcontext

import numpy as np
import pytest

from pycaffe_dist import recycling
from pycaffe_dist.data.lmdb_writer import image_record, write_lmdb
from pycaffe_dist.events import Displayed
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.solver import Solver
from pycaffe_dist.testing import cupy_standin
from pycaffe_dist.testing.gpu import emulated
from pycaffe_dist.tools.guards import LossGuard

FILL = 'weight_filler { type: "xavier" }'
NET = f"""
    layer {{ name: "data" type: "DummyData" top: "data" top: "label"
             dummy_data_param {{ shape {{ dim: 4 dim: 3 dim: 12 dim: 12 }} shape {{ dim: 4 }}
                                 data_filler {{ type: "gaussian" }}
                                 data_filler {{ type: "constant" value: 2 }} }} }}
    layer {{ name: "conv" type: "Convolution" bottom: "data" top: "conv"
             convolution_param {{ num_output: 6 kernel_size: 3 pad: 1 {FILL} }} }}
    layer {{ name: "bn" type: "BatchNorm" bottom: "conv" top: "bn" }}
    layer {{ name: "scale" type: "Scale" bottom: "bn" top: "bn" scale_param {{ bias_term: true }} }}
    layer {{ name: "relu" type: "ReLU" bottom: "bn" top: "bn" }}
    layer {{ name: "pool" type: "Pooling" bottom: "bn" top: "pool"
             pooling_param {{ kernel_size: 2 stride: 2 }} }}
    layer {{ name: "lrn" type: "LRN" bottom: "pool" top: "lrn" }}
    layer {{ name: "a" type: "Convolution" bottom: "lrn" top: "a"
             convolution_param {{ num_output: 4 kernel_size: 1 {FILL} }} }}
    layer {{ name: "b" type: "Convolution" bottom: "lrn" top: "b"
             convolution_param {{ num_output: 4 kernel_size: 3 pad: 1 group: 2 {FILL} }} }}
    layer {{ name: "sum" type: "Eltwise" bottom: "a" bottom: "b" top: "sum" }}
    layer {{ name: "both" type: "Concat" bottom: "sum" bottom: "lrn" top: "both" }}
    layer {{ name: "drop" type: "Dropout" bottom: "both" top: "both" }}
    layer {{ name: "ip" type: "InnerProduct" bottom: "both" top: "ip"
             inner_product_param {{ num_output: 5 {FILL} }} }}
    layer {{ name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }}
"""
RULES = {
    "SGD": "momentum: 0.9",
    "Nesterov": "momentum: 0.9",
    "AdaGrad": "",
    "RMSProp": "rms_decay: 0.9",
    "AdaDelta": "momentum: 0.9",
    "Adam": "momentum: 0.9",
}


def solver(settings, display=10, net=NET):
    text = f'base_lr: 0.01 lr_policy: "fixed" max_iter: 100 random_seed: 3 {settings}'
    text += f" display: {display} net_param {{ {net} }}"
    return Solver(parse_text(text, SolverParameter()).message)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    "settings",
    ["", "iter_size: 2 average_loss: 3", "clip_gradients: 0.1 weight_decay: 0.001"],
    ids=["plain", "two passes", "clipped"],
)
def test_between_two_displays_nobody_waits_and_no_memory_is_asked_for(rule, settings):
    with emulated():
        training = solver(f'type: "{rule}" {RULES[rule]} {settings}')
        LossGuard(training, "stop", print)
        counts = cupy_standin.COUNTS
        training.step(2)  # iteration 0 is displayed; until the second step memory is laid out
        counts.clear()
        training.step(1)  # another call, as scripts make them
        for name in ("synchronise", "to_host", "malloc"):
            assert counts[name] == 0, (name, counts)
        assert counts["to_device"] == training.param.iter_size, "the batches, and nothing else"
        assert counts["launch"] > 40
        counts.clear()
        training.step(6)
        assert counts["synchronise"] + counts["to_host"] + counts["malloc"] == 0, counts
        assert training.iter == 9


def test_the_loss_is_read_where_it_is_displayed():
    with emulated():
        training = solver("momentum: 0.9", display=4)
        shown = []
        training.subscribers.append(lambda e: shown.append(e) if isinstance(e, Displayed) else None)
        cupy_standin.COUNTS.clear()
        training.step(9)
        assert [event.iteration for event in shown] == [0, 4, 8]
        assert all(isinstance(event.loss, float) and np.isfinite(event.loss) for event in shown)
        assert 0 < cupy_standin.COUNTS["to_host"] <= 3 * 4


def test_who_looks_at_a_blob_waits_for_it():
    """So that the counts above are known to count."""
    with emulated():
        training = solver("momentum: 0.9")
        training.step(2)
        cupy_standin.COUNTS.clear()
        training.step(1)
        training.net.blobs[training.net.blob_ids["ip"]].data.sum()
        assert cupy_standin.COUNTS["synchronise"] == cupy_standin.COUNTS["to_host"] > 0


def test_a_batch_from_a_database_crosses_as_bytes_and_is_transformed_there(tmp_path):
    rng = np.random.default_rng(1)
    images = rng.integers(0, 256, (12, 3, 16, 16), np.uint8)
    write_lmdb(tmp_path / "db", (image_record(f"{i:03}", x, i % 5) for i, x in enumerate(images)))
    source = f"""
        layer {{ name: "data" type: "Data" top: "data" top: "label"
                 data_param {{ source: "{tmp_path / "db"}" backend: LMDB batch_size: 4 }}
                 transform_param {{ crop_size: 12 mirror: true mean_value: 100 scale: 0.02 }} }}
    """
    net = source + NET[NET.index('layer { name: "conv"') :]

    def batches(training):
        data = training.net.blobs[training.net.blob_ids["data"]]
        for _ in range(4):
            training.net.forward()
            yield data.data.copy()

    here = list(batches(solver("", net=net)))
    with emulated() as engine:
        training = solver("momentum: 0.9", net=net)
        np.testing.assert_allclose(list(batches(training)), here, rtol=1e-6)
        training.step(2)
        counts = cupy_standin.COUNTS
        counts.clear()
        training.step(5)
        assert counts["synchronise"] + counts["to_host"] + counts["malloc"] == 0, counts
        assert counts["to_device"] == 5 * len(["pixels", "places", "labels"])
        data = training.net.blobs[training.net.blob_ids["data"]].data_value
        assert data.current == {engine.home}


def test_inner_blobs_can_use_memory_in_turn(monkeypatch):
    monkeypatch.setattr(recycling, "SMALL", 1)
    pool, counts = cupy_standin.get_default_memory_pool(), cupy_standin.COUNTS
    text, used, losses = "momentum: 0.9", [], []
    with emulated():
        for in_turn in (False, True):
            gc.collect()
            before = pool.used_bytes()
            training = solver(text)
            if in_turn:
                recycling.recycle([training.net])
            training.step(2)
            counts.clear()
            training.step(5)
            assert counts["synchronise"] + counts["to_host"] + counts["malloc"] == 0, counts
            used.append(pool.used_bytes() - before)
            losses.append(float(training.last_loss))
            del training
    assert used[1] < 0.7 * used[0]
    assert losses[1] == losses[0]


def test_threads_other_than_that_of_the_engine_compute_on_its_stream():
    """On a stream of their own they would race, which the stand-in tells."""
    with emulated():
        training = solver("momentum: 0.9")
        losses = []

        def work():
            training.step(2)
            losses.append(float(training.last_loss))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join(60)
        training.step(1)
        assert len(losses) == 1 and np.isfinite(float(training.last_loss))


def test_the_same_numbers_as_on_the_cpu():
    drop = 'layer { name: "drop" type: "Dropout" bottom: "both" top: "both" }'
    assert drop in NET
    text = "momentum: 0.9 weight_decay: 0.0005 clip_gradients: 1 iter_size: 2"

    def trained():
        training = solver(text, net=NET.replace(drop, ""))
        training.step(5)
        return training

    here = trained()
    with emulated():
        there = trained()
    assert float(there.last_loss) == pytest.approx(here.last_loss, rel=1e-4)
    for a, b in zip(here.net.params.learnable, there.net.params.learnable, strict=True):
        np.testing.assert_allclose(b.blob.data, a.blob.data, rtol=2e-3, atol=2e-5)


def test_steps_are_the_same_where_nothing_is_done_before_somebody_waits():
    losses = []
    with emulated():
        for late in (nullcontext, cupy_standin.cuda.late):
            training = solver("momentum: 0.9")
            with late():
                training.step(2)
                cupy_standin.COUNTS.clear()
                training.step(5)
                assert cupy_standin.COUNTS["synchronise"] == 0
            losses.append(float(training.last_loss))
    assert losses[0] == losses[1]
