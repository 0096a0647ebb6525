"""Pooling with oneDNN: Caffe's windows, Caffe's divisors, Caffe's choice among equals."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pycaffe_dist.engines import create
from pycaffe_dist.engines.onednn.core.primitives import Layout
from pycaffe_dist.engines.onednn.core.remembered import CHOICES
from pycaffe_dist.errors import NetError
from pycaffe_dist.memory import HOST
from pycaffe_dist.testing.twins import Twins

ENGINE = create("onednn")


def pooling(shape, param, **options):
    dims = " ".join(f"dim: {d}" for d in shape)
    text = f"""
        force_backward: true
        layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ {dims} }} }} }}
        layer {{ name: "y" type: "Pooling" bottom: "x" top: "y" pooling_param {{ {param} }} }}
    """
    twins = Twins(text, ENGINE, **options)
    twins.fill_inputs()
    return twins


@settings(max_examples=60, deadline=None, database=None)
@given(
    shape=st.tuples(st.integers(1, 3), st.integers(1, 19), st.integers(1, 12), st.integers(1, 12)),
    kernel=st.tuples(st.integers(1, 5), st.integers(1, 5)),
    stride=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    pad=st.tuples(st.integers(0, 2), st.integers(0, 2)),
    pool=st.sampled_from(["MAX", "AVE"]),
    rounding=st.sampled_from(["CEIL", "FLOOR"]),
)
def test_any_windows(shape, kernel, stride, pad, pool, rounding):
    names = zip(("kernel", "stride", "pad"), (kernel, stride, pad), strict=True)
    sizes = " ".join(f"{name}_h: {h} {name}_w: {w}" for name, (h, w) in names)
    try:
        twins = pooling(shape, f"pool: {pool} {sizes} round_mode: {rounding}")
    except NetError:
        assume(False)
    twins.step()
    twins.assert_same(1e-6)


@pytest.mark.parametrize(
    "shape, param, fast",
    [
        ((2, 96, 13, 13), "kernel_size: 3 stride: 2", True),
        ((2, 20, 24, 24), "kernel_size: 2 stride: 2", True),
        ((2, 16, 9, 9), "kernel_size: 3 stride: 1 pad: 1", True),
        ((2, 16, 10, 10), "kernel_size: 3 stride: 2 pad: 1", True),
        ((2, 32, 16, 16), "pool: AVE kernel_size: 3 stride: 2", True),
        ((2, 32, 9, 9), "pool: AVE kernel_size: 3 stride: 1 pad: 1", True),
        ((2, 64, 7, 7), "pool: AVE global_pooling: true", True),
        # The last windows reach over the padding, which counts, into what does not.
        ((2, 32, 10, 10), "pool: AVE kernel_size: 3 stride: 2 pad: 1", False),
        ((2, 8, 3, 3), "kernel_size: 1 stride: 4", False),  # a window that sees nothing
        ((2, 8, 4, 4), "pool: STOCHASTIC kernel_size: 2 stride: 2", False),
    ],
    ids=str,
)
def test_what_is_left_to_numpy(shape, param, fast):
    twins = pooling(shape, param)
    twins.fill_inputs()
    for _ in range(2):
        twins.step()
        twins.assert_same(1e-6)
    assert twins.net.layers[1].fast is fast


def test_the_mask_is_left_to_numpy():
    twins = Twins(
        """
        layer { name: "x" type: "Input" top: "x"
                input_param { shape { dim: 1 dim: 8 dim: 6 dim: 6 } } }
        layer { name: "y" type: "Pooling" bottom: "x" top: "y" top: "mask"
                pooling_param { kernel_size: 3 stride: 2 } }
        """,
        ENGINE,
    )
    twins.fill_inputs()
    twins.each(lambda net: net.forward())
    twins.assert_same()
    assert not twins.net.layers[1].fast


@pytest.mark.parametrize("channels", [5, 8, 32])
def test_of_equal_values_the_first_gets_the_gradient(channels):
    twins = pooling((2, channels, 8, 8), "kernel_size: 3 stride: 2")
    for net in twins.both:
        net.blobs[0].data[...] = np.random.default_rng(1).integers(0, 2, net.blobs[0].shape)
    twins.step()
    twins.assert_same(1e-6)  # windows overlap: what they give is added in another order
    assert twins.net.layers[1].fast


@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
def test_a_strange_value_among_others_counts_as_with_numpy(strange):
    twins = pooling((2, 16, 9, 9), "kernel_size: 3 stride: 2")
    for net in twins.both:
        net.blobs[0].data[:, ::3, 2::3, 1::4] = strange
    twins.step()
    for ours, theirs in zip(*(net.blobs for net in twins.both), strict=True):
        np.testing.assert_array_equal(ours.data, theirs.data)
        np.testing.assert_allclose(ours.diff, theirs.diff, rtol=1e-6)
    assert twins.net.layers[1].fast


CONVOLVED = """
    force_backward: true
    layer { name: "x" type: "Input" top: "x"
            input_param { shape { dim: 2 dim: 8 dim: 12 dim: 12 } } }
    layer { name: "conv" type: "Convolution" bottom: "x" top: "conv"
            convolution_param { num_output: 32 kernel_size: 3 weight_filler { type: "xavier" } } }
    layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
    layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool"
            pooling_param { kernel_size: 3 stride: 2 } }
    layer { name: "norm" type: "LRN" bottom: "pool" top: "norm" lrn_param { alpha: 0.5 } }
    layer { name: "mean" type: "Pooling" bottom: "norm" top: "mean"
            pooling_param { pool: AVE global_pooling: true } }
"""


def values(net, name):
    return net.blobs[net.blob_ids[name]]


def test_a_row_of_layers_hands_on_its_layouts(monkeypatch):
    monkeypatch.setattr(CHOICES, "measuring", False)
    twins = Twins(CONVOLVED, ENGINE)
    twins.fill_inputs()
    for _ in range(3):
        twins.step()
    for name in ("conv", "pool"):
        assert any(isinstance(h, Layout) for h in values(twins.net, name).data_value.current), name
    twins.assert_same()


def test_who_looks_at_blobs_between_the_passes_changes_nothing():
    twins = Twins(CONVOLVED, ENGINE)
    twins.fill_inputs()
    for _ in range(2):
        twins.each(lambda net: net.forward())
        twins.assert_same(diffs=False)  # looks at all of them
        assert values(twins.net, "conv").data_value.current == {HOST}
        twins.step()
        twins.assert_same()


def test_what_a_user_writes_is_picked_up():
    twins = Twins(CONVOLVED, ENGINE)
    twins.fill_inputs()
    twins.step()

    def change(net):
        values(net, "conv").data[:, 3] = 2.5
        net.forward(start=3)
        values(net, "mean").diff[...] = 0.5
        values(net, "norm").data[...] *= 1.5
        net.backward()

    twins.each(change)
    twins.assert_same()


def test_a_net_of_another_size_is_prepared_anew():
    twins = Twins(CONVOLVED, ENGINE)
    for size in (12, 9, 14):
        for net in twins.both:
            net.blobs[0].reshape(3, 8, size, size)
        twins.fill_inputs(size)
        twins.step()
        twins.assert_same()
