import logging

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.memory import HOST
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN, NetParameter
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.proto.upgrade import upgrade_net
from pycaffe_dist.rng import set_random_seed

DEFAULTS = {
    "Input": "input_param { shape { dim: 4 dim: 3 } }",
    "InnerProduct": "inner_product_param { num_output: 3 weight_filler { type: 'gaussian' } "
    "bias_filler { type: 'uniform' } }",
}


def layer(row):
    """`name: Type bottoms -> tops | settings` as prototxt."""
    head, _, settings = row.partition("|")
    name, _, rest = head.partition(":")
    left, _, tops = rest.partition("->")
    kind, *bottoms = left.split() or [""]
    lines = [f'name: "{name.strip()}"', f'type: "{kind}"']
    lines += [f'bottom: "{b}"' for b in bottoms] + [f'top: "{t}"' for t in tops.split()]
    if "_param {" not in settings:
        lines.append(DEFAULTS.get(kind, ""))
    return f"layer {{ {' '.join(lines)} {settings} }}\n"


def text_of(*rows):
    """A net's prototxt: rows are layers, those that end their line are taken as they are."""
    return "".join(row if not row or row.endswith("\n") else layer(row) for row in rows)


def build(*rows, phase=None, **context):
    param = parse_text(text_of(*rows), NetParameter()).message
    if phase is not None:
        param.state.phase = phase
    set_random_seed(1701)
    return Net(param, Context(**context))


def blob(net, name):
    return net.blobs[net.blob_ids[name]]


def layer_of(net, name):
    return net.layers[net.layer_names.index(name)]


def randomize(net, *names, seed=0):
    rng = np.random.default_rng(seed)
    for name in names:
        blob(net, name).data[...] = rng.standard_normal(blob(net, name).shape)


FORCE = "force_backward: true\n"
DATA = "data: Input -> data"
DATA_AND_LABEL = (
    "data: Input -> data label | input_param { shape { dim: 4 dim: 3 } shape { dim: 4 } }"
)
FROZEN = "param { lr_mult: 0 } param { lr_mult: 0 }"


# -- which layers run backward ---------------------------------------------------------------------


