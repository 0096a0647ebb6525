import numpy as np
import pytest

from pycaffe_dist.facts import LayerFacts, backward_order, layer_facts, totals
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text

DATA = 'layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 4 dim: 3 } } }'


def ip(name, bottom, outputs, settings=""):
    return (
        f'layer {{ name: "{name}" type: "InnerProduct" bottom: "{bottom}" top: "{name}" {settings} '
        f"inner_product_param {{ num_output: {outputs} }} }}"
    )


def relu(name, bottom, top, settings=""):
    return f'layer {{ name: "{name}" type: "ReLU" bottom: "{bottom}" top: "{top}" {settings} }}'


def build(*layers, **context):
    return Net(parse_text("\n".join(layers), NetParameter()).message, Context(**context))


NET = [
    DATA,
    ip("one", "data", 5, "param { name: 'w' } param { name: 'b' }"),
    relu("relu", "one", "one"),
    ip("two", "one", 2, "loss_weight: 1"),
    ip("three", "data", 5, "param { name: 'w' } param { name: 'b' } loss_weight: 1"),
]


@pytest.mark.parametrize("dry", [True, False])
def test_facts_of_a_net(dry):
    net = build(*NET, dry=dry)
    by_name = {f.name: f for f in layer_facts(net)}
    assert list(by_name) == ["data", "data_data_0_split", "one", "relu", "two", "three"]
    assert [f.index for f in by_name.values()] == list(range(6))
    assert [f.type for f in by_name.values()] == [la.type for la in net.layers]
    want = {
        # name: tops, parameters, values owned, flops, bytes of data, of gradients
        "data": (((4, 3),), (), 0, 0, 48, 0),
        "data_data_0_split": (((4, 3), (4, 3)), (), 0, 0, 0, 0),
        "one": (((4, 5),), ((5, 3), (5,)), 20, 2 * 4 * 5 * 3, 80, 80),
        "relu": (((4, 5),), (), 0, 20, 0, 0),
        "two": (((4, 2),), ((2, 5), (2,)), 12, 2 * 4 * 2 * 5, 32, 32),
        "three": (((4, 5),), ((5, 3), (5,)), 0, 2 * 4 * 5 * 3, 80, 80),
    }
    for name, expected in want.items():
        f = by_name[name]
        got = (f.top_shapes, f.param_shapes, f.param_count, f.flops, f.data_bytes, f.diff_bytes)
        assert got == expected, name
        assert f.outer_product == (f.type == "InnerProduct")


def test_bytes_follow_the_number_type():
    single, double = (layer_facts(build(*NET, dtype=d)) for d in (np.float32, np.float64))
    assert [f.data_bytes * 2 for f in single] == [f.data_bytes for f in double]
    assert [f.diff_bytes * 2 for f in single] == [f.diff_bytes for f in double]


def test_gradients_of_inputs_count_where_they_are_computed():
    plain, forced = (layer_facts(build(text, *NET)) for text in ("", "force_backward: true"))
    assert plain[0].diff_bytes == 0
    assert forced[0].diff_bytes == 48
    assert forced[1].diff_bytes == 96  # the readers of a split share its data, not their gradients


def test_totals():
    facts = layer_facts(build(*NET))
    sums = totals(facts)
    assert sums.params == 32
    assert sums.flops == 120 + 20 + 80 + 120
    assert sums.test_bytes == (48 + 80 + 32 + 80) + 4 * 32
    assert sums.train_bytes == (48 + 80 + 32 + 80) + (80 + 32 + 80) + 3 * 4 * 32
    assert totals(facts, itemsize=8).test_bytes - sums.test_bytes == 4 * 32
    assert totals([]).params == totals([]).train_bytes == 0


def test_totals_of_written_facts():
    fact = LayerFacts(0, "x", "X", (), (), 10, 100, 1000, 10000, False)
    sums = totals([fact, fact], itemsize=2)
    assert (sums.params, sums.flops) == (20, 200)
    assert (sums.test_bytes, sums.train_bytes) == (2040, 2000 + 20000 + 120)


W, X = "param { name: 'w' }", "param { name: 'x' }"


@pytest.mark.parametrize(
    ("specs", "expected"),
    [
        (["", "", ""], [(3, 4), (3, 5), (2, 2), (2, 3), (1, 0), (1, 1)]),
        # Shared weights are complete when the lowest of their layers has run backward.
        ([W, "", W], [(3, 4), (2, 2), (2, 3), (1, 0), (1, 1)]),
        ([W, W, W], [(3, 3), (2, 2), (1, 0), (1, 1)]),
        (["", W, W], [(3, 4), (2, 2), (2, 3), (1, 0), (1, 1)]),
        ([f"{W} {X}", f"{W} {X}", f"{W} {X}"], [(1, 0), (1, 1)]),
    ],
)
def test_backward_order(specs, expected):
    names = ["data", "one", "two", "three"]
    net = build(DATA, *(ip(names[i + 1], names[i], 3, spec) for i, spec in enumerate(specs)))
    assert backward_order(net) == expected
    assert sorted(p for _, p in expected) == list(range(len(net.params.learnable)))


def test_gradients_are_complete_when_backward_order_says_so():
    net = build(
        DATA,
        ip("one", "data", 3, W),
        ip("two", "one", 3, W),
        ip("three", "two", 3, "loss_weight: 1"),
    )
    rng = np.random.default_rng(3)
    net.blobs[0].data[...] = rng.standard_normal((4, 3))
    for p in net.params.learnable:
        p.blob.data[...] = rng.standard_normal(p.blob.shape)
    seen = {}

    def note(layer):
        for at, p in backward_order(net):
            if at == layer:
                seen[p] = net.params.learnable[p].blob.diff.copy()

    net.after_backward(note)
    net.forward()
    net.backward()
    assert set(seen) == set(range(len(net.params.learnable)))
    for i, p in enumerate(net.params.learnable):
        assert p.blob.diff.any()
        np.testing.assert_array_equal(seen[i], p.blob.diff)
