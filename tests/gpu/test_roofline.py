"""scripts/roofline.py counts what a step does."""

import importlib.util
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from pycaffe_dist.engines.cupy import paper
from pycaffe_dist.engines.cupy.convolution import choice, columns, implicit, winograd

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
    trace = roofline.step(net_of(tmp_path, batch), batch, ways=roofline.BY_COLUMNS)
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


SOURCE = """
layer { name: "data" type: "Data" top: "x" top: "label" transform_param { crop_size: 6 }
  data_param { source: "nowhere" batch_size: 5 } }
layer { name: "conv"
"""


def sourced_net(tmp_path):
    """Of images (3, 6, 6), as many as are asked for."""
    path = tmp_path / "net.prototxt"
    convolved = NET.replace("num_output: 4 kernel_size: 3", "num_output: 10 kernel_size: 3 pad: 1")
    path.write_text(SOURCE + convolved.partition('layer { name: "conv"')[2])
    return path


@pytest.mark.parametrize("way", ["columns", "implicit", "winograd 4x4"])
def test_counts_are_straight_lines_in_the_batch_size(roofline, tmp_path, monkeypatch, way):
    monkeypatch.setattr(winograd, "LEAST", 1)
    ways = [kind for kind in choice.WAYS if kind.name == way]
    path = sourced_net(tmp_path)
    made = roofline.step(path, 8, ways=ways)
    assert roofline.followed(path, 8, ways=ways) == made
    of_way = {"columns": "`im2col`", "implicit": "`weigh_small`"}.get(way, "`winograd_out_4`")
    assert of_way in [launch.name for launch in made]


def test_products_by_tiles_count_what_is_computed(roofline, tmp_path):
    """Rows are filled up to a tile's side; columns and sums are those that there are."""
    batch, floats = 8, 4
    path = sourced_net(tmp_path)
    made = roofline.step(path, batch, ways=[implicit.Implicit])
    pixels, weights, side = batch * 36, 10 * 27, 64
    found = {x.name: x for x in made if "convolve" in x.name or "weigh" in x.name}
    forward, filters = found["`convolve_small`"], found["`weigh_small`"]
    assert forward.flops == 2 * side * pixels * 27
    assert filters.flops == 2 * side * side * pixels
    table = floats * (20 + 4 * 27)
    assert forward.bytes == floats * (3 * pixels + weights + 10 + 10 * pixels) + table
    assert filters.bytes == floats * (3 * pixels + weights + 10 * pixels) + table


def test_winograds_products_are_a_quarter_and_in_full(roofline, tmp_path, monkeypatch):
    monkeypatch.setattr(winograd, "LEAST", 1)
    batch, path = 8, sourced_net(tmp_path)
    made = roofline.step(path, batch, "fp16", ways=[winograd.Winograd4])
    tiles = batch * 4  # of 4 × 4, on 6 × 6 pixels
    products = [x for x in made if x.name == "GEMM" and x.flops == 36 * 2 * tiles * 3 * 10]
    assert [x.precision for x in products] == ["", ""]
    (out,) = [x for x in made if x.name == "`winograd_out_4`"]
    assert out.flops == tiles * 10 * roofline.transforming("winograd_out_4")
    assert roofline.transforming("winograd_image_2") == 2 * 8 * (4 + 4)


def test_ways_are_chosen_for_the_batch_that_is_asked_for(roofline, tmp_path, monkeypatch):
    class Either(columns.Columns):
        @classmethod
        def work(cls, case):
            seen.add(case.images)
            return super().work(case)

    seen = set()
    roofline.followed(sourced_net(tmp_path), 64, ways=[Either])
    assert seen == {64}


def test_products_in_16_bits_read_half_as_much_and_run_on_tensor_cores(roofline, tmp_path):
    batch, path = 8, net_of(tmp_path, 8)
    by = roofline.BY_COLUMNS
    plain, half = (roofline.step(path, batch, p, by) for p in ("fp32", "fp16"))
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