# For each layer: whether it runs backward, and which bottoms it gives a gradient.
NEEDS = {
    "plain": (
        [DATA_AND_LABEL, "ip: InnerProduct data -> ip", "loss: SoftmaxWithLoss ip label -> loss"],
        {"data": (False, []), "ip": (True, [False]), "loss": (True, [True, False])},
    ),
    "force": (
        [
            FORCE,
            DATA_AND_LABEL,
            "ip: InnerProduct data -> ip",
            "loss: SoftmaxWithLoss ip label -> loss",
        ],
        {"data": (True, []), "ip": (True, [True]), "loss": (True, [True, False])},
    ),
    "force, and a loss without labels": (
        [
            FORCE,
            "data: Input -> data other",
            "ip: InnerProduct data -> ip",
            "loss: EuclideanLoss ip other -> loss",
        ],
        {"data": (True, []), "ip": (True, [True]), "loss": (True, [True, True])},
    ),
    "both sides of a loss learn": (  # of one layer name, too
        [
            "data: Input -> data label",
            "ip: InnerProduct data -> one",
            "ip: InnerProduct label -> two",
            "loss: EuclideanLoss one two -> loss",
        ],
        {"data": (False, []), "ip": (True, [False]), "loss": (True, [True, True])},
    ),
    "a label that learns": (
        [
            "data: Input -> data label "
            "| input_param { shape { dim: 4 dim: 3 } shape { dim: 4 dim: 1 } }",
            "ip: InnerProduct data -> one",
            "ip: InnerProduct label -> two | inner_product_param { num_output: 1 }",
            "loss: SoftmaxWithLoss one two -> loss",
        ],
        {"data": (False, []), "ip": (True, [False]), "loss": (True, [True, True])},
    ),
    "nothing without a loss": (
        [DATA, "ip: InnerProduct data -> ip", "relu: ReLU ip -> ip"],
        {"data": (False, []), "ip": (False, [False]), "relu": (False, [False])},
    ),
    "a loss weight is a loss": (
        [DATA, "ip: InnerProduct data -> ip", "relu: ReLU ip -> out | loss_weight: 1"],
        {"data": (False, []), "ip": (True, [False]), "relu": (True, [True])},
    ),
    "a negative one too": (
        [DATA, "ip: InnerProduct data -> ip", "relu: ReLU ip -> out | loss_weight: -0.5"],
        {"data": (False, []), "ip": (True, [False]), "relu": (True, [True])},
    ),
    "a loss weight of zero is none": (
        [DATA, "ip: InnerProduct data -> ip", "relu: ReLU ip -> out | loss_weight: 0"],
        {"data": (False, []), "ip": (False, [False]), "relu": (False, [False])},
    ),
    "only what is under the loss": (
        [
            DATA,
            "one: InnerProduct data -> one",
            "side: InnerProduct one -> side",
            "two: InnerProduct one -> two | loss_weight: 1",
        ],
        {
            "data": (False, []),
            "one": (True, [False]),
            "one_one_0_split": (True, [True]),
            "side": (False, [False]),
            "two": (True, [True]),
        },
    ),
    "nothing to learn below": (
        [DATA, "relu: ReLU data -> relu", "ip: InnerProduct relu -> ip | loss_weight: 1"],
        {"data": (False, []), "relu": (False, [False]), "ip": (True, [False])},
    ),
    "nothing to learn at all": (
        [DATA, "relu: ReLU data -> relu | loss_weight: 1"],
        {"data": (False, []), "relu": (False, [False])},
    ),
    "frozen at the bottom": (
        [
            DATA,
            f"one: InnerProduct data -> one | {FROZEN}",
            "two: InnerProduct one -> two | loss_weight: 1",
        ],
        {"data": (False, []), "one": (False, [False]), "two": (True, [False])},
    ),
    "frozen in the middle": (
        [
            DATA,
            "one: InnerProduct data -> one",
            f"two: InnerProduct one -> two | {FROZEN}",
            "out: ReLU two -> out | loss_weight: 1",
        ],
        {
            "data": (False, []),
            "one": (True, [False]),
            "two": (True, [True]),
            "out": (True, [True]),
        },
    ),
    "half frozen": (
        [DATA, "one: InnerProduct data -> one | param { lr_mult: 0 } loss_weight: 1"],
        {"data": (False, []), "one": (True, [False])},
    ),
    "frozen but forced": (
        [
            FORCE,
            DATA,
            f"one: InnerProduct data -> one | {FROZEN}",
            "two: InnerProduct one -> two | loss_weight: 1",
        ],
        {"data": (True, []), "one": (True, [True]), "two": (True, [True])},
    ),
    "forced without a loss": (
        [FORCE, DATA, "ip: InnerProduct data -> ip", "relu: ReLU ip -> ip"],
        {"data": (True, []), "ip": (True, [True]), "relu": (True, [True])},
    ),
    "propagate_down false cuts": (
        [
            DATA,
            "one: InnerProduct data -> one",
            "two: InnerProduct one -> two | propagate_down: false loss_weight: 1",
        ],
        {"data": (False, []), "one": (False, [False]), "two": (True, [False])},
    ),
    "propagate_down false cuts the whole branch": (
        [
            DATA,
            "one: InnerProduct data -> one",
            "relu: ReLU one -> one",
            "two: InnerProduct one -> two",
            "other: InnerProduct data -> other",
            "loss: EuclideanLoss other two -> loss | propagate_down: [true, false]",
        ],
        {
            "data": (False, []),
            "data_data_0_split": (False, [False]),
            "one": (False, [False]),
            "relu": (False, [False]),
            "two": (False, [False]),
            "other": (True, [False]),
            "loss": (True, [True, False]),
        },
    ),
    "propagate_down false on one of two readers": (
        [
            DATA,
            "one: InnerProduct data -> one",
            "a: InnerProduct one -> a | propagate_down: false loss_weight: 1",
            "b: InnerProduct one -> b | loss_weight: 1",
        ],
        {
            "data": (False, []),
            "one": (True, [False]),
            "one_one_0_split": (True, [True]),
            "a": (True, [False]),
            "b": (True, [True]),
        },
    ),
    "propagate_down true reaches the data": (
        [DATA, "one: InnerProduct data -> one | propagate_down: true loss_weight: 1"],
        {"data": (False, []), "one": (True, [True])},
    ),
    "propagate_down true does not wake a layer that learns nothing": (
        [
            DATA,
            "relu: ReLU data -> relu | propagate_down: true",
            "one: InnerProduct relu -> one | loss_weight: 1",
        ],
        {"data": (False, []), "relu": (False, [True]), "one": (True, [False])},
    ),
    "force goes before propagate_down false": (
        [
            FORCE,
            DATA,
            "one: InnerProduct data -> one",
            "two: InnerProduct one -> two | propagate_down: false loss_weight: 1",
        ],
        {"data": (True, []), "one": (True, [True]), "two": (True, [True])},
    ),
    "a chain in place counts as one blob": (
        [
            DATA,
            "one: InnerProduct data -> one",
            "relu: ReLU one -> one",
            "leaky: ReLU one -> one | propagate_down: false",
            "two: InnerProduct one -> two | loss_weight: 1",
        ],
        {
            "data": (False, []),
            "one": (False, [False]),
            "relu": (False, [False]),
            "leaky": (True, [False]),
            "two": (True, [True]),
        },
    ),
    "a loss in the middle": (
        [
            DATA,
            "one: InnerProduct data -> one | loss_weight: 1",
            "two: InnerProduct one -> two",
        ],
        {
            "data": (False, []),
            "one": (True, [False]),
            "one_one_0_split": (True, [True]),
            "two": (False, [False]),
        },
    ),
}


