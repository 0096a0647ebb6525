import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pycaffe_dist import engines
from pycaffe_dist.engines import NUMPY
from pycaffe_dist.engines.onednn.core.remembered import CHOICES
from pycaffe_dist.engines.onednn.layers import convolution
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.rng import set_random_seed


def build(layer, shape, engine):
    dims = " ".join(f"dim: {d}" for d in shape)
    text = f"""
        force_backward: true
        layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ {dims} }} }} }}
        layer {{ name: "y" bottom: "x" top: "y" {layer} }}
    """
    set_random_seed(3)
    net = Net(parse_text(text, NetParameter()).message, Context(engine=engine))
    rng = np.random.default_rng(1)
    net.blobs[0].data[...] = rng.standard_normal(shape)
    for blob in net.layers[1].blobs:
        blob.data[...] = rng.standard_normal(blob.shape)
    return net


def run(net, passes=1):
    net.clear_param_diffs()
    for _ in range(passes):
        net.forward()
        net.blobs[1].diff[...] = np.random.default_rng(2).standard_normal(net.blobs[1].shape)
        net.backward()
    return [net.blobs[1].data, net.blobs[0].diff, *[b.diff for b in net.layers[1].blobs]]


def assert_same(layer, shape, passes=1):
    ours, plain = build(layer, shape, engines.create("onednn")), build(layer, shape, NUMPY)
    for one, two in zip(run(ours, passes), run(plain, passes), strict=True):
        scale = max(1.0, float(np.abs(two).max()))
        np.testing.assert_allclose(one / scale, two / scale, atol=2e-5)
    return ours.layers[1]


