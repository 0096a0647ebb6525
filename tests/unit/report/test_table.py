import pytest

from pycaffe_dist.facts import LayerFacts
from pycaffe_dist.report.table import amount, net_table, table


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, "", "0"),
        (1, "", "1"),
        (999, "", "999"),
        (1000, "", "1 k"),
        (1234, "", "1.23 k"),
        (431080, "", "431 k"),
        (12_345_678, "", "12.3 M"),
        (12_345_678, "B", "12.3 MB"),
        (2_500_000_000, "B", "2.5 GB"),
        (3e12, "FLOP", "3 TFLOP"),
        (12, "B", "12 B"),
        (-1234, "", "-1.23 k"),
        (0.5, "s", "0.5 s"),
        (999_999, "B", "1 MB"),
        (999_999_999, "", "1 G"),
    ],
)
def test_amounts(value, unit, text):
    assert amount(value, unit) == text


def test_columns_are_aligned():
    rows = [("a", "1", "x"), ("longer", "22222", ""), ("", "3", "yy")]
    assert table(("name", "n", "z"), rows) == [
        "name        n   z",
        "a           1   x",
        "longer  22222",
        "            3  yy",
    ]
    assert table(("name", "n", "z"), rows, left=3) == [
        "name    n      z",
        "a       1      x",
        "longer  22222",
        "        3      yy",
    ]


def test_a_table_without_rows():
    assert table(("a", "bb"), []) == ["a  bb"]


def fact(name, kind="ReLU", tops=((2, 3),), **given):
    settings = {
        "param_shapes": (),
        "param_count": 0,
        "flops": 0,
        "data_bytes": 0,
        "diff_bytes": 0,
        "outer_product": False,
    }
    return LayerFacts(index=0, name=name, type=kind, top_shapes=tops, **{**settings, **given})


def test_a_net():
    lines = net_table(
        [
            fact("data", "Input", ((64, 1, 28, 28), (64,)), data_bytes=200_960),
            fact("data_split", "Split", ((1,),) * 3),
            fact(
                "ip",
                "InnerProduct",
                ((64, 10),),
                param_count=7850,
                flops=1_003_520,
                data_bytes=2560,
                diff_bytes=2560,
            ),
            fact("loss", "SoftmaxWithLoss", ((),), flops=1, data_bytes=4),
            fact("slices", "Slice", ((1, 2), (3, 4), (5, 6))),
        ]
    )
    assert lines == [
        "layer   type             output         params  FLOPs   memory",
        "data    Input            64x1x28x28 64                  201 kB",
        "ip      InnerProduct     64x10           7,850    1 M  2.56 kB",
        "loss    SoftmaxWithLoss  1                          1      4 B",
        "slices  Slice            1x2 3x4 ...",
        "7,850 parameters, 1 MFLOP forward, 235 kB to test, 300 kB to train",
    ]