NEEDS["an accuracy beside the loss"] = (
    [
        DATA_AND_LABEL,
        "ip: InnerProduct data -> ip",
        "accuracy: Accuracy ip label -> accuracy",
        "loss: SoftmaxWithLoss ip label -> loss",
    ],
    {
        "data": (False, []),
        "label_data_1_split": (False, [False]),
        "ip": (True, [False]),
        "ip_ip_0_split": (True, [True]),
        "accuracy": (False, [False, False]),
        "loss": (True, [True, False]),
    },
)
for _cut in (True, False):  # labels that the net makes itself
    NEEDS[f"made-up labels, propagate_down {'cuts' if _cut else 'does not cut'}"] = (
        [
            DATA,
            "ip: InnerProduct data -> ip",
            "fake: InnerProduct data -> fake",
            "relu: ReLU fake -> fake",
            "loss: EuclideanLoss ip fake -> loss "
            f"| propagate_down: true propagate_down: {'false' if _cut else 'true'}",
        ],
        {
            "data": (False, []),
            "data_data_0_split": (False, [False]),
            "ip": (True, [False]),
            "fake": (not _cut, [False]),
            "relu": (not _cut, [not _cut]),
            "loss": (True, [True, not _cut]),
        },
    )


def needs_of(net):
    rows = zip(net.layer_names, net.layer_need_backward, net.bottom_need_backward, strict=True)
    return [(name, (needs, flags)) for name, needs, flags in rows]


@pytest.mark.parametrize(("rows", "expected"), NEEDS.values(), ids=NEEDS)
def test_who_needs_backward(rows, expected):
    net = build(*rows)
    assert [name for name, _ in needs_of(net)] == list(net.layer_names)
    assert {name for name, _ in needs_of(net)} == set(expected)
    for name, needs in needs_of(net):
        assert needs == expected[name], name


@pytest.mark.parametrize(
    ("settings", "learns", "wanted"),
    [
        ("", [True, True], True),
        (FROZEN, [False, False], False),
        ("param { lr_mult: 0 }", [False, True], True),
        ("param { } param { lr_mult: 0 }", [True, False], True),
        (f"{FROZEN} propagate_down: true", [False, False], False),
    ],
)
@pytest.mark.parametrize("force", [False, True])
def test_which_parameters_get_a_gradient(settings, learns, wanted, force):
    net = build(
        FORCE if force else "", DATA, f"ip: InnerProduct data -> ip | loss_weight: 1 {settings}"
    )
    ip = layer_of(net, "ip")
    assert ip.param_propagate_down == ([True, True] if force else learns)
    randomize(net, "data")
    net.forward()
    net.backward()
    assert net.layer_need_backward[-1] == (wanted or force)
    assert [bool(b.diff.any()) for b in ip.blobs] == ip.param_propagate_down
    assert bool(blob(net, "data").diff.any()) == force


def test_backward_with_an_accuracy():
    net = build(*NEEDS["an accuracy beside the loss"][0])
    randomize(net, "data")
    net.forward()
    net.backward()
    assert layer_of(net, "ip").blobs[0].diff.any()


def test_a_label_cannot_have_a_gradient():
    net = build(*NEEDS["a label that learns"][0])
    net.forward()
    with pytest.raises(NetError, match=r'"loss".*label'):
        net.backward()


def test_backward_leaves_cut_branches_alone():
    net = build(
        DATA,
        "one: InnerProduct data -> one",
        "a: InnerProduct one -> a | propagate_down: false loss_weight: 1",
        "b: InnerProduct one -> b | loss_weight: 1",
    )
    randomize(net, "data")
    for name in net.blob_ids:
        if name.startswith("one"):
            blob(net, name).diff[...] = 0
    net.forward()
    net.backward()
    b = layer_of(net, "b").blobs[0].data
    expected = np.ones((4, 3), np.float32) @ b
    np.testing.assert_allclose(blob(net, "one_one_0_split_1").diff, expected, rtol=1e-5)
    np.testing.assert_allclose(blob(net, "one").diff, expected, rtol=1e-5)
    assert not blob(net, "one_one_0_split_0").diff.any()


# -- inputs, outputs, names ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "inputs", "outputs"),
    [
        (["x: Input -> zeta Alpha alpha _x 10 9 é"], None, "10 9 Alpha _x alpha zeta é"),
        (["x: Input -> b a", "y: Input -> c"], "b a c", "a b c"),
        ([DATA, "ip: InnerProduct data -> ip"], "data", "ip"),
        ([DATA, "ip: InnerProduct data -> ip", "r: ReLU ip -> ip"], "data", "ip"),
        ([DATA, "b: ReLU data -> b", "a: ReLU data -> a"], "data", "a b"),
        ([DATA, "a: ReLU data -> a | loss_weight: 1", "b: ReLU a -> b"], "data", "a_a_0_split_0 b"),
        ([DATA_AND_LABEL, "l: SoftmaxWithLoss data label"], "data label", ""),
        ([DATA_AND_LABEL, "l: SoftmaxWithLoss data label -> l"], "data label", "l"),
        ([DATA_AND_LABEL, "r: ReLU data -> r"], "data label", "label r"),
    ],
)
def test_inputs_and_outputs(rows, inputs, outputs):
    net = build(*rows)
    if inputs is not None:
        assert [net.blob_names[i] for i in net.input_ids] == inputs.split()
    assert [net.blob_names[i] for i in net.output_ids] == outputs.split()


def test_losses_nobody_named_have_automatic_tops():
    net = build(
        DATA_AND_LABEL,
        "ip: InnerProduct data -> ip",
        "one: SoftmaxWithLoss ip label",
        "two: SoftmaxWithLoss ip label",
    )
    assert net.blob_names.count("(automatic)") == 2
    assert [len(tops) for tops in net.tops[-2:]] == [1, 1]
    assert net.output_ids == []
    one, two = (net.blobs[tops[0]] for tops in net.top_ids[-2:])
    assert one is not two
    randomize(net, "data")
    loss = net.forward()
    assert float(one.data) == pytest.approx(float(two.data))
    assert loss == pytest.approx(2 * float(one.data))


