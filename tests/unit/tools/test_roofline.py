"""The work of layers in closed form, and rows for what is computed together."""

import json
from types import SimpleNamespace

import pytest

from pycaffe_dist.engines.onednn.core.peaks import Peaks
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN, NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.tools import roofline
from pycaffe_dist.tools.plot import PlotError
from pycaffe_dist.tools.roofline import Row, Work, backward_work, forward_work

pytest.importorskip("llvmlite", reason="the peaks are measured by kernels of LLVM")

NET = """
force_backward: true
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 4 dim: 6 dim: 6 } } }
layer { name: "one" type: "Convolution" bottom: "x" top: "one"
        convolution_param { num_output: 8 kernel_size: 3 pad: 1 weight_filler { type: "xavier" } } }
layer { name: "relu" type: "ReLU" bottom: "one" top: "one" }
layer { name: "two" type: "Convolution" bottom: "x" top: "two"
        convolution_param { num_output: 8 kernel_size: 1 bias_term: false } }
layer { name: "sum" type: "Eltwise" bottom: "one" bottom: "two" top: "sum" }
layer { name: "norm" type: "BatchNorm" bottom: "sum" top: "norm" }
layer { name: "pool" type: "Pooling" bottom: "norm" top: "pool"
        pooling_param { kernel_size: 2 stride: 2 } }
"""
X, Y, P = 2 * 4 * 36 * 4, 2 * 8 * 36 * 4, 2 * 8 * 9 * 4  # bytes
WEIGHTS = (8 * 4 * 9 + 8) * 4


def net(phase=TRAIN, **settings):
    param = parse_text(NET, NetParameter()).message
    param.state.phase = phase
    return Net(param, Context(**settings))


def layer(made, name):
    return made.layer_names.index(name)


