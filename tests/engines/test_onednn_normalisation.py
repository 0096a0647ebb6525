"""BatchNorm, Scale and Bias: as NumPy computes them, in any layout, in place or not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pycaffe_dist.engines import create
from pycaffe_dist.engines.onednn.layers import batch_norm
from pycaffe_dist.testing.twins import Twins

ENGINE = create("onednn")

few = settings(max_examples=12, deadline=None)


@pytest.fixture(scope="module", autouse=True, params=[0, batch_norm.FEW], ids=["onednn", "numpy"])
def who_takes_statistics(request):
    """Of batches as small as those here it would be NumPy, always."""
    kept, batch_norm.FEW = batch_norm.FEW, request.param
    yield
    batch_norm.FEW = kept


def net(channels, images=2, size=5, kind="", place="c", conv=True, shape=None):
    """Data, a convolution that writes blocks of channels, and the layer, perhaps in its place."""
    dims = shape or (images, 8 if conv else channels, size, size)
    text = " ".join(f"dim: {d}" for d in dims)
    filler = 'weight_filler { type: "gaussian" std: 0.3 }'
    between = f"""
        layer {{ name: "c" type: "Convolution" bottom: "data" top: "c"
                 convolution_param {{ num_output: {channels} kernel_size: 1
                                      bias_term: false {filler} }} }}"""
    return f"""
        force_backward: true
        layer {{ name: "data" type: "Input" top: "data" input_param {{ shape {{ {text} }} }} }}
        {between if conv else ""}
        layer {{ name: "n" bottom: "{"c" if conv else "data"}" top: "{place}" {kind} }}"""


def run(text, train=True, passes=2):
    twins = Twins(text, ENGINE, train)
    layer = twins.net.layers[-1]
    for blob, other in zip(layer.blobs, twins.reference.layers[-1].blobs, strict=True):
        values = np.random.default_rng(4).uniform(0.5, 2, blob.shape)
        blob.data[...] = other.data[...] = values
    for seed in range(passes):
        twins.fill_inputs(seed)
        twins.step()
        twins.assert_same()
    return twins, layer


def blocked(twins, name):
    """Whether a blob has stayed in a layout of its own."""
    blob = twins.net.blobs[twins.net.blob_ids[name]]
    return any(getattr(home, "blocks", ()) for home in blob.data_value.current)


@few
@given(
    st.sampled_from([3, 8, 16, 20]),
    st.integers(1, 4),
    st.integers(3, 6),
    st.sampled_from(["c", "n"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["", "use_global_stats: true", "use_global_stats: false"]),
)
def test_batch_norm(channels, images, size, place, conv, train, param):
    kind = f'type: "BatchNorm" batch_norm_param {{ {param} moving_average_fraction: 0.9 }}'
    place = place if conv else "n"
    _, layer = run(net(channels, images, size, kind, place, conv), train)
    assert layer.fast


@few
@given(
    st.sampled_from([3, 8, 16, 20]),
    st.integers(1, 4),
    st.integers(1, 6),
    st.sampled_from(["c", "n"]),
    st.booleans(),
    st.sampled_from(
        [
            'type: "Scale"',
            'type: "Scale" scale_param { bias_term: true }',
            'type: "Bias" bias_param { filler { value: 0.5 } }',
        ]
    ),
)
def test_scale_and_bias_by_channel(channels, images, size, place, conv, kind):
    _, layer = run(net(channels, images, size, kind, place if conv else "n", conv))
    assert layer.fast


@pytest.mark.parametrize("shape", [(4, 6), (4, 6, 5), (2, 4, 2, 3, 2), (2, 4, 2, 1, 3, 2, 2)])
@pytest.mark.parametrize("kind", ['type: "BatchNorm"', 'type: "Scale"', 'type: "Bias"'])
def test_any_number_of_axes(shape, kind):
    _, layer = run(net(0, kind=kind, place="n", conv=False, shape=shape))
    assert layer.fast


@pytest.mark.parametrize("kind", ["Scale", "Bias"])
@pytest.mark.parametrize("param", ["axis: 0 num_axes: 2", "num_axes: 0", "axis: 2", "num_axes: -1"])
def test_operands_that_are_not_channels_go_the_generic_way(kind, param):
    _, layer = run(net(8, kind=f'type: "{kind}" {kind.lower()}_param {{ {param} }}', place="c"))
    assert not layer.fast


def test_operand_from_a_second_bottom():
    text = net(8, kind='type: "Scale" bottom: "s"', place="n")
    source = 'layer { name: "s" type: "Input" top: "s" input_param { shape { dim: 8 } } }'
    twins = Twins(text.replace('layer { name: "n"', source + ' layer { name: "n"'), ENGINE)
    twins.fill_inputs()
    twins.step()
    twins.assert_same()
    assert twins.net.layers[-1].fast


CHAIN = """
    force_backward: true
    layer { name: "data" type: "Input" top: "data"
            input_param { shape { dim: 4 dim: 8 dim: 6 dim: 6 } } }
    layer { name: "c" type: "Convolution" bottom: "data" top: "c" convolution_param {
            num_output: 16 kernel_size: 3 bias_term: false
            weight_filler { type: "gaussian" std: 0.2 } } }
    layer { name: "bn" type: "BatchNorm" bottom: "c" top: "c" }
    layer { name: "s" type: "Scale" bottom: "c" top: "c" scale_param { bias_term: true } }
    layer { name: "r" type: "ReLU" bottom: "c" top: "c" }
    layer { name: "d" type: "Convolution" bottom: "c" top: "d" convolution_param {
            num_output: 16 kernel_size: 3 bias_term: false
            weight_filler { type: "gaussian" std: 0.2 } } }