def test_a_loss_nobody_named_may_have_a_weight():
    net = build(DATA_AND_LABEL, "l: SoftmaxWithLoss data label | loss_weight: 3")
    assert net.forward() == pytest.approx(3 * np.log(3))
    assert float(net.blobs[-1].diff) == 3
    with pytest.raises(NetError, match=r'"l".*loss_weight'):
        build(DATA_AND_LABEL, "l: SoftmaxWithLoss data label | loss_weight: 3 loss_weight: 1")


def test_a_blob_that_several_read_is_split():
    net = build(DATA, "a: ReLU data -> a", "b: ReLU data -> b", "c: ReLU data -> c")
    tops = [f"data_data_0_split_{i}" for i in range(3)]
    assert net.layer_names == ["data", "data_data_0_split", "a", "b", "c"]
    assert net.blob_names == ["data", *tops, "a", "b", "c"]
    assert [[net.blob_names[i] for i in ids] for ids in net.bottom_ids] == [
        [],
        ["data"],
        *[[top] for top in tops],
    ]
    blob(net, "data").data[...] = 3
    assert all((blob(net, top).data == 3).all() for top in tops)


@pytest.mark.parametrize("phase", [None, TRAIN, TEST])
def test_layers_inherit_the_phase(phase):
    net = build(DATA, "a: ReLU data -> a", "b: ReLU a -> b | phase: TRAIN", phase=phase)
    whole = TEST if phase is None else phase
    assert net.phase == whole
    assert [la.phase for la in net.layers] == [whole, whole, TRAIN]
    assert [p.phase for p in net.net_param.layer] == [whole, whole, TRAIN]


def test_a_net_does_not_change_what_it_is_built_from():
    text = text_of(
        DATA, "a: ReLU data -> a", "b: ReLU data -> b", "c: ReLU b -> c | include { phase: TRAIN }"
    )
    param = parse_text(text, NetParameter()).message
    before = param.SerializeToString()
    net = Net(param)
    assert param.SerializeToString() == before
    assert len(net.net_param.layer) == 4


def test_rules_choose_the_layers():
    rows = [
        DATA,
        "a: ReLU data -> a | include { phase: TRAIN }",
        "b: ReLU data -> b | exclude { phase: TRAIN }",
    ]
    assert build(*rows, phase=TRAIN).layer_names == ["data", "a"]
    assert build(*rows, phase=TEST).layer_names == ["data", "b"]
    assert build("state { phase: TRAIN }\n", *rows).layer_names == ["data", "a"]


# -- errors ----------------------------------------------------------------------------------------


# The second layer, in the third line, is wrong.
ERRORS = {
    "unknown bottom": ("a: ReLU dta -> a", 'layer "a": unknown bottom "dta"; did you mean "data"?'),
    "no type": ("a: -> a", 'layer "a" has no type'),
    "top twice in one layer": ("a: Input -> b b", 'top "b" is made by layer "a" already'),
    "in place at another index": (
        "a: SoftmaxWithLoss data label -> x data",
        'top "data" is made by layer "data" already',
    ),
    "loss weights": ("a: ReLU data -> a | loss_weight: 1 loss_weight: 2", "2 loss_weight for 1 "),
    "propagate_down": (
        "a: ReLU data -> a | propagate_down: [true, true]",
        "2 propagate_down for 1",
    ),
    "near type": ("a: Relu data -> a", 'type "Relu" is not known; did you mean "ReLU"?'),
    "type of a fork": ("a: DenseCRF data -> a", "it comes from DeepLab"),
    "no such type": ("a: Quux data -> a", r"type \"Quux\" is not known$"),
    "too many bottoms": (
        "a: ReLU data label -> a",
        r'"a" \(ReLU\): takes 1 bottom blob\(s\), found 2',
    ),
    "too few tops": ("a: ReLU data", r"takes 1 top blob\(s\), found 0"),
    "too few of at least one": ("a: Input", "takes 1 or more top"),
    "too many specs": (
        "a: InnerProduct data -> a | param { } param { } param { }",
        "3 `param` for 2 parameters",
    ),
    "specs of a layer without parameters": ("a: ReLU data -> a | param { }", "1 `param` for 0"),
    "filler": (
        "a: InnerProduct data -> a "
        "| inner_product_param { num_output: 1 bias_filler { type: 'x' } }",
        r'layer "a" \(InnerProduct\): parameter 1: there is no filler "x"',
    ),
    "axis": (
        "a: InnerProduct data -> a | inner_product_param { num_output: 1 axis: 7 }",
        "axis 7 is out of range",
    ),
    "given values": (
        "a: InnerProduct data -> a | inner_product_param { num_output: 1 } blobs { data: 1 }",
        "1 blobs are given, 2 are needed",
    ),
    "count of given values": (
        "a: InnerProduct data -> a | blobs { data: 1 } blobs { data: [1, 2, 3] }",
        r"a given blob has 1 values, \(3, 3\) needs 9",
    ),
    "shapes of inputs": (
        "a: Input -> x y z | input_param { shape { } shape { } }",
        "2 shapes for 3 tops",
    ),
    "both kinds of rules": (
        "a: ReLU data -> a | include { } exclude { }",
        'layer "a": give either include rules or exclude rules',
    ),
}


