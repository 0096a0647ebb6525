# ruff: noqa: E501
import pytest
from google.protobuf import text_format

from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN, NetParameter, NetState, NetStateRule
from pycaffe_dist.proto.state import filter_net, merge_state, rule_matches


def state(text):
    return text_format.Parse(text, NetState())


def net(text):
    return text_format.Parse(text, NetParameter())


# -- rules -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "given", "matches"),
    [
        ("", "", True),
        ("", "phase: TRAIN level: 5 stage: 'a'", True),
        ("phase: TEST", "", True),  # a state's default phase
        ("phase: TRAIN", "", False),
        ("phase: TRAIN", "phase: TRAIN", True),
        ("phase: TRAIN", "phase: TEST", False),
        ("min_level: 0", "", True),
        ("min_level: 1", "", False),
        ("min_level: 2", "level: 1", False),
        ("min_level: 2", "level: 2", True),
        ("min_level: 2", "level: 3", True),
        ("min_level: -1", "", True),
        ("max_level: 0", "", True),
        ("max_level: -1", "", False),
        ("max_level: 2", "level: 3", False),
        ("max_level: 2", "level: 2", True),
        ("max_level: 2", "level: -7", True),
        ("min_level: 1 max_level: 2", "level: 0", False),
        ("min_level: 1 max_level: 2", "level: 1", True),
        ("min_level: 1 max_level: 2", "level: 3", False),
        ("stage: 'a'", "", False),
        ("stage: 'a'", "stage: 'a'", True),
        ("stage: 'a'", "stage: 'b' stage: 'a'", True),
        ("stage: 'a' stage: 'b'", "stage: 'a'", False),
        ("stage: 'a' stage: 'b'", "stage: 'b' stage: 'c' stage: 'a'", True),
        ("stage: 'a' stage: 'a'", "stage: 'a'", True),
        ("not_stage: 'a'", "", True),
        ("not_stage: 'a'", "stage: 'a'", False),
        ("not_stage: 'a'", "stage: 'b'", True),
        ("not_stage: 'a' not_stage: 'b'", "stage: 'b'", False),
        ("stage: 'a' not_stage: 'b'", "stage: 'a'", True),
        ("stage: 'a' not_stage: 'b'", "stage: 'a' stage: 'b'", False),
        ("stage: 'a' not_stage: 'a'", "stage: 'a'", False),
        ("phase: TRAIN min_level: 1 stage: 'a'", "phase: TRAIN level: 1 stage: 'a'", True),
        ("phase: TRAIN min_level: 1 stage: 'a'", "phase: TEST level: 1 stage: 'a'", False),
        ("phase: TRAIN min_level: 1 stage: 'a'", "phase: TRAIN level: 0 stage: 'a'", False),
        ("phase: TRAIN min_level: 1 stage: 'a'", "phase: TRAIN level: 1 stage: 'b'", False),
    ],
)
def test_rule(rule, given, matches):
    assert rule_matches(state(given), text_format.Parse(rule, NetStateRule())) is matches


# -- layers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "given", "included"),
    [
        ("", "phase: TRAIN", True),
        ("include { phase: TRAIN }", "phase: TRAIN", True),
        ("include { phase: TRAIN }", "phase: TEST", False),
        ("include { }", "phase: TEST", True),
        ("include { phase: TRAIN } include { phase: TEST }", "phase: TEST", True),
        ("include { stage: 'a' } include { stage: 'b' }", "stage: 'b'", True),
        ("include { stage: 'a' } include { stage: 'b' }", "stage: 'c'", False),
        ("include { phase: TRAIN stage: 'a' } include { phase: TEST stage: 'b' }", "phase: TRAIN stage: 'b'", False),
        ("exclude { phase: TRAIN }", "phase: TRAIN", False),
        ("exclude { phase: TRAIN }", "phase: TEST", True),
        ("exclude { }", "phase: TEST", False),
        ("exclude { stage: 'a' } exclude { stage: 'b' }", "stage: 'b'", False),
        ("exclude { stage: 'a' } exclude { stage: 'b' }", "stage: 'c'", True),
        ("exclude { min_level: 2 } exclude { max_level: 0 }", "level: 1", True),
    ],
)  # fmt: skip
def test_layer(rules, given, included):
    text = f"layer {{ name: 'x' {rules} top: 'x' }}"
    filtered = filter_net(net(text), state(given))
    assert list(filtered.layer) == (list(net(text).layer) if included else [])


LENET = """
    name: 'LeNet' force_backward: true
    layer { name: 'mnist' type: 'Data' top: 'data' top: 'label' include { phase: TRAIN } data_param { batch_size: 64 } }
    layer { name: 'mnist' type: 'Data' top: 'data' top: 'label' include { phase: TEST } data_param { batch_size: 100 } }
    layer { name: 'ip' type: 'InnerProduct' bottom: 'data' top: 'ip' }
    layer { name: 'accuracy' type: 'Accuracy' bottom: 'ip' bottom: 'label' exclude { phase: TRAIN } }
    layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip' bottom: 'label' exclude { phase: TEST stage: 'deploy' } }
    """  # fmt: skip


@pytest.mark.parametrize(
    ("given", "layers"),
    [
        ("phase: TRAIN", [0, 2, 4]),
        ("phase: TEST", [1, 2, 3, 4]),
        ("", [1, 2, 3, 4]),
        ("phase: TEST stage: 'deploy'", [1, 2, 3]),
        ("phase: TRAIN stage: 'deploy'", [0, 2, 4]),
    ],
)
def test_net(given, layers):
    original = net(LENET)
    filtered = filter_net(original, state(given))
    assert list(filtered.layer) == [original.layer[i] for i in layers]
    assert (filtered.name, filtered.force_backward) == ("LeNet", True)
    assert filtered.state == state(given)
    assert original == net(LENET)


def test_the_nets_own_state_counts_by_default():
    assert [la.name for la in filter_net(net("state { phase: TRAIN }" + LENET)).layer] == [
        "mnist",
        "ip",
        "loss",
    ]
    assert len(filter_net(net(LENET)).layer) == 4  # TEST
    assert len(filter_net(net("state { phase: TRAIN }" + LENET), NetState(phase=TEST)).layer) == 4


def test_include_and_exclude_do_not_go_together():
    text = "layer { name: 'x' include { phase: TRAIN } exclude { phase: TEST } }"
    with pytest.raises(NetError) as e:
        filter_net(net(text), NetState())
    assert str(e.value) == 'layer "x": give either include rules or exclude rules, not both'


# -- merging ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phase", "states", "merged"),
    [
        (TRAIN, [], "phase: TRAIN"),
        (TEST, [], "phase: TEST"),
        (TRAIN, ["", ""], "phase: TRAIN"),
        (TRAIN, ["level: 1"], "phase: TRAIN level: 1"),
        (TRAIN, ["level: 1", "level: 2"], "phase: TRAIN level: 2"),
        (TRAIN, ["level: 1", ""], "phase: TRAIN level: 1"),
        (
            TRAIN,
            ["stage: 'a'", "stage: 'b' stage: 'a'"],
            "phase: TRAIN stage: 'a' stage: 'b' stage: 'a'",
        ),
        (TRAIN, ["phase: TEST"], "phase: TEST"),
        (TEST, ["phase: TRAIN stage: 'x'", "phase: TEST"], "phase: TEST stage: 'x'"),
    ],
)
def test_merge(phase, states, merged):
    given = [state(text) for text in states]
    assert merge_state(phase, *given) == state(merged)
    assert given == [state(text) for text in states]
