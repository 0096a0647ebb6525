"""Element-wise layers with oneDNN: in place or not, of any shape, in any layout."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pycaffe_dist.engines import create
from pycaffe_dist.engines.onednn.core.formulas import Formula
from pycaffe_dist.engines.onednn.core.primitives import Layout
from pycaffe_dist.engines.onednn.layers import prelu
from pycaffe_dist.testing.twins import Twins

ENGINE = create("onednn")

NEURONS = [
    'type: "ReLU"',
    'type: "ReLU" relu_param { negative_slope: 0.1 }',
    'type: "ReLU" relu_param { negative_slope: -0.5 }',
    'type: "ReLU6"',
    'type: "ELU"',
    'type: "TanH"',
    'type: "Sigmoid"',
    'type: "Swish" swish_param { beta: 1.5 }',
    'type: "AbsVal"',
    'type: "BNLL"',
    'type: "Clip" clip_param { min: -0.5 max: 0.75 }',
    'type: "Clip" clip_param { min: 0.25 max: 0.75 }',
    'type: "Exp" exp_param { base: 2 scale: 0.5 shift: 0.25 }',
    'type: "Log" log_param { base: 2 scale: 0.1 shift: 3 }',
    'type: "Power" power_param { power: 1 scale: -2 shift: 0.5 }',
    'type: "Power" power_param { power: 2 scale: 0.5 shift: 1 }',
    'type: "Power" power_param { power: 3 shift: 0.5 }',
    'type: "Power" power_param { power: 0.7 scale: 0.1 shift: 2 }',
    'type: "PReLU"',
    'type: "PReLU" prelu_param { channel_shared: true }',
    'type: "Dropout" dropout_param { dropout_ratio: 0.4 }',
]
PLACES = [(n, False) for n in NEURONS] + [(n, True) for n in NEURONS if "AbsVal" not in n]
SLOW = ("channel_shared",)
CONVOLUTION = """
    layer {{ name: "c" type: "Convolution" bottom: "x" top: "c"
             convolution_param {{ num_output: {channels} kernel_size: 1
                                  weight_filler {{ type: "gaussian" std: 0.4 }} }} }}
