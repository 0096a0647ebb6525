"""Layers computed together: the same numbers as one by one, in every kind of pass."""

import numpy as np
import pytest

from pycaffe_dist.engines import create
from pycaffe_dist.engines.onednn.core.library import OneDnnError
from pycaffe_dist.engines.onednn.layers import batch_norm
from pycaffe_dist.recycling import recycle
from pycaffe_dist.testing.twins import Twins

ENGINE = create("onednn")

DATA = """
    force_backward: true
    layer { name: "data" type: "Input" top: "data"
            input_param { shape { dim: 4 dim: 8 dim: 7 dim: 7 } } }"""
RELU = 'layer { name: "relu" type: "ReLU" bottom: "c" top: "c" }'
LEAKY = RELU.replace("bottom", "relu_param { negative_slope: 0.1 } bottom")
NORM = 'layer { name: "bn" type: "BatchNorm" bottom: "c" top: "c" }'
GLOBAL = NORM.replace("bottom", "batch_norm_param { use_global_stats: true } bottom")
BATCH = GLOBAL.replace("true", "false")
SCALE = """
    layer { name: "scale" type: "Scale" bottom: "c" top: "c"
            scale_param { bias_term: true bias_filler { value: 0.2 } } }"""
NO_BIAS = 'layer { name: "scale" type: "Scale" bottom: "c" top: "c" }'


@pytest.fixture(scope="module", autouse=True, params=[0, batch_norm.FEW], ids=["onednn", "numpy"])
def who_takes_statistics(request):
    """Of batches as small as those here it would be NumPy, always."""
    kept, batch_norm.FEW = batch_norm.FEW, request.param
    yield
    batch_norm.FEW = kept


def conv(bottom, top, channels=16, more=""):
    return f"""
        layer {{ name: "conv_{top}" type: "Convolution" bottom: "{bottom}" top: "{top}"
                 convolution_param {{ num_output: {channels} kernel_size: 3 pad: 1 {more}
                     weight_filler {{ type: "gaussian" std: 0.2 }} bias_filler {{ value: 0.1 }} }}
        }}"""


def inner_product(bottom, top):
    return f"""
        layer {{ name: "ip_{top}" type: "InnerProduct" bottom: "{bottom}" top: "{top}"
                 inner_product_param {{ num_output: 12 weight_filler {{ type: "xavier" }} }} }}"""


ELTWISE = 'layer { name: "sum" type: "Eltwise" bottom: "a" bottom: "b" top: "c" }'
UNBIASED = "bias_term: false"
HEAD = conv("c", "d", 8)
NETS = {
    "conv relu": (conv("data", "c") + RELU, None, "Rectified"),
    "conv leaky": (conv("data", "c") + LEAKY, "Rectified", "Rectified"),
    "odd conv relu": (conv("data", "c", 5) + RELU, None, "Rectified"),
    "sum relu": (
        conv("data", "a") + conv("data", "b") + ELTWISE + RELU,
        None,
        "Rectified",
    ),
    "norm scale relu": (
        conv("data", "c", 16, UNBIASED) + NORM + SCALE + RELU,
        "Normalised",
        "Folded",
    ),
    "odd norm scale relu": (
        conv("data", "c", 5, UNBIASED) + NORM + SCALE + RELU,
        "Normalised",
        "Folded",
    ),
    "norm scale": (conv("data", "c", 16, UNBIASED) + NORM + SCALE, "Normalised", "Folded"),
    "norm scale leaky": (
        conv("data", "c", 16, UNBIASED) + NORM + SCALE + LEAKY,
        "Normalised",
        "Folded",
    ),
    "norm scale without bias": (
        conv("data", "c", 16, UNBIASED) + NORM + NO_BIAS + RELU,
        "Normalised",
        "Folded",
    ),
    "norm relu": (conv("data", "c", 16, UNBIASED) + NORM + RELU, "Normalised", "Folded"),
    "stored statistics": (conv("data", "c") + GLOBAL + SCALE + RELU, "Normalised", "Folded"),
    "groups": (
        conv("data", "c", 16, "group: 4") + GLOBAL + SCALE + RELU,
        "Normalised",
        "Folded",
    ),
    "statistics of the batch": (
        conv("data", "c", 16, UNBIASED) + BATCH + SCALE + RELU,
        "Normalised",
        "Normalised",
    ),
    "statistics of the batch, then relu": (
        conv("data", "c", 16, UNBIASED) + BATCH + RELU,
        "Normalised",
        "Normalised",
    ),
    "norm in another blob": (
        conv("data", "a", 16, UNBIASED) + NORM.replace('bottom: "c"', 'bottom: "a"') + SCALE + RELU,
        None,
        "Normalised",
    ),
}


def twins_of(name, train):
    text, *kinds = NETS[name]
    twins = Twins(DATA + text + HEAD, ENGINE, train)
    for layer, other in zip(twins.net.layers, twins.reference.layers, strict=True):
        if layer.type in ("BatchNorm", "Scale"):
            for blob, blob_too in zip(layer.blobs, other.blobs, strict=True):
                blob.data[...] = np.random.default_rng(3).uniform(0.5, 1.5, blob.shape)
                blob_too.data[...] = blob.data
    kind = kinds[0] if train else kinds[1]
    assert [type(chain).__name__ for chain in twins.net.fusions.chains] == [kind] * bool(kind)
    return twins