@pytest.mark.parametrize(("row", "problem"), ERRORS.values(), ids=ERRORS)
def test_errors_say_where_and_what(tmp_path, row, problem):
    path = tmp_path / "net.prototxt"
    path.write_text(text_of("# a comment\n", DATA_AND_LABEL, row, "last: ReLU data -> last"))
    with pytest.raises(NetError, match=problem) as caught:
        Net(read_net(path))
    assert str(caught.value).startswith(f"{path}:3: ")
    assert '"a"' in str(caught.value)


def test_all_wiring_problems_come_at_once(tmp_path):
    path = tmp_path / "net.prototxt"
    path.write_text(text_of(DATA, "a: ReLU x -> a", "b: ReLU data -> a", "c: ReLU data -> c"))
    with pytest.raises(NetError) as caught:
        Net(read_net(path))
    first, second = str(caught.value).splitlines()
    assert first.startswith(f'{path}:2: layer "a": unknown bottom "x"')
    assert second.startswith(f'{path}:3: layer "b": top "a" is made by layer "a" already')


def test_errors_of_layers_with_one_name_are_told_apart(tmp_path):
    path = tmp_path / "net.prototxt"
    path.write_text(
        text_of(DATA, "a: ReLU data -> b", "a: ReLU b -> c", "a: ReLU c -> d | param { }")
    )
    with pytest.raises(NetError, match=":4: "):
        Net(read_net(path))


def test_errors_without_a_file_have_no_place():
    with pytest.raises(NetError, match=r'^layer "a": unknown bottom'):
        build(DATA, "a: ReLU x -> a")


# -- forward and backward --------------------------------------------------------------------------


CHAIN = [
    DATA,
    "one: InnerProduct data -> one",
    "relu: ReLU one -> one",
    "two: InnerProduct one -> two | loss_weight: 0.5",
    "three: InnerProduct two -> three | loss_weight: 2",
]
SPLIT = CHAIN[3].partition(":")[0] + "_two_0_split"


def test_forward_from_a_layer_to_another():
    net = build(*CHAIN)
    assert net.layer_names == ["data", "one", "relu", "two", SPLIT, "three"]
    randomize(net, "data")
    whole = net.forward()
    values = {name: blob(net, name).data.copy() for name in net.blob_ids}
    top, mid = 2 * values["three"].sum(), 0.5 * values["two"].sum()
    assert whole == pytest.approx(top + mid, rel=1e-4)
    for start in range(6):
        for end in range(start, 6):
            for name in ("one", "two", "three"):
                if net.layer_names.index(name) > end:
                    blob(net, name).data[...] = 0
            expected = mid * (start <= 4 <= end) + top * (start <= 5 <= end)
            assert net.forward(start, end) == pytest.approx(expected, rel=1e-4)
            net.forward()  # whatever was cleared is there again
    for name, value in values.items():
        np.testing.assert_array_equal(blob(net, name).data, value, err_msg=name)


@pytest.mark.parametrize(
    ("direction", "start", "end"),
    [("forward", -1, None), ("forward", 0, 6), ("backward", 6, 0), ("backward", None, -1)],
)
def test_there_is_no_layer_minus_one_and_none_behind_the_last(direction, start, end):
    net = build(*CHAIN)
    ran = []
    net.before_forward(ran.append)
    net.before_backward(ran.append)
    with pytest.raises((NetError, IndexError)):
        getattr(net, direction)(start, end)
    assert set(ran) <= set(range(6))


def test_backward_from_a_layer_to_another():
    net = build(*CHAIN)
    randomize(net, "data")
    net.forward()
    net.backward()
    params = [p.blob.diff.copy() for p in net.params.learnable]
    diffs = {name: b.diff.copy() for name, b in zip(net.blob_names, net.blobs, strict=True)}
    net.clear_param_diffs()
    assert not any(p.blob.diff.any() for p in net.params.learnable)
    net.backward(5, 3)
    assert not layer_of(net, "one").blobs[0].diff.any()
    assert layer_of(net, "two").blobs[0].diff.any()
    net.backward(2, 0)
    for p, diff in zip(net.params.learnable, params, strict=True):
        np.testing.assert_allclose(p.blob.diff, diff, rtol=1e-5)
    for name, diff in diffs.items():
        np.testing.assert_array_equal(blob(net, name).diff, diff, err_msg=name)


def test_gradients_of_parameters_add_up_and_those_of_blobs_do_not():
    net = build(FORCE, *CHAIN)
    randomize(net, "data")
    net.forward()
    net.backward()
    params = [p.blob.diff.copy() for p in net.params.learnable]
    data = blob(net, "data").diff.copy()
    assert data.any()
    net.forward()
    net.backward()
    np.testing.assert_array_equal(blob(net, "data").diff, data)
    for p, diff in zip(net.params.learnable, params, strict=True):
        np.testing.assert_allclose(p.blob.diff, 2 * diff, rtol=1e-5)


