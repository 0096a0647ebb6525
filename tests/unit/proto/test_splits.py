# ruff: noqa: E501
import pytest
from google.protobuf import text_format

from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.splits import insert_splits


def net(text):
    return text_format.Parse(text, NetParameter())


DATA = "layer { name: 'data' type: 'Data' top: 'data' top: 'label' }"


def ip(name, bottom, top=None, more=""):
    return f"layer {{ name: '{name}' type: 'InnerProduct' bottom: '{bottom}' top: '{top or name}' {more} }}"


def split(blob, layer, index, count, more=""):
    name = f"{blob}_{layer}_{index}_split"
    tops = " ".join(f"top: '{name}_{k}'" for k in range(count))
    return f"layer {{ name: '{name}' type: 'Split' bottom: '{blob}' {tops} {more} }}"


def loss(name, *bottoms):
    return f"layer {{ name: '{name}' type: 'EuclideanLoss' {' '.join(f'''bottom: '{b}' ''' for b in bottoms)} }}"


CASES = {
    "nothing to split": (
        [DATA, ip("a", "data"), loss("loss", "a", "label")],
        [DATA, ip("a", "data"), loss("loss", "a", "label")],
    ),
    "two readers": (
        [DATA, ip("a", "data"), ip("b", "data"), loss("loss", "a", "b")],
        [
            DATA,
            split("data", "data", 0, 2),
            ip("a", "data_data_0_split_0"),
            ip("b", "data_data_0_split_1"),
            loss("loss", "a", "b"),
        ],
    ),
    "three readers, one of them twice": (
        [DATA, ip("a", "data"), loss("loss", "data", "data")],
        [
            DATA,
            split("data", "data", 0, 3),
            ip("a", "data_data_0_split_0"),
            loss("loss", "data_data_0_split_1", "data_data_0_split_2"),
        ],
    ),
    "both tops of a layer": (
        [DATA, loss("x", "data", "label"), loss("y", "data", "label")],
        [
            DATA,
            split("data", "data", 0, 2),
            split("label", "data", 1, 2),
            loss("x", "data_data_0_split_0", "label_data_1_split_0"),
            loss("y", "data_data_0_split_1", "label_data_1_split_1"),
        ],
    ),
    "the second top": (
        [DATA, ip("a", "data"), loss("x", "a", "label"), loss("y", "label")],
        [
            DATA,
            split("label", "data", 1, 2),
            ip("a", "data"),
            loss("x", "a", "label_data_1_split_0"),
            loss("y", "label_data_1_split_1"),
        ],
    ),
    "behind the last layer in place": (
        [DATA, ip("a", "data"), ip("r1", "a", "a"), ip("r2", "a", "a"), ip("b", "a"), ip("c", "a")],
        [
            DATA,
            ip("a", "data"),
            ip("r1", "a", "a"),
            ip("r2", "a", "a"),
            split("a", "r2", 0, 2),
            ip("b", "a_r2_0_split_0"),
            ip("c", "a_r2_0_split_1"),
        ],
    ),
    "before, within and behind a chain in place": (
        [DATA, ip("a", "data"), ip("b", "a"), ip("r", "a", "a"), ip("c", "a"), ip("d", "a")],
        [
            DATA,
            ip("a", "data"),
            split("a", "a", 0, 2),
            ip("b", "a_a_0_split_0"),
            ip("r", "a_a_0_split_1", "a"),
            split("a", "r", 0, 2),
            ip("c", "a_r_0_split_0"),
            ip("d", "a_r_0_split_1"),
        ],
    ),
    "a loss that nobody reads": (
        [DATA, ip("a", "data", more="loss_weight: 2")],
        [DATA, ip("a", "data", more="loss_weight: 2")],
    ),
    "a loss with one reader": (
        [DATA, ip("a", "data", more="loss_weight: 2"), ip("b", "a")],
        [
            DATA,
            ip("a", "data"),
            split("a", "a", 0, 2, "loss_weight: 2 loss_weight: 0"),
            ip("b", "a_a_0_split_1"),
        ],
    ),
    "a loss with two readers": (
        [DATA, ip("a", "data", more="loss_weight: -2.5"), ip("b", "a"), ip("c", "a")],
        [
            DATA,
            ip("a", "data"),
            split("a", "a", 0, 3, "loss_weight: -2.5 loss_weight: 0 loss_weight: 0"),
            ip("b", "a_a_0_split_1"),
            ip("c", "a_a_0_split_2"),
        ],
    ),
    "a loss weight of zero is no use": (
        [DATA, ip("a", "data", more="loss_weight: 0"), ip("b", "a")],
        [DATA, ip("a", "data", more="loss_weight: 0"), ip("b", "a")],
    ),
    "a loss weight of zero stays with two readers": (
        [DATA, ip("a", "data", more="loss_weight: 0"), ip("b", "a"), ip("c", "a")],
        [
            DATA,
            ip("a", "data", more="loss_weight: 0"),
            split("a", "a", 0, 2),
            ip("b", "a_a_0_split_0"),
            ip("c", "a_a_0_split_1"),
        ],
    ),
    "a loss in the middle of a chain in place": (
        [DATA, ip("a", "data", more="loss_weight: 3"), ip("r", "a", "a"), ip("b", "a")],
        [
            DATA,
            ip("a", "data"),
            split("a", "a", 0, 2, "loss_weight: 3 loss_weight: 0"),
            ip("r", "a_a_0_split_1", "a"),
            ip("b", "a"),
        ],
    ),
    "two losses": (
        [
            "layer { name: 'two' top: 'x' top: 'y' loss_weight: 1 loss_weight: 2 }",
            ip("a", "x"),
            ip("b", "y"),
        ],
        [
            "layer { name: 'two' top: 'x' top: 'y' }",
            split("x", "two", 0, 2, "loss_weight: 1 loss_weight: 0"),
            split("y", "two", 1, 2, "loss_weight: 2 loss_weight: 0"),
            ip("a", "x_two_0_split_1"),
            ip("b", "y_two_1_split_1"),
        ],
    ),
    "more loss weights than tops": (
        ["layer { name: 'a' top: 'a' loss_weight: 1 loss_weight: 5 }", ip("b", "a")],
        [
            "layer { name: 'a' top: 'a' }",
            split("a", "a", 0, 2, "loss_weight: 1 loss_weight: 0"),
            ip("b", "a_a_0_split_1"),
        ],
    ),
    "layers of the same name": (
        [ip("x", "a", "b").replace("bottom: 'a' ", ""), ip("x", "b", "c"), ip("y", "b"), ip("z", "c"), ip("w", "c")],
        [
            ip("x", "a", "b").replace("bottom: 'a' ", ""),
            split("b", "x", 0, 2),
            ip("x", "b_x_0_split_0", "c"),
            split("c", "x", 0, 2),
            ip("y", "b_x_0_split_1"),
            ip("z", "c_x_0_split_0"),
            ip("w", "c_x_0_split_1"),
        ],
    ),
    "a layer without a name": (
        ["layer { top: 'a' }", ip("b", "a"), ip("c", "a")],
        ["layer { top: 'a' }", split("a", "", 0, 2), ip("b", "a__0_split_0"), ip("c", "a__0_split_1")],
    ),
    "no layers": ([], []),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_splits(case):
    before, after = CASES[case]
    rest = "name: 'n' force_backward: true state { phase: TRAIN } "
    original = net(rest + " ".join(before))
    expected = net(rest + " ".join(after))
    made = insert_splits(original)
    assert made == expected
    assert original == net(rest + " ".join(before))
    assert insert_splits(made) == made


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ([ip("a", "data")], "Unknown bottom blob 'data' (layer 'a', bottom index 0)"),
        ([DATA, ip("a", "dta")], "Unknown bottom blob 'dta' (layer 'a', bottom index 0); did you mean \"data\"?"),
        ([DATA, loss("x", "data", "other")], "Unknown bottom blob 'other' (layer 'x', bottom index 1)"),
        ([ip("a", "a", "a")], "Unknown bottom blob 'a' (layer 'a', bottom index 0)"),
        ([ip("a", "later"), ip("later", "a")], "Unknown bottom blob 'later' (layer 'a', bottom index 0)"),
    ],
)  # fmt: skip
def test_unknown_bottoms(layers, message):
    with pytest.raises(NetError) as e:
        insert_splits(net(" ".join(layers)))
    assert str(e.value) == message
