"""InnerProduct: as NumPy computes it, whichever candidate is chosen."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pycaffe_dist.engines import create
from pycaffe_dist.engines.onednn.core.products import outer
from pycaffe_dist.engines.onednn.core.remembered import CHOICES
from pycaffe_dist.testing.twins import Twins

ENGINE = create("onednn")

few = settings(max_examples=12, deadline=None)


def net(shape, outputs, param="", weights=""):
    dims = " ".join(f"dim: {d}" for d in shape)
    return f"""
        force_backward: true
        layer {{ name: "data" type: "Input" top: "data" input_param {{ shape {{ {dims} }} }} }}
        layer {{ name: "ip" type: "InnerProduct" bottom: "data" top: "ip" {weights}
                 inner_product_param {{ num_output: {outputs} {param}
                                        weight_filler {{ type: "gaussian" std: 0.1 }}
                                        bias_filler {{ value: 0.3 }} }} }}"""


def run(text, passes=2, train=True):
    twins = Twins(text, ENGINE, train)
    for seed in range(passes):
        twins.fill_inputs(seed)
        twins.step()
        twins.assert_same()
    assert twins.net.layers[-1].fast
    return twins


@few
@given(
    st.integers(1, 5),
    st.integers(1, 40),
    st.integers(1, 40),
    st.sampled_from(["", "bias_term: false", "transpose: true"]),
    st.booleans(),
)
def test_any_shape(rows, inputs, outputs, param, train):
    run(net((rows, inputs), outputs, param), train=train)


def test_one_of_the_parameters_may_be_frozen():
    for weights in ("param { lr_mult: 0 }", "param { lr_mult: 1 } param { lr_mult: 0 }"):
        text = net((3, 8), 4, weights=weights).replace("force_backward: true", "")
        loss = 'layer { name: "l" type: "Reduction" bottom: "ip" top: "l" loss_weight: 1 }'
        twins = Twins(text + loss, ENGINE)
        twins.fill_inputs()
        twins.step()
        twins.assert_same()


def test_weights_shared_by_two_layers_gather_both_gradients():
    text = net((3, 8), 8, weights='param { name: "w" } param { name: "b" }')
    second = text[text.index('layer { name: "ip"') :].replace('"ip"', '"jp"')
    run(text + second.replace('bottom: "data"', 'bottom: "ip"'))


def test_the_bottom_may_come_in_blocks():
    text = net((2, 8, 4, 4), 6).replace('bottom: "data"', 'bottom: "c"')
    convolution = """
        layer { name: "c" type: "Convolution" bottom: "data" top: "c" convolution_param {
                num_output: 16 kernel_size: 1 weight_filler { type: "gaussian" std: 0.2 } } }
        layer { name: "ip" """
    run(text.replace('layer { name: "ip"', convolution))


def test_changed_weights_count_in_the_next_pass():
    layer = run(net((3, 32), 16)).net.layers[-1]
    (ordered, *_) = (c.name for c in layer.candidates("gather", True) if "ordered" in c.name)
    with CHOICES.forced(ordered):
        twins = run(net((3, 32), 16))
        assert twins.net.layers[-1].product("gather", True).name == ordered
        for one in twins.both:
            one.layers[-1].blobs[0].data[...] *= 2
        twins.step()
        twins.assert_same()


@given(st.integers(1, 40), st.integers(1, 30), st.integers(1, 30), st.sampled_from("fd"))
@few
def test_a_product_of_factors_side_by_side(rows, height, width, dtype):
    factors = np.random.default_rng(rows).standard_normal((rows, height + width)).astype(dtype)
    left, right = factors[:, :height], factors[:, height:]
    for a, b in ((left, right), (right, left), (left, right[::-1]), (left.copy(order="F"), right)):
        out = np.full((a.shape[1], b.shape[1]), np.nan, dtype)
        ENGINE.outer(a, b, out)
        np.testing.assert_allclose(out, a.T @ b, rtol=1e-4, atol=1e-5)


def test_rows_that_overlap_are_not_for_the_fast_product():
    rows = np.lib.stride_tricks.sliding_window_view(np.arange(10, dtype=np.float32), 4)
    out = np.empty((4, 4), np.float32)
    assert outer(rows.copy(), rows.copy(), out)
    np.testing.assert_allclose(out, rows.T @ rows)
    for factors in ((rows, rows.copy()), (rows.copy(), rows)):
        assert not outer(*factors, out)