def test_the_gradient_of_a_net_is_that_of_its_loss():
    net = build(FORCE, *CHAIN, dtype=np.float64)
    randomize(net, "data")
    net.forward()
    net.backward()
    targets = [("data", blob(net, "data"))]
    targets += [(str(p.owner), p.blob) for p in net.params.learnable]
    for name, target in targets:
        for index in np.ndindex(target.shape):
            kept, losses = target.data[index], []
            for step in (1e-5, -1e-5):
                target.data[index] = kept + step
                losses.append(float(net.forward()))
            target.data[index] = kept
            numeric = (losses[0] - losses[1]) / 2e-5
            assert target.diff[index] == pytest.approx(numeric, abs=1e-6), (name, index)


def test_update_subtracts_the_gradients_once():
    net = build(
        DATA,
        "one: InnerProduct data -> one | param { name: 'w' }",
        "two: InnerProduct one -> two | param { name: 'w' } loss_weight: 1",
    )
    before = [p.blob.data.copy() for p in net.params.learnable]
    for i, p in enumerate(net.params.learnable):
        p.blob.diff[...] = i + 1
    net.update()
    assert len(before) == 3
    for i, (p, data) in enumerate(zip(net.params.learnable, before, strict=True)):
        np.testing.assert_allclose(p.blob.data, data - (i + 1), rtol=1e-6)
    assert (net.params.learnable[0].blob.diff == 1).all()


# -- shapes ----------------------------------------------------------------------------------------


def test_other_shapes_of_the_inputs_spread_through_the_net():
    net, small, large = (build(*CHAIN) for _ in range(3))
    for batch in (2, 9, 4, 1, 9):
        rows = np.random.default_rng(batch).standard_normal((batch, 3))
        blob(net, "data").reshape(batch, 3)
        blob(net, "data").data[...] = rows
        net.forward()
        for i, row in enumerate(rows):  # item by item in nets of other shapes
            blob(small, "data").reshape(1, 3)
            blob(small, "data").data[...] = row
            small.forward()
            np.testing.assert_allclose(
                blob(net, "three").data[i], blob(small, "three").data[0], rtol=1e-5
            )
        assert all(b.shape == (batch, 3) for b in net.blobs)
    blob(large, "data").reshape(7, 3)
    large.reshape()
    assert blob(large, "three").shape == (7, 3)
    assert not blob(large, "three").data.any()  # shaped, not computed


def test_images_of_two_sizes_take_turns():
    """A net is the same after another size as before it, to the last bit."""
    net = build(
        "data: Input -> data | input_param { shape { dim: 1 dim: 3 dim: 40 dim: 40 } }",
        "conv: Convolution data -> conv | convolution_param { num_output: 5 kernel_size: 3 "
        "stride: 2 weight_filler { type: 'gaussian' std: 0.1 } bias_filler { value: 0.2 } }",
        "relu: ReLU conv -> conv",
        "pool: Pooling conv -> pool | pooling_param { kernel_size: 2 stride: 2 }",
        "norm: LRN pool -> norm | lrn_param { local_size: 3 }",
        "softmax: Softmax norm -> softmax",
    )
    images = [
        np.random.default_rng(i).standard_normal(shape).astype(np.float32)
        for i, shape in enumerate([(2, 3, 24, 31), (1, 3, 50, 44)])
    ]
    first = []
    for turn in range(3):
        for i, image in enumerate(images):
            blob(net, "data").reshape(*image.shape)
            blob(net, "data").data[...] = image
            net.forward()
            if not turn:
                first.append({name: blob(net, name).data.copy() for name in net.blob_ids})
            for name, value in first[i].items():
                np.testing.assert_array_equal(blob(net, name).data, value, err_msg=name)
    assert [f["softmax"].shape for f in first] == [(2, 5, 6, 8), (1, 5, 12, 11)]


def test_a_shape_that_does_not_fit_names_the_layer():
    net = build(*CHAIN)
    blob(net, "data").reshape(4, 5)
    with pytest.raises(NetError, match=r'layer "one" .*for 3 inputs.*\(4, 5\) has 5'):
        net.forward()
    blob(net, "data").reshape(4, 3)
    net.forward()


# -- losses ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [2.0, 1.0, -1.0, -2.5, 3.7])
def test_a_loss_weight_scales_loss_and_gradients(weight):
    def run(settings):
        net = build(
            FORCE,
            DATA_AND_LABEL,
            "ip: InnerProduct data -> ip",
            f"loss: SoftmaxWithLoss ip label -> loss | {settings}",
        )
        randomize(net, "data")
        blob(net, "label").data[...] = [0, 2, 1, 1]
        loss = float(net.forward())
        net.backward()
        diffs = [blob(net, name).diff for name in ("data", "ip")]
        diffs += [p.blob.diff for p in net.params.learnable]
        return net, loss, diffs

    plain, loss, diffs = run("")
    net, scaled, others = run(f"loss_weight: {weight}")
    assert plain.blob_loss_weights == [0, 0, 0, 1]
    assert net.blob_loss_weights == pytest.approx([0, 0, 0, weight])
    assert float(blob(net, "loss").data) == pytest.approx(loss)  # the blob itself is not scaled
    assert float(blob(net, "loss").diff) == pytest.approx(weight)
    assert scaled == pytest.approx(weight * loss, rel=1e-4)
    for one, two in zip(diffs, others, strict=True):
        assert np.abs(one).max() > 0
        np.testing.assert_allclose(two, weight * one, rtol=1e-4, atol=1e-7)


