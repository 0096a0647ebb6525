"""A TEST forward from a prepared list gives what its layers give one by one, or is not used."""

import numpy as np
import pytest

from pycaffe_dist.engines import create
from pycaffe_dist.engines.onednn.replay import Record
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.recycling import recycle

ENGINE = create("onednn")
NET = """
    state { phase: TEST }
    layer { name: "data" type: "Input" top: "data"
            input_param { shape { dim: 2 dim: 32 dim: 40 dim: 40 } } }
    layer { name: "c1" type: "Convolution" bottom: "data" top: "c1"
            convolution_param { num_output: 32 kernel_size: 3 weight_filler { type: "xavier" } } }
    layer { name: "n1" type: "BatchNorm" bottom: "c1" top: "c1" }
    layer { name: "r1" type: "ReLU" bottom: "c1" top: "c1" }
    layer { name: "c2" type: "Convolution" bottom: "c1" top: "c2"
            convolution_param { num_output: 32 kernel_size: 1 weight_filler { type: "xavier" } } }
    layer { name: "cat" type: "Concat" bottom: "c1" bottom: "c2" top: "cat" }
    layer { name: "pool" type: "Pooling" bottom: "cat" top: "pool"
            pooling_param { kernel_size: 2 stride: 2 } }
    %s
    layer { name: "ip" type: "InnerProduct" bottom: "pool" top: "ip"
            inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }
    layer { name: "prob" type: "Softmax" bottom: "ip" top: "prob" }"""
GENERIC = 'layer { name: "silence" type: "Reduction" bottom: "pool" top: "sum" }'


@pytest.fixture(params=["kept", "recycled", "kept, two parts", "recycled, two parts"])
def net(request):
    return make(request.param)


def read(text):
    return parse_text(text, NetParameter()).message


def make(kind):
    made = Net(read(NET % (GENERIC if "two" in kind else "")), Context(engine=ENGINE))
    for blob in made.layers[made.layer_names.index("n1")].blobs:
        blob.data[...] = 1
    if "recycled" in kind:
        recycle([made])
    return made


def give(net, seed=0):
    """Another batch."""
    data = net.blobs[net.blob_ids["data"]].data
    data[...] = np.random.default_rng(seed).standard_normal(data.shape)


def run(net, seed=0):
    give(net, seed)
    net.forward()
    return [net.blobs[i].data.copy() for i in net.output_ids]


def one_by_one(net, seed=0):
    net.before_forward(lambda _: None)
    try:
        return run(net, seed)
    finally:
        net.before_forward.clear()


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.fixture
def lists(monkeypatch):
    """How often a list was used."""
    used = []
    plain = Record.run
    monkeypatch.setattr(Record, "run", lambda record: (used.append(record), plain(record)))
    return used


def settle(net, lists):
    """Run until lists are used."""
    for _ in range(5):
        run(net)
    assert lists
    lists.clear()


def test_a_list_gives_the_same_bits(net, lists):
    wanted = [one_by_one(net, seed) for seed in range(3)]
    settle(net, lists)
    for seed in range(3):
        assert same(run(net, seed), wanted[seed])
    assert len(lists) >= 3


def test_new_weights_are_used(net, lists):
    settle(net, lists)
    before = run(net)
    lists.clear()
    for name in ("c1", "n1", "ip"):
        net.layers[net.layer_names.index(name)].blobs[0].data[...] *= 1.5
        after = run(net)
        assert not same(before, after)
        assert same(after, one_by_one(net))
        before = after
        settle(net, lists)


def test_a_new_shape_is_computed_layer_by_layer(net, lists):
    settle(net, lists)
    net.blobs[net.blob_ids["data"]].reshape(1, 32, 40, 40)
    net.reshape()
    assert same(run(net), one_by_one(net))
    settle(net, lists)
    assert same(run(net), one_by_one(net))


def test_passes_over_some_layers_leave_the_list_right(lists):
    net = make("kept")
    wanted = one_by_one(net)
    settle(net, lists)
    middle = net.layer_names.index("c2")
    give(net, 1)
    net.forward(end=middle)
    net.forward(start=middle + 1)
    assert same([net.blobs[i].data for i in net.output_ids], one_by_one(net, 1))
    assert same(run(net), wanted)
    settle(net, lists)
    assert same(run(net), wanted)


def test_looking_at_an_inner_blob_and_changing_it(lists):
    net = make("kept")
    settle(net, lists)
    wanted = run(net)
    inner = net.blobs[net.blob_ids["c2"]]
    seen = inner.data.copy()
    inner.data[...] = 7
    assert same(run(net), wanted)
    np.testing.assert_array_equal(inner.data, seen)
    for _ in range(4):
        assert same(run(net), wanted)
        np.testing.assert_array_equal(inner.data, seen)


def test_two_nets_that_share_memory(lists):
    pair = [make("kept"), make("kept")]
    wanted = [one_by_one(net, 1) for net in pair]
    recycle(pair)
    for _ in range(6):
        for net, right in zip(pair, wanted, strict=True):
            assert same(run(net, 1), right)
    assert lists


def test_memory_that_another_net_holds_is_left_alone(lists):
    pair = [make("kept"), make("kept")]
    recycle(pair)
    for net in pair:
        settle(net, lists)
    first, second = pair
    wanted = one_by_one(second, 1)
    give(second, 1)
    middle = second.layer_names.index("c2")
    second.forward(end=middle)  # its inner values now lie in memory that the first one uses, too
    run(first, 2)
    second.forward(start=middle + 1)
    assert same([second.blobs[i].data for i in second.output_ids], wanted)


def test_an_error_ends_the_recording(net, monkeypatch, lists):
    run(net)
    run(net)
    pooling = net.layers[net.layer_names.index("pool")]

    def fail(bottom, top):
        raise KeyboardInterrupt

    monkeypatch.setattr(pooling, "fast_forward", fail)
    with pytest.raises(KeyboardInterrupt):
        run(net)
    monkeypatch.undo()
    assert same(run(net), one_by_one(net))
    for _ in range(3):
        assert same(run(net, 3), one_by_one(net, 3))


def test_a_dropout_that_draws_in_test_is_never_on_a_list(lists):
    text = (
        NET
        % """layer { name: "drop" type: "Dropout" bottom: "pool" top: "pool"
                            dropout_param { sample_weights_test: true } }"""
    )
    net = Net(read(text), Context(engine=ENGINE))
    results = [run(net) for _ in range(6)]
    assert not any(same(results[0], other) for other in results[1:])
