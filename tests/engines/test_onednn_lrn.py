"""LRN with oneDNN: sums over channels or pixels, of any size and power."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pycaffe_dist.engines import create
from pycaffe_dist.testing.twins import Twins

ENGINE = create("onednn")


def normalised(shape, param, before="", bottom="x", top="y"):
    dims = " ".join(f"dim: {d}" for d in shape)
    text = f"""
        force_backward: true
        layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ {dims} }} }} }}
        {before}
        layer {{ name: "y" type: "LRN" bottom: "{bottom}" top: "{top}" lrn_param {{ {param} }} }}
    """
    twins = Twins(text, ENGINE)
    twins.fill_inputs()
    return twins


def check(twins, fast=True):
    for seed in range(2):
        twins.fill_inputs(seed)
        twins.step()
        twins.assert_same(2e-5)
    assert twins.net.layers[-1].fast is fast


@settings(max_examples=30, deadline=None, database=None)
@given(
    shape=st.tuples(st.integers(1, 5), st.integers(1, 19), st.integers(1, 9), st.integers(1, 9)),
    size=st.sampled_from([1, 3, 5, 7, 9]),
    region=st.sampled_from(["ACROSS_CHANNELS", "WITHIN_CHANNEL"]),
    alpha=st.sampled_from([1e-4, 1.0, 20.0]),
    beta=st.sampled_from([0.75, 0.5, 1.0, 0.6]),
    k=st.sampled_from([1.0, 2.0]),
)
def test_any_size_and_power(shape, size, region, alpha, beta, k):
    param = f"local_size: {size} norm_region: {region} alpha: {alpha} beta: {beta} k: {k}"
    check(normalised(shape, param))


@pytest.mark.parametrize("channels", [16, 20])
@pytest.mark.parametrize("region", ["ACROSS_CHANNELS", "WITHIN_CHANNEL"])
def test_behind_a_convolution(channels, region):
    convolution = f"""
        layer {{ name: "c" type: "Convolution" bottom: "x" top: "c"
                 convolution_param {{ num_output: {channels} kernel_size: 3
                                      weight_filler {{ type: "xavier" }} }} }}
    """
    check(normalised((3, 8, 11, 11), f"alpha: 0.5 norm_region: {region}", convolution, "c"))


def test_many_small_images_are_taken_together():
    twins = normalised((64, 32, 16, 16), "norm_region: WITHIN_CHANNEL local_size: 3 alpha: 0.5")
    check(twins)
    assert 1 < twins.net.layers[-1]._around.parts < 64


def test_in_place_it_is_left_to_numpy():
    check(normalised((2, 8, 5, 5), "alpha: 0.5", top="x"), fast=False)