def test_a_loss_weight_of_zero_switches_off():
    net = build(
        DATA_AND_LABEL,
        "ip: InnerProduct data -> ip",
        "loss: SoftmaxWithLoss ip label -> loss | loss_weight: 0",
    )
    randomize(net, "data")
    assert net.forward() == 0
    assert float(blob(net, "loss").data) > 0
    net.backward()
    assert not any(p.blob.diff.any() for p in net.params.learnable)


def test_weights_of_losses_lie_in_the_diffs():
    net = build(*CHAIN)
    assert (blob(net, "three").diff == 2).all()
    assert (blob(net, f"{SPLIT}_0").diff == 0.5).all()
    assert not blob(net, f"{SPLIT}_1").diff.any()
    by_name = dict(zip(net.blob_names, net.blob_loss_weights, strict=True))
    assert {n: w for n, w in by_name.items() if w} == {f"{SPLIT}_0": 0.5, "three": 2}


def test_two_losses_add_up():
    def run(one, two):
        net = build(
            DATA,
            "ip: InnerProduct data -> ip",
            f"a: ReLU ip -> a | loss_weight: {one}",
            f"b: InnerProduct ip -> b | loss_weight: {two}",
        )
        randomize(net, "data")
        loss = float(net.forward())
        net.backward()
        return loss, layer_of(net, "ip").blobs[0].diff

    (loss_a, diff_a), (loss_b, diff_b), (both, diff) = run(2, 0), run(0, -3), run(2, -3)
    assert both == pytest.approx(loss_a + loss_b, rel=1e-4)
    assert np.abs(diff_a).max() > 0
    np.testing.assert_allclose(diff, diff_a + diff_b, rtol=1e-4, atol=1e-5)


# -- hooks -----------------------------------------------------------------------------------------


def test_hooks_fire_for_every_layer_in_order():
    net = build(*CHAIN)
    assert net.layer_need_backward == [False, True, True, True, True, True]
    events = []
    for name in ("before_forward", "after_forward", "before_backward", "after_backward"):
        getattr(net, name)(lambda i, name=name: events.append((name, i)))
    net.after_forward.append(lambda i: events.append(("second", i)))
    net.forward()
    names = ("before_forward", "after_forward", "second")
    assert events == [(name, i) for i in range(6) for name in names]
    events.clear()
    net.backward()
    names = ("before_backward", "after_backward")
    assert events == [(name, i) for i in reversed(range(6)) for name in names]
    events.clear()
    net.forward(2, 3)
    net.backward(1, 0)
    assert [i for name, i in events if name.startswith("before")] == [2, 3, 1, 0]


def test_hooks_see_the_values_before_and_after():
    net = build(*CHAIN)
    randomize(net, "data")
    seen = []
    net.before_forward(lambda i: seen.append(blob(net, "three").data.any()))
    net.after_forward(lambda i: seen.append(blob(net, "three").data.any()))
    net.forward()
    assert seen == [False] * 11 + [True]
    grads = []
    net.before_backward(lambda i: grads.append(layer_of(net, "two").blobs[0].diff.any()))
    net.after_backward(lambda i: grads.append(layer_of(net, "two").blobs[0].diff.any()))
    net.backward()
    assert grads == [False] * 5 + [True] * 7


# -- the log ---------------------------------------------------------------------------------------


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.INFO, "pycaffe_dist")
    return lambda: [record.getMessage() for record in caplog.records]


def test_debug_info(lines, caplog):
    net = build(
        "debug_info: true\n",
        DATA,
        "one: InnerProduct data -> one | param { name: 'w' }",
        f"two: InnerProduct one -> two | {FROZEN} loss_weight: 1",
    )
    blob(net, "data").data[...] = -2
    layer_of(net, "one").blobs[0].data[...] = 0.5
    layer_of(net, "one").blobs[1].data[...] = 0
    layer_of(net, "two").blobs[0].data[...] = -1
    layer_of(net, "two").blobs[1].data[...] = 0.25
    caplog.clear()
    net.forward()
    assert lines() == [
        "    [Forward] Layer data, top blob data data: 2",
        "    [Forward] Layer one, top blob one data: 3",
        "    [Forward] Layer one, param blob w data: 0.5",
        "    [Forward] Layer one, param blob 1 data: 0",
        "    [Forward] Layer two, top blob two data: 9.25",
        "    [Forward] Layer two, param blob 0 data: 1",
        "    [Forward] Layer two, param blob 1 data: 0.25",
    ]
    caplog.clear()
    net.backward()
    data = [9 * 0.5 + 9 + 0.75, (9 * 0.25 + 9 + 3 * 0.0625) ** 0.5]
    diff = [9 * 24 + 3 * 12, (9 * 24**2 + 3 * 12**2) ** 0.5]
    assert lines() == [
        "    [Backward] Layer two, bottom blob one diff: 3",
        "    [Backward] Layer one, param blob 0 diff: 24",
        "    [Backward] Layer one, param blob 1 diff: 12",
        "    [Backward] All net params (data, diff): "
        f"L1 norm = ({data[0]:g}, {diff[0]:g}); L2 norm = ({data[1]:g}, {diff[1]:g})",
    ]
    assert caplog.records[-1].levelname == "ERROR"