def test_work_of_layers():
    made = net()
    one = layer(made, "one")
    multiplications = 2 * 2 * 8 * 36 * 4 * 9
    assert forward_work(made, one) == Work(multiplications, *[X + WEIGHTS + Y] * 2)
    # Both gradients; bottom, its gradient and the top's; weights read, their gradient written.
    moved = 2 * X + Y + 2 * WEIGHTS
    assert backward_work(made, one) == Work(2 * multiplications, moved, moved)
    relu = layer(made, "relu")
    assert forward_work(made, relu) == Work(Y // 4, 2 * Y, 0)
    assert backward_work(made, relu).fused_bytes == 0
    assert forward_work(made, layer(made, "sum")).fused_bytes == Y  # the second operand
    assert forward_work(made, layer(made, "sum")).bytes == 3 * Y
    # The top's gradient, both bottoms and their gradients; fused, they are in registers.
    assert backward_work(made, layer(made, "sum")) == Work(2 * 8 * 36, 5 * Y, 0)
    assert forward_work(made, layer(made, "pool")).fused_bytes == Y + P


def test_split_shares_memory_forward_and_adds_backward():
    made = net()
    split = next(i for i, x in enumerate(made.layers) if x.type == "Split")
    assert forward_work(made, split).bytes == 0
    assert backward_work(made, split).bytes == 3 * X
    assert backward_work(made, split).fused_bytes == X


def test_only_a_stored_normalisation_is_fused():
    train, test = net(), net(TEST)
    norm = layer(train, "norm")
    assert forward_work(train, norm).fused_bytes == forward_work(train, norm).bytes
    assert forward_work(test, norm).fused_bytes < Y


def test_rows_of_a_net_are_sorted_and_what_is_computed_together_is_one(monkeypatch):
    from pycaffe_dist.engines import create
    from pycaffe_dist.engines.onednn.core import peaks

    monkeypatch.setattr(peaks, "peaks", lambda: peaks.Peaks(2, 1e11, 1e10))
    found = roofline.roofline(net(TEST, engine=create("onednn")), 2)
    gaps = [row.gap_ms for row in found.rows]
    assert gaps == sorted(gaps, reverse=True)
    assert "one + relu" in {row.layers for row in found.rows if row.direction == "forward"}
    assert all(0 < row.ms < 1e5 for row in found.rows)
    read = json.loads(json.dumps(found.as_json()))
    assert read["peaks"]["flops"] == 1e11
    assert {"gap_ms", "least_ms", "work"} <= set(read["rows"][0])
    lines = roofline.as_table(found)
    assert lines[0].startswith("2 threads: 100 GFLOP/s")
    assert len(lines) == 2 + len(found.rows) + 2  # both heads, and the sums


def test_what_comes_from_a_cache_has_no_gap():
    assert Row("a", "ReLU", "forward", 1.0, Work(0, 9, 9), 3.0, "").gap_ms == 0


def test_no_pass_is_refused():
    with pytest.raises(NetError, match="-iterations must be 1 or more, not 0"):
        roofline.roofline(net(), 0)


# -- what is shown ---------------------------------------------------------------------------------

ROWS = [
    Row("conv", "Convolution", "forward", 4.0, Work(8e9, 4e6, 2e6), 1.0, "jit"),
    Row("a" * 41, "b" * 40, "forward", 0.0, Work(1, 1e6, 1e6), 0.5, ""),
    Row("ip", "InnerProduct", "backward", 2.0, Work(2e9, 8e6, 8e6), 3.0, "gemm"),
]
FOUND = roofline.Roofline(Peaks(2, 1e13, 1e11), ROWS)


def test_the_table_has_rates_and_sums():
    about, head, *lines = roofline.as_table(FOUND)
    assert about.startswith("2 threads: 10 TFLOP/s of multiply-adds between registers, 100 GB/s")
    assert head.split()[:3] == ["layers", "type", "direction"]
    cells = [line.split() for line in lines if not set(line) <= set("- ")]
    assert cells[0] == [
        *("conv", "Convolution", "forward", "4.000", "2000.0", "20", "%", "1.0", "4.00", "2.00"),
        *("1.000", "3.000", "jit"),
    ]
    assert cells[1][:5] == ["a" * 37 + "...", "b" * 40, "forward", "0.000", "0.0"]
    assert cells[2][-3:] == ["3.000", "0.000", "gemm"]
    # Sums are of one direction.
    assert cells[3] == [
        *("sum", "forward", "4.000", "2000.0", "20", "%", "1.2", "5.00", "3.00", "1.500", "2.500")
    ]
    assert cells[4] == [
        *("sum", "backward", "2.000", "1000.0", "10", "%", "4.0", "8.00", "8.00", "3.000", "0.000")
    ]


class Axes:
    """Notes what is drawn."""

    def __init__(self):
        self.drawn = []

    def __getattr__(self, name):
        return lambda *words, **how: self.drawn.append((name, words, how))

    def of(self, kind):
        return [(words, how) for name, words, how in self.drawn if name == kind]


def test_points_stand_under_the_roof():
    axes = Axes()
    roofline._draw_roof(axes, FOUND)
    points = [(*words, how["s"], how["c"]) for words, how in axes.of("scatter")]
    assert points == [
        (4000, 2000, 420, roofline.COLOURS["forward"]),  # the widest gap
        (250, 1000, 20, roofline.COLOURS["backward"]),
    ]
    assert [words[:2] for words, _ in axes.of("annotate")] == [
        *(("conv", (4000, 2000)), ("ip", (250, 1000)))
    ]
    ((xs, ys), _) = axes.of("plot")[0]
    assert xs == [1, 100, 10_000] and ys == [100, 10_000, 10_000]
    assert {"xscale", "ylabel"} <= {name for _, how in axes.of("set") for name in how}


def test_gaps_stand_behind_the_least_times():
    axes = Axes()
    roofline._draw_gaps(axes, ROWS)
    (_, least), least_how = axes.of("barh")[0]
    (_, gaps), how = axes.of("barh")[1]
    assert least == [1, 0.5, 3] == how["left"] and gaps == [3, 0, 0]
    assert how["color"] == [roofline.COLOURS[row.direction] for row in ROWS]
    assert least_how["label"] == "least" and len(axes.of("invert_yaxis")) == 1
    assert axes.of("set_yticks")[0][0][1][0] == "conv, forward"
    assert axes.of("set")[0][1]["xlabel"] == "ms"


@pytest.mark.parametrize(
    ("name", "begins"), [("a.svg", b"<?xml"), ("a.PDF", b"%PDF"), ("a", b"\x89PNG")]
)
def test_the_ending_of_a_picture_is_its_kind(tmp_path, monkeypatch, name, begins):
    for part in ("_draw_roof", "_draw_gaps"):
        monkeypatch.setattr(roofline, part, lambda *_: None)
    roofline.draw(FOUND, str(tmp_path / name), "title")
    assert (tmp_path / name).read_bytes().startswith(begins)
    with pytest.raises(PlotError, match=r"cannot draw a \.xyz"):
        roofline.draw(FOUND, str(tmp_path / "a.xyz"), "title")


def test_a_row_adds_up_what_is_computed_together():
    made = net()
    turns = [0.001 * i for i in range(len(made.layers))]
    row = roofline._row(made, Peaks(1, 1e9, 1e9), [1, 2], "forward", turns)
    assert row.ms == pytest.approx(1e3 * (turns[1] + turns[2])) and row.direction == "forward"
    both = forward_work(made, 1) + forward_work(made, 2)
    assert row.work == both and row.layers == " + ".join(made.layer_names[1:3])
    least = max(both.flops, both.fused_bytes) / 1e9
    assert row.least_ms == pytest.approx(1e3 * least)
    back = roofline._row(made, Peaks(1, 1e9, 1e9), [2], "backward", turns)
    assert back.work == backward_work(made, 2) != forward_work(made, 2)


def test_a_net_on_a_gpu_is_refused():
    made = SimpleNamespace(context=SimpleNamespace(engine=SimpleNamespace(device=0)))
    with pytest.raises(NetError, match="--roofline measures the CPU"):
        roofline.roofline(made, 1)
