"""Winograd's convolution against the direct one, forced where it would have to win a race."""

import numpy as np
import pytest

from pycaffe_dist import engines
from pycaffe_dist.engines import NUMPY
from pycaffe_dist.engines.onednn.library import OneDnnError
from pycaffe_dist.engines.onednn.settings import CHOICES
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN, NetParameter
from pycaffe_dist.proto.text import parse_text


@pytest.fixture(autouse=True)
def only_winograd(monkeypatch):
    def pick(case, candidates):
        chosen = [c for c in candidates if c.name == "winograd"] or candidates
        return chosen[0].build()

    monkeypatch.setattr(CHOICES, "pick", pick)


def build(engine, shape, param, phase=TRAIN):
    dims = " ".join(f"dim: {d}" for d in shape)
    text = f"""
        force_backward: true
        layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ {dims} }} }} }}
        layer {{ name: "y" type: "Convolution" bottom: "x" top: "y"
                 convolution_param {{ kernel_size: 3 {param} }} }}
        layer {{ name: "relu" type: "ReLU" bottom: "y" top: "y" }}
    """
    message = parse_text(text, NetParameter()).message
    message.state.phase = phase
    net = Net(message, Context(engine=engine))
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


CASES = [
    ((2, 16, 8, 8), "num_output: 24 pad: 1"),
    ((3, 16, 9, 7), "num_output: 8 pad: 1"),
    ((2, 8, 5, 6), "num_output: 16"),
    ((2, 8, 5, 4), "num_output: 16 pad: 2"),
    ((4, 32, 7, 7), "num_output: 32 pad: 1 group: 2"),
    ((1, 8, 3, 3), "num_output: 8 pad: 1 bias_term: false"),
    ((2, 8, 4, 11), "num_output: 8 pad_h: 1 pad_w: 0"),
    ((2, 8, 1, 1), "num_output: 8 pad: 1"),
]


@pytest.mark.parametrize(("shape", "param"), CASES)
def test_it_computes_what_the_generic_layer_does(shape, param):
    ours, plain = (build(e, shape, param) for e in (engines.create("onednn"), NUMPY))
    for passes in (1, 2):
        for one, two in zip(run(ours, passes), run(plain, passes), strict=True):
            scale = max(1.0, float(np.abs(two).max()))
            np.testing.assert_allclose(one / scale, two / scale, atol=1e-5)
    made = ours.layers[1]._made
    assert {name.split()[0] for name in made} == {"gather", "spread", "weights"}
    assert {product.name for product in made.values()} == {"winograd"}


def test_images_are_worked_on_in_pieces_that_fit_the_cache(monkeypatch):
    from pycaffe_dist.engines.onednn import winograd

    monkeypatch.setattr(winograd, "CACHED", 30_000)
    shape, param = (6, 16, 8, 8), "num_output: 16 pad: 1 group: 2"
    ours, plain = (build(e, shape, param) for e in (engines.create("onednn"), NUMPY))
    for one, two in zip(run(ours), run(plain), strict=True):
        np.testing.assert_allclose(one, two, atol=1e-3, rtol=1e-4)
    chunks = {len(product.chunks()) for product in ours.layers[1]._made.values()}
    assert chunks == {4}  # two pieces of three images, for each of two groups


def test_kernels_are_transformed_again_only_when_the_weights_have_changed():
    net = build(engines.create("onednn"), (2, 8, 6, 6), "num_output: 8 pad: 1", TEST)
    net.forward()
    first = net.blobs[1].data.copy()
    weights = net.layers[1].blobs[0]
    home = net.layers[1]._product("gather", True).layouts[1]
    assert home in weights.data_value.current
    weights.data[...] *= 2
    assert home not in weights.data_value.current
    net.layers[1].blobs[1].data[...] *= 2
    net.forward()
    np.testing.assert_allclose(net.blobs[1].data, 2 * first, rtol=1e-5, atol=1e-5)


def test_channels_that_are_no_whole_blocks_are_refused():
    net = build(engines.create("onednn"), (2, 20, 6, 6), "num_output: 8 pad: 1")
    with pytest.raises(OneDnnError):
        net.forward()
        net.layers[1]._winograd("gather", True)