def last_of(twins):
    """The index of the last layer of the chain, or of what would be one."""
    return twins.net.layer_names.index("conv_d") - 1


def check(twins, passes=2):
    for seed in range(passes):
        twins.fill_inputs(seed)
        twins.step()
        twins.assert_same()


every_net = pytest.mark.parametrize("name", NETS)
both_phases = pytest.mark.parametrize("train", [True, False], ids=["TRAIN", "TEST"])


@every_net
@both_phases
def test_together_as_alone(name, train):
    twins = twins_of(name, train)
    check(twins)
    for chain in twins.net.fusions.chains:
        assert chain.fused == chain.backward_fused  # else it parts before its backward pass


@every_net
@both_phases
def test_blobs_are_right_after_a_forward_pass(name, train):
    twins = twins_of(name, train)
    for seed in range(3):
        twins.fill_inputs(seed)
        twins.each(lambda net: net.forward())
        assert all(chain.fused for chain in twins.net.fusions.chains)
        twins.assert_same(diffs=False)


@every_net
@both_phases
def test_a_pass_in_two_parts_shows_what_is_between(name, train):
    twins = twins_of(name, train)
    twins.fill_inputs()
    for _ in range(2):
        twins.each(lambda net: net.forward())
        middle = last_of(twins) - 1
        for one in twins.both:
            one.forward(end=middle)
        twins.assert_same(diffs=False)
        for one in twins.both:
            one.forward(start=middle + 1)
            one.blobs[one.output_ids[0]].diff[...] = 0.3
            one.backward()
        twins.assert_same()


@every_net
@both_phases
def test_a_backward_pass_in_two_parts_after_a_whole_forward_pass(name, train):
    twins = twins_of(name, train)
    twins.fill_inputs()
    for _ in range(2):
        twins.each(lambda net: net.forward())
        middle = last_of(twins)
        for one in twins.both:
            one.blobs[one.output_ids[0]].diff[...] = np.arange(7) - 2.5
            one.backward(end=middle)
        twins.assert_same()
        for one in twins.both:
            one.backward(start=middle - 1)
        twins.assert_same()