"""


def test_rooms_are_exchanged_and_not_copied():
    twins = Twins(CHAIN, ENGINE)
    twins.fill_inputs()
    value = twins.net.blobs[twins.net.blob_ids["c"]].data_value
    twins.net.forward(end=1)
    (home,) = value.current
    assert home.blocks
    before = value.read(home)
    twins.net.forward(start=2, end=2)
    assert value.read(home) is not before
    twins.net.forward(end=1)
    twins.net.forward(start=2, end=2)
    assert value.read(home) is before


def test_a_plain_bottom_is_brought_into_blocks_where_that_is_faster():
    twins, layer = run(net(16, 2, 6, 'type: "BatchNorm"', "n", conv=False))
    assert layer.layout.blocks
    twins.net.forward()
    (home,) = twins.net.blobs[twins.net.blob_ids["n"]].data_value.current
    assert home is layer.layout


def test_what_a_user_reads_or_changes_between_the_layers_counts():
    twins = Twins(CHAIN, ENGINE)
    twins.fill_inputs()

    def look_and_change(net):
        net.forward(end=1)
        blob = net.blobs[net.blob_ids["c"]]
        blob.data[:, 3] *= 2
        net.forward(start=2, end=2)
        blob.data[:, 5] += 1
        net.forward(start=3)
        assert np.isfinite(blob.data).all()
        net.blobs[net.output_ids[0]].diff[...] = 0.25
        net.backward()

    for _ in range(2):
        twins.each(look_and_change)
        twins.assert_same()


def test_other_batch_sizes_later():
    twins = Twins(CHAIN, ENGINE)
    for images in (4, 2, 7, 4):
        for one in twins.both:
            one.blobs[one.input_ids[0]].reshape(images, 8, 6, 6)
        twins.fill_inputs(images)
        twins.step()
        twins.assert_same()


def test_the_statistics_stay_where_the_values_are_large():
    twins = Twins(CHAIN, ENGINE)
    for one in twins.both:
        one.blobs[one.input_ids[0]].data[...] = np.random.default_rng(0).normal(50, 1, (4, 8, 6, 6))
    twins.step()
    twins.assert_same(1e-3)
    assert blocked(twins, "c") is False  # the comparison has just looked at it


def test_the_mean_of_few_values_is_exact(monkeypatch):
    monkeypatch.setattr(batch_norm, "FEW", 1 << 15)
    twins = Twins(
        net(0, kind='type: "BatchNorm"', place="n", conv=False, shape=(3, 2, 7, 8)), ENGINE
    )
    x = np.random.default_rng(5).uniform(0, 6, (3, 2, 7, 8)).astype(np.float32)
    twins.net.blobs[0].data[...] = x
    twins.net.forward()
    means = twins.net.layers[-1].blobs[0].data
    np.testing.assert_array_equal(means, x.mean((0, 2, 3), dtype=np.float64).astype(np.float32))
