"""Eltwise, Split, Concat and Slice: as NumPy computes them, in any layout."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pycaffe_dist.engines import create
from pycaffe_dist.testing.twins import Twins

ENGINE = create("onednn")


few = settings(max_examples=15, deadline=None)


def data(name, *shape):
    dims = " ".join(f"dim: {d}" for d in shape)
    return f"""
        layer {{ name: "{name}" type: "Input" top: "{name}"
                 input_param {{ shape {{ {dims} }} }} }}"""


def conv(bottom, top, channels, kernel=1):
    """A layer whose top is blocked by channels."""
    return f"""
        layer {{ name: "{top}" type: "Convolution" bottom: "{bottom}" top: "{top}"
                 convolution_param {{ num_output: {channels} kernel_size: {kernel}
                                      weight_filler {{ type: "gaussian" std: 0.3 }} }} }}"""


def layer(kind, bottoms, tops, param=""):
    names = "".join(f' bottom: "{b}"' for b in bottoms) + "".join(f' top: "{t}"' for t in tops)
    return f"""
        layer {{ name: "it" type: "{kind}"{names} {param} }}"""


def run(text, train=True, passes=2):
    twins = Twins("force_backward: true " + text, ENGINE, train)
    for seed in range(passes):
        twins.fill_inputs(seed)
        twins.step()
        twins.assert_same()
    return twins


def layer_of(twins, kind):
    return next(x for x in twins.net.layers if x.type == kind)


def layout_of(twins, name):
    (home,) = twins.net.blobs[twins.net.blob_ids[name]].data_value.current
    return home


# -- Eltwise ---------------------------------------------------------------------------------------

OPERATIONS = [
    "",
    "coeff: 0.5 coeff: -2 coeff: 1",
    "operation: PROD",
    "operation: PROD stable_prod_grad: false",
    "operation: MAX",
]


@few
@given(
    st.sampled_from(OPERATIONS),
    st.sampled_from([3, 8, 20]),
    st.integers(1, 3),
    st.integers(1, 5),
    st.integers(2, 3),
)
def test_eltwise(param, channels, images, size, bottoms):
    if "coeff" in param:
        bottoms = 3
    text = data("data", images, 8, size, size) + data("plain", images, channels, size, size)
    names = ["plain", *[f"c{i}" for i in range(bottoms - 1)]]
    for name in names[1:]:
        text += conv("data", name, channels)
    twins = run(text + layer("Eltwise", names, ["y"], f"eltwise_param {{ {param} }}"))
    assert layer_of(twins, "Eltwise").fast == ("MAX" not in param or bottoms == 2)


def test_equal_values_have_their_gradient_where_caffe_puts_it():
    twins = Twins(
        "force_backward: true"
        + data("a", 2, 8, 3, 3)
        + data("b", 2, 8, 3, 3)
        + layer("Eltwise", "ab", "y", "eltwise_param { operation: MAX }"),
        ENGINE,
    )
    twins.fill_inputs()
    for net in twins.both:
        a, b = (net.blobs[i].data for i in net.input_ids)
        a[0] = b[0] = 0
    twins.step()
    twins.assert_same(0)
    assert not twins.net.blobs[twins.net.blob_ids["a"]].diff[0].any()


@pytest.mark.parametrize("shape", [(4,), (3, 5), (2, 3, 4), (2, 3, 1, 2, 2, 3, 2)])
def test_eltwise_of_any_number_of_axes(shape):
    twins = run(data("a", *shape) + data("b", *shape) + layer("Eltwise", "ab", "y"))
    assert layer_of(twins, "Eltwise").fast


def test_a_sum_in_place_loses_its_first_bottom_as_in_caffe():
    run(
        data("a", 2, 8, 3, 3)
        + data("b", 2, 8, 3, 3)
        + conv("a", "c", 8)
        + layer("Eltwise", "cb", "c"),
        passes=1,
    )


def test_a_sum_stays_in_the_layout_of_its_bottoms():
    text = data("data", 2, 8, 4, 4) + conv("data", "c", 8) + conv("data", "d", 8)
    twins = Twins(text + layer("Eltwise", "cd", "y"), ENGINE)
    twins.net.forward()
    assert layout_of(twins, "y").blocks
    assert layout_of(twins, "y") is layout_of(twins, "c")


# -- Split -----------------------------------------------------------------------------------------


@few
@given(st.integers(1, 3), st.sampled_from([3, 8, 20]), st.integers(2, 4))
def test_split(images, channels, readers):
    text = data("data", images, 8, 4, 4) + conv("data", "c", channels)
    for i in range(readers):
        text += conv("c", f"r{i}", 8, 1 + i)
    twins = run(text)
    assert layer_of(twins, "Split").fast


def test_readers_without_a_gradient_are_left_out_of_the_sum():
    text = data("data", 2, 8, 4, 4) + conv("data", "c", 8) + conv("c", "d", 8)
    text += 'layer { name: "s" type: "Silence" bottom: "c" }'
    twins = run(text)
    assert layer_of(twins, "Split").fast


# -- Concat and Slice ------------------------------------------------------------------------------


@few
@given(
    st.lists(st.sampled_from([3, 8, 16, 20, 24]), min_size=2, max_size=4),
    st.integers(1, 3),
    st.integers(1, 5),
    st.booleans(),
)
def test_concat_of_channels(channels, images, size, plain):
    text = data("data", images, 8, size, size)
    text += data("p", images, channels[0], size, size) if plain else ""
    names = ["p"] if plain else []
    for i, count in enumerate(channels):
        names.append(f"c{i}")
        text += conv("data", f"c{i}", count)
    twins = run(text + layer("Concat", names, ["y"]))
    assert layer_of(twins, "Concat").fast


@pytest.mark.parametrize("axis", [0, 1, 2, 3, -1])
@pytest.mark.parametrize("channels", [5, 16])
def test_concat_along_any_axis(axis, channels):
    text = data("data", 4, 8, 4, 4)
    text += conv("data", "c", channels) + conv("data", "d", channels)
    twins = run(text + layer("Concat", "cd", "y", f"concat_param {{ axis: {axis} }}"))
    assert layer_of(twins, "Concat").fast


CUTS = [(0, [1]), (1, [8, 16]), (1, [3, 8]), (2, [2]), (3, [])]


@pytest.mark.parametrize(("axis", "points"), CUTS)
@pytest.mark.parametrize("blocked", [True, False])
def test_slice_along_any_axis(axis, points, blocked):
    text = data("data", 4, 24, 4, 4)
    text += conv("data", "c", 24) if blocked else ""
    tops = [f"y{i}" for i in range(len(points) + 1)] if points else ["y0", "y1"]
    param = f"axis: {axis} " + " ".join(f"slice_point: {p}" for p in points)
    text += layer("Slice", ["c" if blocked else "data"], tops, f"slice_param {{ {param} }}")
    twins = run(text)
    assert layer_of(twins, "Slice").fast


def test_blocks_that_are_whole_stay_blocks():
    text = data("data", 2, 16, 4, 4) + conv("data", "c", 32) + conv("data", "d", 16)
    text += layer("Concat", "cd", "y")
    cut = "slice_param { slice_point: 16 }"
    text += layer("Slice", ["y"], ["e", "f"], cut).replace("it", "cut")
    twins = Twins(text, ENGINE)
    twins.net.forward()
    assert layout_of(twins, "y").blocks
    assert layout_of(twins, "e").blocks


@pytest.mark.parametrize("kind", ["Concat", "Slice"])
def test_one_piece_shares_the_memory(kind):
    twins = run(data("data", 2, 8, 4, 4) + conv("data", "c", 8) + layer(kind, "c", "y"))
    blobs = twins.net.blobs
    assert blobs[-1].data_value is blobs[-2].data_value


def test_a_piece_may_be_read_and_changed():
    text = data("data", 2, 8, 4, 4) + conv("data", "c", 8) + conv("data", "d", 16)
    text += layer("Concat", "cd", "y")
    twins = Twins("force_backward: true" + text, ENGINE)
    twins.fill_inputs()

    def change(net):
        net.forward(end=2)
        net.blobs[net.blob_ids["c"]].data[...] += 1
        net.forward(start=3)
        y = net.blobs[net.blob_ids["y"]]
        assert np.array_equal(y.data[:, :8], net.blobs[net.blob_ids["c"]].data)
        y.diff[...] = np.arange(y.count).reshape(y.shape)
        net.backward()

    twins.each(change)
    twins.assert_same()