"""


def twins_of(layer, shape, before="", in_place=False, **options):
    dims = " ".join(f"dim: {d}" for d in shape)
    bottom = "c" if before else "x"
    text = f"""
        force_backward: true
        layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ {dims} }} }} }}
        {before}
        layer {{ name: "y" bottom: "{bottom}" top: "{bottom if in_place else "y"}" {layer} }}
    """
    twins = Twins(text, ENGINE, **options)
    twins.fill_inputs()
    return twins


def check(twins, layer, padded=False):
    for seed in range(2):
        twins.fill_inputs(seed)
        twins.step()
        twins.assert_same(1e-4)
    if not (padded and "PReLU" in layer):  # which not every processor has a primitive for
        assert twins.net.layers[-1].fast is not any(word in layer for word in SLOW)


@pytest.mark.parametrize("train", [True, False], ids=["TRAIN", "TEST"])
@pytest.mark.parametrize("layer, in_place", PLACES)
def test_plain_memory(layer, in_place, train):
    check(twins_of(layer, (3, 5, 7), in_place=in_place, train=train), layer)


@pytest.mark.parametrize("channels", [16, 20])
@pytest.mark.parametrize("layer, in_place", PLACES)
def test_behind_a_convolution(layer, in_place, channels):
    """With 20 channels, blocks of 8 or 16 have padding, which must stay 0."""
    before = CONVOLUTION.format(channels=channels)
    check(twins_of(layer, (2, 8, 5, 6), before, in_place), layer, padded=channels == 20)


@pytest.mark.parametrize("layer", [n for n in NEURONS if "PReLU" not in n])
@settings(max_examples=4, deadline=None, database=None)
@given(shape=st.lists(st.integers(1, 6), max_size=6))
def test_any_number_of_axes(layer, shape):
    twins = twins_of(layer, shape)
    twins.step()
    twins.assert_same(1e-5)
    assert twins.net.layers[-1].fast


@pytest.mark.parametrize(
    "layer", [n for n in NEURONS if "Exp" not in n and "negative_slope: -" not in n]
)
def test_not_a_number_stays_so(layer):
    twins = twins_of(layer, (2, 3, 7))
    for net in twins.both:
        net.blobs[0].data[0, 1, 2:5] = np.nan
    twins.each(lambda net: net.forward())
    np.testing.assert_array_equal(*(np.isnan(net.blobs[1].data) for net in twins.both))


@pytest.mark.parametrize("shape", [(3, 5, 7), (2, 16, 4, 3)])
def test_prelu_looks_for_them_in_every_value(shape, monkeypatch):
    sizes = []
    monkeypatch.setattr(prelu, "finite", lambda values: sizes.append(values.size) or True)
    twins_of('type: "PReLU"', shape).step()
    assert sizes == [np.prod(shape)]


@pytest.mark.parametrize("layer", NEURONS[:10])
def test_infinity_and_zero(layer):
    twins = twins_of(layer, (2, 8))
    for net in twins.both:
        net.blobs[0].data[0, :4] = np.inf, -np.inf, 0, 100
        net.blobs[0].data[1, :3] = -0.0, -100, 1e-30
    with np.errstate(all="ignore"):
        twins.each(lambda net: net.forward())
    ours, theirs = (net.blobs[1].data for net in twins.both)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-30)


@pytest.mark.parametrize(
    "layer", ['type: "ReLU"', 'type: "TanH"', 'type: "Clip" clip_param { min: 0 max: 6 }']
)
def test_blocks_of_channels_are_handed_on(layer):
    twins = twins_of(layer, (2, 8, 5, 6), CONVOLUTION.format(channels=16))
    twins.step()
    for value in (twins.net.blobs[2].data_value, twins.net.blobs[1].diff_value):
        assert any(isinstance(home, Layout) for home in value.current)


def test_a_bottom_that_comes_in_another_layout_is_taken_as_it_comes():
    twins = twins_of('type: "ReLU"', (2, 8, 5, 6), CONVOLUTION.format(channels=16))
    twins.step()

    def plain(net):
        net.blobs[1].data[:, 3] = -1  # now in Caffe's own order
        net.forward(start=2)

    twins.each(plain)
    twins.assert_same(diffs=False)
    twins.step()
    twins.assert_same()


def test_a_blob_that_shrinks_and_grows():
    twins = twins_of('type: "Sigmoid"', (4, 6))
    for shape in ((2, 6), (1, 1), (5, 7), (3, 7)):
        for net in twins.both:
            net.blobs[0].reshape(*shape)
        twins.fill_inputs(sum(shape))
        twins.step()
        twins.assert_same()


def test_dropout_in_place_has_nothing_to_do_outside_of_training():
    before = CONVOLUTION.format(channels=16)
    twins = twins_of('type: "Dropout"', (2, 8, 5, 6), before, in_place=True, train=False)
    twins.each(lambda net: net.forward())
    home = next(iter(twins.net.blobs[1].data_value.current))
    twins.net.layers[2].forward(twins.net.bottoms[2], twins.net.tops[2])
    assert twins.net.blobs[1].data_value.current == {home}
    twins.assert_same(diffs=False)


def test_dropout_draws_the_numbers_of_the_generic_layer():
    twins = twins_of('type: "Dropout"', (4, 8, 5, 6), CONVOLUTION.format(channels=20))
    twins.step()
    ours, theirs = (net.blobs[2].data == 0 for net in twins.both)
    np.testing.assert_array_equal(ours, theirs)
    assert 0.4 < ours.mean() < 0.6


def test_a_formula_names_its_operands_in_the_order_of_their_first_use():
    formula = Formula("a", ("mul", "b"), ("linear", 2, 1), ("add", "a"), ("div", "c"), ("max", 0.0))
    assert formula.names == ["a", "b", "c"]
    a, b, c = (np.random.default_rng(i).standard_normal(33).astype(np.float32) for i in range(3))
    out = np.empty_like(a)
    formula.over(33)(a, b, c, out)
    np.testing.assert_allclose(out, np.maximum((a * b * 2 + 1 + a) / c, 0), rtol=1e-5)


def test_a_formula_reads_no_more_than_its_length():
    a, out = np.ones(40, np.float32), np.zeros(40, np.float32)
    Formula("a", ("exp",)).over(5)(a, out)
    assert out.nonzero()[0].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("slopes", ["learn", "stay"])
@pytest.mark.parametrize("below", ["learns", "stays"])
@pytest.mark.parametrize("in_place", [False, True])
def test_prelu_gives_the_gradients_that_are_asked_for(slopes, below, in_place):
    """Nothing forces a backward pass here: slopes or the layer below may be the only to learn."""
    rate = "param { lr_mult: 0 } param { lr_mult: 0 }" if below == "stays" else ""
    frozen = {"learn": "", "stay": "param { lr_mult: 0 }"}[slopes]
    text = f"""
        layer {{ name: "x" type: "Input" top: "x" top: "t"
                 input_param {{ shape {{ dim: [3, 8, 5, 7] }} shape {{ dim: [3, 5, 5, 7] }} }} }}
        layer {{ name: "c" type: "Convolution" bottom: "x" top: "c" {rate}
                 convolution_param {{ num_output: 5 kernel_size: 1
                                      weight_filler {{ type: "gaussian" std: 0.4 }} }} }}
        layer {{ name: "y" type: "PReLU" bottom: "c" top: "{"c" if in_place else "y"}" {frozen} }}
        layer {{ name: "l" type: "EuclideanLoss" bottom: "{"c" if in_place else "y"}" bottom: "t"
                 top: "l" }}
    """
    twins = Twins(text, ENGINE)
    for seed in range(2):
        twins.fill_inputs(seed)
        twins.step()
        for name in ("c", "y"):
            ours, theirs = (net.layers[net.layer_names.index(name)] for net in twins.both)
            learns = (below == "learns") if name == "c" else (slopes == "learn")
            for got, want in zip(ours.blobs, theirs.blobs, strict=True):
                np.testing.assert_allclose(got.diff, want.diff, rtol=1e-4, atol=1e-5)
                assert got.diff.any() == learns
    assert twins.net.layers[twins.net.layer_names.index("y")].fast


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("in_place", [False, True])
def test_gradients_of_prelu_are_caffe_s_for_what_is_not_finite(bad, in_place):
    twins = twins_of('type: "PReLU"', (2, 3, 7), in_place=in_place)
    for net in twins.both:
        net.blobs[0].data[0, 1, 2] = bad
    with np.errstate(all="ignore"):
        twins.step()
    ours, theirs = twins.both
    np.testing.assert_array_equal(ours.layers[-1].blobs[0].diff, theirs.layers[-1].blobs[0].diff)
    np.testing.assert_array_equal(ours.blobs[0].diff, theirs.blobs[0].diff)
