"""On machines with GPUs (make test-gpu): what only several real ones can show."""

import os
import subprocess
import sys

import numpy as np
import pytest

from pycaffe_dist.engines.cupy import backend

NET = """
layer { name: "data" type: "DummyData" top: "data" top: "label"
        dummy_data_param { shape { dim: 16 dim: 3 dim: 20 dim: 20 } shape { dim: 16 }
                           data_filler { type: "gaussian" }
                           data_filler { type: "constant" value: 1 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
        convolution_param { num_output: 12 kernel_size: 3 weight_filler { type: "xavier" } } }
layer { name: "deep" type: "Convolution" bottom: "conv" top: "deep"
        convolution_param { num_output: 12 group: 12 kernel_size: 3
                            weight_filler { type: "xavier" } } }
layer { name: "ip" type: "InnerProduct" bottom: "deep" top: "ip"
        inner_product_param { num_output: 100 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
"""
SOLVER = """
net: "net.prototxt" base_lr: 0.05 lr_policy: "fixed" max_iter: 20 display: 5 random_seed: 1
snapshot_after_train: false momentum: 0.9
"""


@pytest.fixture(scope="module")
def gpus():
    """How many there are: two or more, or there is nothing to test."""
    if os.environ.get("PCD_TEST_GPU") != "1":
        pytest.skip("for a machine with GPUs: make test-gpu")
    count = backend.device_count(backend.cupy())
    if count < 2:
        pytest.skip("for a machine with two GPUs")
    return count


@pytest.mark.parametrize("wire", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize("comm", ["allreduce", "sharded", "sfb", "sf-push"])
def test_gpus_train_by_nccl_as_they_do_through_host_memory(gpus, tmp_path, comm, wire):
    (tmp_path / "net.prototxt").write_text(NET)
    (tmp_path / "solver.prototxt").write_text(SOLVER)

    def losses(way):
        flags = ["-gpu", "0,1", "--comm", comm, "--wire", wire, "--nccl", way]
        command = [sys.executable, "-m", "pycaffe_dist", "train", "-solver", "solver.prototxt"]
        done = subprocess.run(
            [*command, *flags], cwd=tmp_path, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        words = "by NCCL" if way == "on" else "through host memory: --nccl off"
        assert f"GPU ranks exchange {words}" in done.stderr
        lines = [line for line in done.stderr.splitlines() if ", loss =" in line]
        return [float(line.split("loss = ")[1]) for line in lines]

    by_nccl, by_hosts = losses("on"), losses("off")
    assert len(by_nccl) == 5
    np.testing.assert_allclose(by_nccl, by_hosts, rtol=1e-3 if wire == "fp32" else 5e-2)
