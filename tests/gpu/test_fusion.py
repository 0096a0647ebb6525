"""Layers with what is behind them, computed together: the same numbers as one by one."""

from collections import Counter

import numpy as np
import pytest

from pycaffe_dist.recycling import recycle
from pycaffe_dist.testing.gpu import emulated
from pycaffe_dist.testing.twins import Twins

DATA = """
    force_backward: true
    layer { name: "data" type: "Input" top: "data"
            input_param { shape { dim: 3 dim: 2 dim: 4 dim: 4 } } }"""
RELU = 'layer { name: "relu" type: "ReLU" bottom: "c" top: "c" }'
NORM = 'layer { name: "bn" type: "BatchNorm" bottom: "c" top: "c" }'
GLOBAL = NORM.replace("bottom", "batch_norm_param { use_global_stats: true } bottom")
BATCH = GLOBAL.replace("true", "false")
SCALE = """
    layer { name: "scale" type: "Scale" bottom: "c" top: "c"
            scale_param { bias_term: true bias_filler { value: 0.2 } } }"""
NO_BIAS = 'layer { name: "scale" type: "Scale" bottom: "c" top: "c" }'


def conv(bottom, top):
    return f"""
        layer {{ name: "conv_{top}" type: "Convolution" bottom: "{bottom}" top: "{top}"
                 convolution_param {{ num_output: 3 kernel_size: 1 bias_term: false
                     weight_filler {{ type: "gaussian" std: 0.5 }} }} }}"""


def normed(blob):
    """BatchNorm and Scale in place."""
    both = (BATCH + SCALE).replace('"c"', f'"{blob}"')
    return both.replace('"bn"', f'"bn_{blob}"').replace('"scale"', f'"scale_{blob}"')


HEAD = conv("c", "d")
SUM = 'layer { name: "sum" type: "Eltwise" bottom: "a" bottom: "b" top: "c" }'
ELSEWHERE = BATCH.replace('bottom: "c"', 'bottom: "a"')
# By name: the layers, those of each chain, and those where memory is used in turn.
NETS = {
    "norm scale relu": (conv("data", "c") + BATCH + SCALE + RELU, [3], [3]),
    "norm scale": (conv("data", "c") + BATCH + SCALE, [2], [2]),
    "norm scale without bias": (conv("data", "c") + BATCH + NO_BIAS + RELU, [3], [3]),
    "norm relu": (conv("data", "c") + BATCH + RELU, [2], [2]),
    "norm alone": (conv("data", "c") + BATCH, [], []),
    "stored statistics": (conv("data", "c") + GLOBAL + SCALE + RELU, [3], [3]),
    "elsewhere": (conv("data", "a") + ELSEWHERE + SCALE + RELU, [], [3]),
    "sum": (
        conv("data", "a") + normed("a") + conv("data", "b") + normed("b") + SUM + RELU,
        [2, 2],
        [4, 2],
    ),
    "sum with what was": (conv("data", "a") + normed("a") + conv("a", "b") + SUM, [2], [2]),
}
NETS |= {
    "convolution relu": (conv("data", "c") + RELU, [2], [2]),
    "biased convolution relu": (
        conv("data", "c").replace("bias_term: false", "bias_filler { value: 0.1 }") + RELU,
        [2],
        [2],
    ),
    "deconvolution relu": (conv("data", "c").replace('"Conv', '"Deconv') + RELU, [2], [2]),
    "convolution relu with a slope": (
        conv("data", "c") + RELU.replace("bottom", "relu_param { negative_slope: 0.1 } bottom"),
        [],
        [],
    ),
    "convolution relu elsewhere": (
        conv("data", "a") + RELU.replace('bottom: "c', 'bottom: "a'),
        [],
        [],
    ),
}
SUMS = ("sum", "sum with what was")
every_net = pytest.mark.parametrize("name", NETS)
both_phases = pytest.mark.parametrize("train", [True, False], ids=["TRAIN", "TEST"])


@pytest.fixture(autouse=True)
def device():
    with emulated() as engine:
        yield engine


def twins_of(name, engine, train=True):
    twins = Twins(DATA + NETS[name][0] + HEAD, engine, train)
    rng = np.random.default_rng(3)
    for layer, other in zip(twins.net.layers, twins.reference.layers, strict=True):
        if layer.type in ("BatchNorm", "Scale"):
            for blob, twin in zip(layer.blobs, other.blobs, strict=True):
                blob.data[...] = twin.data[...] = rng.uniform(0.5, 1.5, blob.shape)
    if train:
        assert lengths(twins) == NETS[name][1]
    return twins


def lengths(twins):
    return [len(chain.links) for chain in twins.net.fusions.chains]


@every_net
@both_phases
def test_together_as_alone(device, name, train):
    twins = twins_of(name, device, train)
    for seed in range(2):
        twins.fill_inputs(seed)
        twins.step()
        twins.assert_same()
    assert all(c.fused == c.backward_fused for c in twins.net.fusions.chains)