CASES = {
    "3x3": ("num_output: 16 kernel_size: 3 pad: 1", (2, 8, 7, 9)),
    "1x1": ("num_output: 24 kernel_size: 1", (3, 16, 5, 5)),
    "odd channels": ("num_output: 50 kernel_size: 5", (4, 20, 12, 12)),
    "three channels": ("num_output: 32 kernel_size: 5 pad: 2 stride: 2", (2, 3, 16, 17)),
    "one channel": ("num_output: 20 kernel_size: 5", (2, 1, 28, 28)),
    "groups": ("num_output: 16 kernel_size: 3 group: 2", (2, 16, 8, 8)),
    "odd groups": ("num_output: 9 kernel_size: 3 group: 3", (2, 6, 8, 8)),
    "depthwise": ("num_output: 16 kernel_size: 3 pad: 1 group: 16 stride: 2", (2, 16, 8, 8)),
    "dilation": ("num_output: 8 kernel_size: 3 dilation: 2 pad: 2", (2, 8, 9, 9)),
    "no bias": ("num_output: 8 kernel_size: 3 bias_term: false", (2, 8, 6, 6)),
    "oblong": (
        "num_output: 8 kernel_h: 1 kernel_w: 3 stride_h: 2 stride_w: 1 pad_w: 1",
        (2, 8, 7, 5),
    ),
    "3-D": ("num_output: 8 kernel_size: 3 pad: 1", (2, 8, 4, 5, 6)),
    "1-D": ("num_output: 8 kernel_size: 3", (2, 8, 9)),
    "stride leaves pixels over": ("num_output: 8 kernel_size: 3 stride: 4", (2, 8, 9, 10)),
    "two axes of images": ("num_output: 8 kernel_size: 3 axis: 2", (2, 3, 8, 9)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kind", ["Convolution", "Deconvolution"])
def test_it_computes_what_the_generic_layer_does(kind, name):
    param, shape = CASES[name]
    layer = assert_same(f'type: "{kind}" convolution_param {{ {param} }}', shape)
    assert layer.fast


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kind", ["Convolution", "Deconvolution"])
def test_blas_computes_it_too(kind, name):
    """Not only where it happens to be the fastest."""
    param, shape = CASES[name]
    with CHOICES.forced("blas"):
        layer = assert_same(f'type: "{kind}" convolution_param {{ {param} }}', shape, passes=2)
    assert {chosen.product.name for chosen in layer.chosen()} == {"blas"}


def test_gradients_of_several_passes_add_up():
    layer = assert_same(
        'type: "Convolution" convolution_param { num_output: 16 kernel_size: 3 }', (2, 8, 7, 7), 3
    )
    assert layer.fast


FROZEN = """
    layer {{ name: "x" type: "Input" top: "x"
             input_param {{ shape {{ dim: 2 dim: 8 dim: 5 dim: 6 }} }} }}
    layer {{ name: "y" type: "{kind}" bottom: "x" top: "y" loss_weight: 0.5
             param {{ lr_mult: {weights} }} param {{ lr_mult: {bias} }}
             convolution_param {{ num_output: 6 kernel_size: 3 }} }}
"""


@pytest.mark.parametrize("weights", [0, 1])
@pytest.mark.parametrize("bias", [0, 1])
@pytest.mark.parametrize("kind", ["Convolution", "Deconvolution"])
def test_each_parameter_learns_or_is_frozen_on_its_own(kind, weights, bias):
    text = FROZEN.format(kind=kind, weights=weights, bias=bias)
    diffs = []
    for engine in (engines.create("onednn"), NUMPY):
        net = Net(parse_text(text, NetParameter()).message, Context(engine=engine))
        net.blobs[0].data[...] = np.random.default_rng(1).standard_normal(net.blobs[0].shape)
        net.forward()
        net.backward()
        diffs.append([blob.diff for blob in net.layers[1].blobs])
    for ours, plain, learns in zip(*diffs, (weights, bias), strict=True):
        assert bool(plain.any()) == bool(learns)
        np.testing.assert_allclose(ours, plain, rtol=1e-4, atol=1e-5)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(1, 11),
    st.integers(1, 11),
    st.integers(1, 5),
    st.integers(1, 3),
    st.integers(0, 2),
    st.integers(1, 2),
    st.integers(0, 6),
    st.booleans(),
)
def test_any_shape(n, group, c, m, kernel, stride, pad, dilation, extra, bias):
    size = max(1, dilation * (kernel - 1) + 1 - 2 * pad) + extra
    param = (
        f"num_output: {m * group} kernel_size: {kernel} stride: {stride} pad: {pad} "
        f"dilation: {dilation} group: {group} bias_term: {str(bias).lower()}"
    )
    assert_same(
        f'type: "Convolution" convolution_param {{ {param} }}', (n, c * group, size, size + 1)
    )


def test_double_numbers_are_left_to_the_generic_layer():
    text = 'type: "Convolution" convolution_param { num_output: 4 kernel_size: 3 }'
    net = build(text, (1, 2, 5, 5), engines.create("onednn"))
    assert net.layers[1].dtype == np.float32
    param = net.net_param
    double = Net(param, Context(dtype=np.float64, engine=engines.create("onednn")))
    double.forward()
    assert not double.layers[1].fast
    assert double.blobs[1].data.dtype == np.float64


def test_the_weight_gradient_of_20_to_50_channels_is_no_reference_loop():
    text = 'type: "Convolution" convolution_param { num_output: 50 kernel_size: 5 }'
    net = build(text, (8, 20, 12, 12), engines.create("onednn"))
    run(net)
    assert "ref" not in net.layers[1].product("weights", True).name


def test_a_primitive_that_cannot_be_made_leaves_one_line_and_the_generic_layer(caplog, monkeypatch):
    from pycaffe_dist.engines.onednn.core.library import OneDnnError

    def refuse(*_args, **_more):
        raise OneDnnError("status 3")

    monkeypatch.setattr(convolution, "Primitive", refuse)
    caplog.set_level("INFO", "pycaffe_dist.engines.onednn")
    layer = assert_same(
        'type: "Convolution" convolution_param { num_output: 4 kernel_size: 3 }', (2, 3, 5, 5)
    )
    assert not layer.fast
    lines = [r.getMessage() for r in caplog.records if "computed by NumPy" in r.getMessage()]
    assert lines == ['layer "y" (Convolution): computed by NumPy (status 3)']


@pytest.mark.parametrize("name", ["oneDNN's own", "blas"])
def test_shapes_may_change_between_passes(name):
    with CHOICES.forced(name):
        _change_shapes()


def _change_shapes():
    text = 'type: "Convolution" convolution_param { num_output: 8 kernel_size: 3 }'
    ours, plain = (
        build(text, (2, 8, 6, 6), engines.create("onednn")),
        build(text, (2, 8, 6, 6), NUMPY),
    )
    for size in (6, 9, 5):
        for net in (ours, plain):
            net.blobs[0].reshape(3, 8, size, size)
            net.blobs[0].data[...] = np.random.default_rng(size).standard_normal((3, 8, size, size))
            net.forward()
            net.blobs[1].diff[...] = 1
            net.backward()
        np.testing.assert_allclose(ours.blobs[1].data, plain.blobs[1].data, atol=1e-4)
        np.testing.assert_allclose(ours.blobs[0].diff, plain.blobs[0].diff, atol=1e-4)
