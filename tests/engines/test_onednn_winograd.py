"""Winograd's convolution against the direct one, forced where it would have to win a race."""

import sys

import numpy as np
import pytest

from pycaffe_dist import engines
from pycaffe_dist.engines import NUMPY
from pycaffe_dist.engines.onednn.core import winograd
from pycaffe_dist.engines.onednn.core.blocks import blocked, channels_last
from pycaffe_dist.engines.onednn.core.library import OneDnnError
from pycaffe_dist.engines.onednn.core.primitives import Layout, plain, strided
from pycaffe_dist.engines.onednn.core.remembered import CHOICES
from pycaffe_dist.engines.onednn.core.tiles import block_of
from pycaffe_dist.engines.onednn.core.winograd import F2, F4
from pycaffe_dist.engines.onednn.layers import convolution
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN, NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.threads import set_threads


@pytest.fixture(params=[F4, F2], ids=lambda filtering: filtering.name)
def filtering(request):
    with CHOICES.forced(request.param.name):
        yield request.param


def build(engine, shape, param, phase=TRAIN, more=""):
    dims = " ".join(f"dim: {d}" for d in shape)
    text = f"""
        force_backward: true
        layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ {dims} }} }} }}
        layer {{ name: "y" type: "Convolution" bottom: "x" top: "y"
                 convolution_param {{ kernel_size: 3 {param} }} }}
        {more}
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
    ((2, 32, 8, 8), "num_output: 64 pad: 1"),
    ((3, 32, 9, 7), "num_output: 32 pad: 1"),
    ((2, 32, 5, 6), "num_output: 48"),
    ((2, 32, 5, 4), "num_output: 32 pad: 2"),
    ((4, 64, 7, 7), "num_output: 64 pad: 1 group: 2"),
    ((1, 32, 3, 3), "num_output: 32 pad: 1 bias_term: false"),
    ((2, 32, 4, 11), "num_output: 32 pad_h: 1 pad_w: 0"),
    ((2, 32, 1, 1), "num_output: 32 pad: 1"),
]


@pytest.mark.parametrize(("shape", "param"), CASES)
def test_it_computes_what_the_generic_layer_does(filtering, shape, param):
    ours, plain = (build(e, shape, param) for e in (engines.create("onednn"), NUMPY))
    for passes in (1, 2):
        for one, two in zip(run(ours, passes), run(plain, passes), strict=True):
            scale = max(1.0, float(np.abs(two).max()))
            np.testing.assert_allclose(one / scale, two / scale, atol=1e-5)
    made = ours.layers[1]._made
    assert {which for which, *_ in made} == {"gather", "spread", "weights"}
    assert {chosen.product.name for chosen in made.values()} == {filtering.name}


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_share_the_tiles(filtering, threads):
    shape, param = (3, 32, 9, 9), "num_output: 32 pad: 1"
    try:
        set_threads(threads)
        ours, plain = (build(e, shape, param) for e in (engines.create("onednn"), NUMPY))
        for one, two in zip(run(ours), run(plain), strict=True):
            np.testing.assert_allclose(one, two, atol=2e-3, rtol=1e-4)
    finally:
        set_threads()


def test_tiles_are_worked_on_in_pieces_that_fit_the_cache(filtering, monkeypatch):
    monkeypatch.setattr(winograd, "CACHED", 30_000)
    monkeypatch.setattr(winograd, "FEWEST", 3)
    shape, param = (6, 64, 8, 8), "num_output: 64 pad: 1 group: 2"
    ours, plain = (build(e, shape, param) for e in (engines.create("onednn"), NUMPY))
    for one, two in zip(run(ours), run(plain), strict=True):
        np.testing.assert_allclose(one, two, atol=1e-3, rtol=1e-4)
    for chosen in ours.layers[1].chosen():
        chunks = chosen.product.chunks
        assert len(chunks) > 5
        assert [t for chunk in chunks for t in chunk] == list(range(6 * (8 // filtering.step) ** 2))


@pytest.mark.parametrize("slope", [0.0, 0.1])
def test_a_relu_behind_it_is_done_on_the_way_out(filtering, slope):
    more = f"""layer {{ name: "r" type: "ReLU" bottom: "y" top: "y"
                       relu_param {{ negative_slope: {slope} }} }}"""
    shape, param = (2, 32, 9, 9), "num_output: 32 pad: 1"
    ours, plain = (build(e, shape, param, TEST, more) for e in (engines.create("onednn"), NUMPY))
    for net in ours, plain:
        net.forward()
    np.testing.assert_allclose(ours.blobs[1].data, plain.blobs[1].data, atol=1e-4, rtol=1e-4)
    relu = ("eltwise", 0x20, float(np.float32(slope)), 0.0)
    assert ("gather", True, (relu,)) in ours.layers[1]._made
    assert (ours.blobs[1].data < 0).any() == (slope > 0)


def test_kernels_are_transformed_again_only_when_the_weights_have_changed(filtering):
    net = build(engines.create("onednn"), (2, 32, 6, 6), "num_output: 32 pad: 1", TEST)
    net.forward()
    first = net.blobs[1].data.copy()
    weights = net.layers[1].blobs[0]
    home = net.layers[1].product("gather", True).layouts[1]
    assert home in weights.data_value.current
    weights.data[...] *= 2
    assert home not in weights.data_value.current
    net.layers[1].blobs[1].data[...] *= 2
    net.forward()
    np.testing.assert_allclose(net.blobs[1].data, 2 * first, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("which", ["gather", "spread", "weights"])
def test_a_trial_has_room_for_all_that_it_converts(filtering, which, monkeypatch):
    net = build(engines.create("onednn"), (2, 32, 8, 8), "num_output: 64 pad: 1")
    net.forward()
    converted = []
    monkeypatch.setattr(Layout, "load", lambda self, host, room: converted.append((self, host)))
    monkeypatch.setattr(Layout, "store", lambda self, room, host: converted.append((self, host)))
    (candidate,) = (c for c in net.layers[1].candidates(which, False) if c.name == filtering.name)
    candidate.trial(candidate.build())()
    assert [host.size for _, host in converted] == [64 * 32 * 9]


def test_channels_that_are_no_whole_blocks_are_refused(filtering):
    net = build(engines.create("onednn"), (2, 36, 6, 6), "num_output: 32 pad: 1")
    with pytest.raises(OneDnnError):
        net.forward()
        net.layers[1]._winograd(filtering, "gather", True, ())


def test_channels_that_lie_side_by_side_are_counted():
    assert block_of(channels_last((2, 24, 5, 3))) == 24
    assert [block_of(blocked((2, 32, 5, 3), block)) for block in (8, 16)] == [8, 16]
    gaps = strided((2, 32, 5, 3), (960, 1, 96, 32))
    for other in (plain((2, 4, 5, 3)), blocked((2, 24, 5, 3), 16), gaps):
        with pytest.raises(OneDnnError, match="not blocked by channels, or have gaps"):
            block_of(other)


def test_few_channels_are_not_worth_large_tiles():
    net = build(engines.create("onednn"), (2, 16, 8, 8), "num_output: 64 pad: 1")
    with pytest.raises(OneDnnError, match="too few channels"):
        net.forward()
        net.layers[1]._winograd(F4, "gather", True, ())


@pytest.mark.parametrize("filtering", [F2, F4], ids=lambda filtering: filtering.name)
def test_the_matrices_are_those_of_minimal_filtering(filtering):
    """In float64, from the factors: y = Aᵀ[(G g) ⊙ (Bᵀ d)] is the correlation of d and g."""
    matrices = [
        np.linalg.multi_dot([np.eye(len(square.factors[0])), *square.factors])
        for square in (filtering.out, filtering.kernel, filtering.image)
    ]
    out, kernel, image = (m.astype(float) for m in matrices)
    rng = np.random.default_rng(0)
    d, g = rng.standard_normal(filtering.step + 2), rng.standard_normal(3)
    y = out @ ((kernel @ g) * (image @ d))
    np.testing.assert_allclose(y, np.correlate(d, g, "valid"), atol=1e-6)


def test_without_llvm_the_other_candidates_are_there(monkeypatch):
    convolution._filterings.cache_clear()
    monkeypatch.setitem(sys.modules, "pycaffe_dist.engines.onednn.core.winograd", None)
    try:
        net = build(engines.create("onednn"), (2, 32, 8, 8), "num_output: 32 pad: 1")
        net.forward()
        names = [c.name for c in net.layers[1].candidates("gather", True)]
    finally:
        convolution._filterings.cache_clear()
    assert names
    assert not any("winograd" in name for name in names)