@every_net
def test_passes_in_parts_show_what_is_between(device, name):
    twins = twins_of(name, device)
    twins.fill_inputs()
    middle = twins.net.layer_names.index("conv_d") - 2
    for _ in range(2):
        twins.each(lambda net: net.forward())
        for net in twins.both:
            net.forward(end=middle)
        twins.assert_same(diffs=False)
        for net in twins.both:
            net.forward(start=middle + 1)
            net.blobs[net.output_ids[0]].diff[...] = np.arange(4) - 1.5
            net.backward()
        twins.assert_same()
        twins.each(lambda net: net.forward())
        for net in twins.both:
            net.backward(end=middle + 1)
            net.backward(start=middle)
        twins.assert_same()


@every_net
def test_a_net_that_is_watched_shows_each_layers_result(device, name):
    twins = twins_of(name, device)
    seen = {net: [] for net in twins.both}
    for net in twins.both:
        blob = net.blobs[net.blob_ids["c"]]
        net.after_forward(lambda i, net=net, blob=blob: seen[net].append(blob.data.copy()))
    twins.fill_inputs()
    twins.step()
    twins.assert_same()
    for got, want in zip(seen[twins.net], seen[twins.reference], strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


@every_net
def test_memory_used_in_turn_changes_nothing(device, name, monkeypatch):
    monkeypatch.setattr("pycaffe_dist.recycling.SMALL", 1)
    twins = twins_of(name, device)
    recycle([twins.net])
    assert lengths(twins) == NETS[name][2]
    for seed in range(3):
        twins.fill_inputs(seed)
        twins.each(lambda net: net.forward())
        out, want = (net.blobs[net.output_ids[0]] for net in twins.both)
        np.testing.assert_allclose(out.data, want.data, rtol=1e-4, atol=1e-4)
        out.diff[...] = want.diff[...] = np.arange(4) - 1.5
        twins.each(lambda net: net.backward())
        for ours, theirs in zip(twins.net.layers, twins.reference.layers, strict=True):
            for got, there in zip(ours.blobs, theirs.blobs, strict=True):
                np.testing.assert_allclose(got.data, there.data, rtol=1e-4, atol=1e-4)
                np.testing.assert_allclose(got.diff, there.diff, rtol=1e-3, atol=2e-3)


def test_gradients_add_up_until_they_are_cleared(device):
    twins = twins_of("norm scale relu", device)
    for cleared in (False, True, False):
        if cleared:
            twins.each(lambda net: net.clear_param_diffs())
        twins.fill_inputs()
        twins.step()
        twins.step()
        twins.assert_same()


@pytest.mark.parametrize("name", ["norm scale relu", "sum"])
def test_a_chain_is_two_launches_in_each_direction(device, name):
    """In a net whose memory is used in turn, as pcd train has it; nothing is cleared there."""
    net = twins_of(name, device).net
    recycle([net])
    net.forward()
    net.backward()
    log = device.home.compute.log
    log.clear()
    net.forward()
    net.backward()
    seen = Counter(log)
    assert seen.keys().isdisjoint({"zeros", "setitem", "fill", "relu_forward", "scale", "axpby"})
    added = name == "sum"
    norms = {kernel: count for kernel, count in seen.items() if kernel.startswith("batch_norm")}
    assert norms == {
        "batch_norm_measure": 1 + added,
        "batch_norm_forward": 1,
        **({"batch_norm_add_forward": 1} if added else {}),
        "batch_norm_gradients": 1 + added,
        "batch_norm_backward": 1 + added,
    }


PRODUCTS = {
    "inner product": """type: "InnerProduct" inner_product_param { num_output: 5
        bias_term: @ weight_filler { type: "xavier" } bias_filler { value: 0.1 } }""",
    "columns": """type: "Convolution" convolution_param { num_output: 8 kernel_size: 3 pad: 1
        bias_term: @ weight_filler { type: "xavier" } bias_filler { value: 0.1 } }""",
}
PRODUCTS |= dict.fromkeys(("implicit", "winograd 2x2", "winograd 4x4"), PRODUCTS["columns"])


@pytest.mark.parametrize("bias", [True, False], ids=["biased", "plain"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_a_relu_is_computed_where_a_product_is_written(device, name, bias):
    layer = PRODUCTS[name].replace("@", str(bias).lower())
    data = DATA.replace("dim: 2", "dim: 8").replace("dim: 4", "dim: 5")
    relu = RELU.replace('"c"', '"y"')
    twins = Twins(f'{data} layer {{ name: "y" bottom: "data" top: "y" {layer} }} {relu}', device)
    twins.fill_inputs()
    with device.convolutions.forced(name):
        twins.step()
        log = device.home.compute.log
        log.clear()
        twins.each(lambda net: net.forward())
    seen = Counter(log)
    twins.each(lambda net: net.backward())
    twins.assert_same()
    by_itself = name in ("columns", "inner product")  # a product of cuBLAS's has nothing behind it
    assert seen["bias_forward"] == (by_itself and bias)
    assert seen["relu_forward"] == (by_itself and not bias)
    assert (twins.net.blobs[twins.net.blob_ids["y"]].data == 0).any()