def test_no_debug_info_unless_asked(lines, caplog):
    net = build(*CHAIN)
    caplog.clear()
    net.forward()
    net.backward()
    assert lines() == []


def test_building_is_logged_as_caffe_does(lines):
    build(
        DATA_AND_LABEL,
        "ip: InnerProduct data -> ip",
        "relu: ReLU ip -> ip",
        "loss: SoftmaxWithLoss ip label -> loss | loss_weight: 2",
        "side: ReLU ip -> side",
    )
    wanted = """\
Creating Layer data
data -> data
data -> label
Setting up data
Top shape: 4 3 (12)
Top shape: 4 (4)
Memory required for data: 64
Creating Layer ip
ip <- data
ip -> ip
Setting up ip
Top shape: 4 3 (12)
Memory required for data: 112
Creating Layer relu
relu <- ip
relu -> ip (in-place)
Setting up relu
Top shape: 4 3 (12)
Memory required for data: 160
Creating Layer ip_relu_0_split
ip_relu_0_split <- ip
ip_relu_0_split -> ip_relu_0_split_0
ip_relu_0_split -> ip_relu_0_split_1
Setting up ip_relu_0_split
Top shape: 4 3 (12)
Top shape: 4 3 (12)
Memory required for data: 256
Creating Layer loss
loss <- ip_relu_0_split_0
loss <- label
loss -> loss
Setting up loss
Top shape: (1)
    with loss weight 2
Memory required for data: 260
Creating Layer side
side <- ip_relu_0_split_1
side -> side
Setting up side
Top shape: 4 3 (12)
Memory required for data: 308
side does not need backward computation.
loss needs backward computation.
ip_relu_0_split needs backward computation.
relu needs backward computation.
ip needs backward computation.
data does not need backward computation.
This network produces output loss
This network produces output side
Network initialization done."""
    got = [
        line
        for line in lines()
        if not line.startswith(("Initializing net", "Creating layer ", "The NetState"))
    ]
    assert got == wanted.splitlines()


# -- number types, dry nets, given values ----------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_number_type(dtype):
    net = build(*CHAIN, dtype=dtype)
    net.forward()
    net.backward()
    for b in [*net.blobs, *(p.blob for p in net.params.learnable)]:
        assert b.data.dtype == b.diff.dtype == dtype


def test_a_dry_net_has_shapes_and_no_memory():
    net = build(
        "data: Input -> data | input_param { shape { dim: 20000 dim: 90000 } }",
        "one: InnerProduct data -> one | inner_product_param { num_output: 20000 "
        "weight_filler { type: 'gaussian' } }",
        "relu: ReLU one -> one | loss_weight: 1",
        dry=True,
    )
    assert blob(net, "one").shape == (20000, 20000)
    assert net.params.learnable[0].blob.shape == (20000, 90000)
    everything = [*net.blobs, *(p.blob for p in net.params.learnable)]
    assert all(not v.current for b in everything for v in (b.data_value, b.diff_value))


def test_values_written_into_the_prototxt_replace_filling():
    net = build(
        DATA,
        "ip: InnerProduct data -> ip "
        "| inner_product_param { num_output: 1 bias_filler { value: 9 } }"
        "blobs { shape { dim: 1 dim: 3 } data: [1, 2, 3] } blobs { double_data: 4 }",
    )
    assert layer_of(net, "ip").blobs[0].data.tolist() == [[1, 2, 3]]
    assert layer_of(net, "ip").blobs[1].data.tolist() == [4]
    blob(net, "data").data[...] = 1
    net.forward()
    assert (blob(net, "ip").data == 10).all()


def test_layers_are_filled_in_the_order_of_the_file():
    rows = ["one: InnerProduct data -> one", "two: InnerProduct data -> two"]
    forth, back = build(DATA, *rows), build(DATA, *reversed(rows))
    for first, second in (("one", "two"), ("two", "one")):
        for a, b in zip(layer_of(forth, first).blobs, layer_of(back, second).blobs, strict=True):
            np.testing.assert_array_equal(a.data, b.data)


@pytest.mark.host
def test_everything_lives_at_home_by_default():
    net = build(*CHAIN)
    net.forward()
    net.backward()
    assert {h for b in net.blobs for h in b.data_value.current} == {HOST}


def test_in_place_on_a_blob_with_another_reader_is_refused():
    """After the split there are two blobs of that name; Caffe refuses the net too."""
    net = parse_text(
        'input: "x" input_shape { dim: 2 dim: 3 } '
        'layer { name: "a" type: "InnerProduct" bottom: "x" top: "a" '
        "inner_product_param { num_output: 2 } } "
        'layer { name: "b" type: "InnerProduct" bottom: "a" top: "b" '
        "inner_product_param { num_output: 2 } } "
        'layer { name: "r" type: "ReLU" bottom: "a" top: "a" }',
        NetParameter(),
    ).message
    upgrade_net(net)
    with pytest.raises(NetError, match='layer "r": its top "a" replaces a blob'):
        Net(net)