@every_net
def test_a_net_that_is_watched_shows_each_layers_result(name):
    twins = twins_of(name, True)
    seen = {net: [] for net in twins.both}
    for net in twins.both:
        blob = net.blobs[net.blob_ids["c"]]
        net.after_forward(lambda i, net=net, blob=blob: seen[net].append(blob.data.copy()))
    check(twins, 1)
    for got, want in zip(seen[twins.net], seen[twins.reference], strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


@every_net
@both_phases
def test_gradients_add_up_over_passes_that_are_not_cleared(name, train):
    twins = twins_of(name, train)
    for cleared in (False, True, False):
        if cleared:
            twins.each(lambda net: net.clear_param_diffs())
        twins.fill_inputs()
        twins.step()
        twins.step()
        twins.assert_same()


@every_net
@both_phases
def test_memory_used_in_turn_changes_nothing(name, train, monkeypatch):
    monkeypatch.setattr("pycaffe_dist.recycling.SMALL", 1)
    twins = twins_of(name, train)
    recycle([twins.net])
    kind = NETS[name][1] if train else NETS[name][2]
    if name == "norm in another blob":  # which nobody can see any more
        kind = "Normalised" if train else "Folded"
    if name == "sum relu" and not train:  # nor what is added
        kind = "Summed"
    assert [type(chain).__name__ for chain in twins.net.fusions.chains] == [kind] * bool(kind)
    for seed in range(3):
        twins.fill_inputs(seed)
        twins.each(lambda net: net.forward())
        out, want = (net.blobs[net.output_ids[0]] for net in twins.both)
        np.testing.assert_allclose(out.data, want.data, rtol=1e-4, atol=1e-4)
        if train:
            out.diff[...] = want.diff[...] = 0.7
            twins.each(lambda net: net.backward())
            for ours, theirs in zip(twins.net.layers, twins.reference.layers, strict=True):
                for got, there in zip(ours.blobs, theirs.blobs, strict=True):
                    np.testing.assert_allclose(got.data, there.data, rtol=1e-4, atol=1e-4)
                    np.testing.assert_allclose(got.diff, there.diff, rtol=1e-3, atol=2e-3)


@pytest.mark.parametrize("layer", ["conv_c", "bn", "scale"])
def test_folded_weights_follow_every_parameter(layer):
    twins = twins_of("stored statistics", False)
    check(twins)
    for one in twins.both:
        blobs = one.layers[one.layer_names.index(layer)].blobs
        blobs[0].data[...] *= 1.5
        blobs[-1].data[...] += 0.5
    check(twins)


def test_folded_weights_are_not_computed_again_while_nothing_changes():
    net = twins_of("stored statistics", False).net
    net.forward()
    chain = net.fusions.chains[0]
    before = chain.folding.params()[0].blob.data_value.version
    net.forward()
    assert chain.folding.params()[0].blob.data_value.version == before


def test_weights_that_a_test_net_shares_with_a_training_net_are_folded_anew():
    text = NETS["norm scale relu"][0]
    training, test = Twins(DATA + text + HEAD, ENGINE), Twins(DATA + text + HEAD, ENGINE, False)
    for one, other in zip(test.both, training.both, strict=True):
        for ours, theirs in zip(one.layers, other.layers, strict=True):
            for blob, source in zip(ours.blobs, theirs.blobs, strict=True):
                blob.share_data(source)
    for seed in range(3):
        check(training, 1)
        test.fill_inputs(seed)
        test.each(lambda net: net.forward())
        test.assert_same(diffs=False)


def test_the_scales_gradient_is_there_when_its_turn_has_passed():
    twins = twins_of("norm scale relu", True)
    net = twins.net
    index = net.layer_names.index("scale")
    sums = []
    net.after_backward(
        lambda i: sums.append(float(np.abs(net.layers[i].blobs[0].diff).sum())) if i == index else 0
    )
    twins.fill_inputs()
    twins.step()
    assert sums[0] > 0


def test_parameters_may_arrive_as_late_as_their_layers_turn():
    twins = twins_of("norm scale relu", True)
    for net in twins.both:

        def arrive(i, net=net):
            if net.layer_names[i] == "scale":
                net.layers[i].blobs[0].data[...] = 3

        net.before_forward(arrive)
    check(twins)
    assert twins.net.fusions.chains[0].fused


def test_layers_that_need_no_backward_pass_together_stay_apart():
    frozen = NORM.replace("bottom", "param { lr_mult: 0 } " * 3 + "bottom")
    frozen_conv = conv("data", "c", 16, UNBIASED).replace(
        "convolution_param", "param { lr_mult: 0 } convolution_param"
    )
    text = DATA.replace("force_backward: true", "") + frozen_conv + frozen + SCALE + RELU + HEAD
    text += 'layer { name: "l" type: "Reduction" bottom: "d" top: "l" loss_weight: 1 }'
    twins = Twins(text, ENGINE)
    assert not twins.net.fusions.chains
    check(twins)


def test_inner_product_with_relu():
    text = DATA + inner_product("data", "c") + RELU + inner_product("c", "d")
    twins = Twins(text, ENGINE, train=False)
    assert [type(chain).__name__ for chain in twins.net.fusions.chains] == ["Rectified"]
    check(twins)
    assert twins.net.fusions.chains[0].fused


@pytest.mark.parametrize("name", ["conv relu", "conv leaky", "sum relu", "norm scale relu"])
def test_a_net_that_diverges_in_training_shows_it(name):
    twins = twins_of(name, train=True)
    first = next(layer for layer in twins.net.layers if layer.blobs)
    first.blobs[0].data[...] = np.nan
    twins.net.forward()
    assert np.isnan(twins.net.blobs[twins.net.output_ids[0]].data).all()


def test_a_layer_in_place_of_another_kind_ends_the_chain():
    power = 'layer { name: "p" type: "Power" bottom: "c" top: "c" power_param { shift: 1 } }'
    twins = Twins(DATA + conv("data", "c") + power + RELU + HEAD, ENGINE)
    assert not twins.net.fusions.chains
    check(twins)


def test_other_batch_sizes_later():
    for name in ("norm scale relu", "conv relu"):
        for train in (True, False):
            twins = twins_of(name, train)
            for images in (4, 2, 6):
                for one in twins.both:
                    one.blobs[one.input_ids[0]].reshape(images, 8, 7, 7)
                check(twins, 1)


def test_double_precision_is_computed_by_numpy():
    from pycaffe_dist.layer import Context
    from pycaffe_dist.net import Net
    from pycaffe_dist.proto.caffe_pb2 import NetParameter
    from pycaffe_dist.proto.text import parse_text

    text = DATA + NETS["norm scale relu"][0] + HEAD
    net = Net(parse_text(text, NetParameter()).message, Context(dtype=np.float64, engine=ENGINE))
    net.blobs[0].data[...] = np.random.default_rng(0).standard_normal((4, 8, 7, 7))
    net.forward()
    net.backward()
    assert not net.fusions.chains[0].fused
    assert (net.blobs[net.blob_ids["c"]].data > 0).any()


def test_a_convolution_that_is_left_to_numpy_has_its_relu_computed_apart(monkeypatch):
    def refuse(*views):
        raise OneDnnError("not this one")

    twins = twins_of("conv leaky", True)
    (chain,) = twins.net.fusions.chains
    monkeypatch.setattr(chain.links[0].layer, "prepare", refuse)
    for net in twins.both:
        net.blobs[net.input_ids[0]].reshape(3, 8, 7, 7)
    twins.fill_inputs(0)
    twins.each(lambda net: net.forward())
    assert not chain.fused
    twins.assert_same(diffs=False)
