"""scripts/roofline.py counts what a step does."""

import importlib.util
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from pycaffe_dist.engines.cupy import paper

ROOT = Path(__file__).resolve().parents[2]
NET = """
name: "two products"
layer { name: "data" type: "Input" top: "x" top: "label"
  input_param { shape { dim: 8 dim: 3 dim: 6 dim: 6 } shape { dim: 8 } } }
layer { name: "conv" type: "Convolution" bottom: "x" top: "conv"
  convolution_param { num_output: 4 kernel_size: 3 } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "ip" type: "InnerProduct" bottom: "conv" top: "ip"
  inner_product_param { num_output: 5 } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" }
"""


@pytest.fixture(scope="module")
def roofline():
    sys.path.insert(0, str(ROOT / "scripts"))  # as for a script that is run from there
    spec = importlib.util.spec_from_file_location("roofline", ROOT / "scripts" / "roofline.py")
    module = sys.modules["roofline"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(ROOT / "scripts"))
    del sys.modules["roofline"]


def net_of(tmp_path, batch):
    path = tmp_path / "net.prototxt"
    path.write_text(NET.replace("dim: 8", f"dim: {batch}"))
    return path


def test_a_step_is_counted_by_kernel(roofline, tmp_path):
    batch, floats = 8, 4
    trace = roofline.step(net_of(tmp_path, batch), batch)
    products = [x for x in trace if x.name == "GEMM"]
    conv, ip = 2 * batch * 16 * 4 * 27, 2 * batch * 64 * 5
    # forward, weights' gradient, and for the second layer its bottom's
    assert sorted(x.flops for x in products) == sorted([conv, conv, ip, ip, ip])
    (relu,) = [x for x in trace if x.name == "`relu_forward`"]
    assert (relu.bytes, relu.flops) == (2 * batch * 64 * floats, batch * 64)
    (columns, _) = [x for x in trace if x.name == "`im2col`"]
    assert columns.bytes == batch * floats * (3 * 36 + 27 * 16)
    (update,) = [x for x in trace if x.name == "`sgd_update_all`"]
    values, params, clip = 4 * 27 + 4 + 64 * 5 + 5, 4, 1
    chunks, factors = 3 * params, 2 * params
    assert update.bytes == floats * (6 * values + chunks + factors + clip)
    assert update.flops == 7 * values


def test_depthwise_convolutions_count_a_product_for_each_tap(roofline, tmp_path):
    path, batch, taps = tmp_path / "net.prototxt", 8, 9
    path.write_text(
        NET.replace("num_output: 4 kernel_size: 3", "num_output: 6 group: 3 kernel_size: 3")
    )
    found = {x.name: x.flops for x in roofline.step(path, batch) if "depthwise" in x.name}
    products = 2 * batch * 6 * 16 * taps
    assert found == {"`depthwise_forward`": products, "`depthwise_weight_sums`": products}


def test_counts_are_straight_lines_in_the_batch_size(roofline):
    lenet = ROOT / "models" / "lenet" / "train_val.prototxt"
    assert roofline.followed(lenet, 8) == roofline.step(lenet, 8)


def test_products_in_16_bits_read_half_as_much_and_run_on_tensor_cores(roofline, tmp_path):
    batch, path = 8, net_of(tmp_path, 8)
    plain, half = (roofline.step(path, batch, p) for p in ("fp32", "fp16"))
    last = [[x for x in trace if x.name == "GEMM"][1] for trace in (plain, half)]  # ip's forward
    factors, out = batch * 64 + 64 * 5, batch * 5
    assert [x.bytes for x in last] == [4 * (factors + out), 2 * factors + 4 * out]
    assert [x.flops for x in last] == [2 * batch * 64 * 5] * 2
    casts = [x.bytes for x in half if x.name == "`factor_to_half`"]
    assert 6 * factors in [a + b for a, b in pairwise(casts)]
    device = paper.Device("one", 1e30, 1e6, {"fp16": 8e6})
    assert last[0].least(device) == 8 * last[1].least(device)


def test_the_slower_of_memory_and_arithmetic_is_the_bound(roofline):
    device = paper.Device("one", bandwidth=1e9, flops=10e9)
    memory, sums = paper.Launch("a", 1e9, 1e9), paper.Launch("b", 1e9, 50e9)
    tiny = paper.Launch("c", 1, 1)
    assert [x.least(device) for x in (memory, sums)] == [1, 5]
    assert [x.bound(device) for x in (memory, sums, tiny)] == ["memory", "arithmetic", "launches"]
    assert tiny.expected(device) == paper.LAUNCH
