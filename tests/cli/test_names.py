"""Names are a stranger's: none steers the terminal, and none forges a line of a log."""

import re
from xml.etree import ElementTree

import pytest

from pycaffe_dist import caffe_log
from pycaffe_dist.errors import NetError, PcdError, visible, visible_lines
from pycaffe_dist.proto.caffe_pb2 import LayerParameter
from pycaffe_dist.pycaffe import draw

FORGED = "I1116 00:00:00.000000     1 solver.cpp:218] Iteration 99 (1 iter/s), loss = 0"
NAME = "ip\x1b]0;title\x07\x9b31m\u202e\n" + FORGED
IN_FILE = "".join(chr(b) if 32 <= b < 127 else f"\\{b:03o}" for b in NAME.encode())
NET = """
name: "net NAME"
layer { name: "x" type: "DummyData" top: "x" top: "t"
        dummy_data_param { shape { dim: 2 dim: 3 } shape { dim: 2 dim: 1 } } }
layer { name: "NAME" type: "InnerProduct" bottom: "x" top: "NAME"
        inner_product_param { num_output: 1 } }
layer { name: "loss" type: "EuclideanLoss" bottom: "NAME" bottom: "t" top: "loss NAME" }
""".replace("NAME", IN_FILE)
SOLVER = """
net: "net.prototxt" base_lr: 0.01 lr_policy: "fixed" max_iter: 2 display: 1 snapshot_prefix: "s"
test_iter: 1 test_interval: 1
"""
UNSEEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202e]")
VERBS = [
    ("check", "net.prototxt"),
    ("check", "solver.prototxt"),
    ("summary", "net.prototxt"),
    ("plan", "--solver", "solver.prototxt", "--ranks", "2"),
    ("time", "-model", "net.prototxt", "-iterations", "1"),
    ("train", "-solver", "solver.prototxt"),
    ("train", "-solver", "solver.prototxt", "-weights", "other.caffemodel"),
    ("test", "-model", "net.prototxt", "-weights", "s.caffemodel", "-iterations", "1", "--quiet"),
    ("check", "broken.prototxt"),
    ("check", "syntax.prototxt"),
    ("check", "python.prototxt"),
    ("summary", "unknown.prototxt"),
]


@pytest.fixture
def files(tmp_path, call):
    """A net with such names, one that cannot be built, weights of the net and of another."""
    (tmp_path / "net.prototxt").write_text(NET)
    (tmp_path / "solver.prototxt").write_text(SOLVER)
    (tmp_path / "broken.prototxt").write_text(
        NET.replace('bottom: "x"', f'bottom: "gone {IN_FILE}"')
    )
    (tmp_path / "unknown.prototxt").write_text(NET.replace("InnerProduct", f"Inner{IN_FILE}"))
    (tmp_path / "syntax.prototxt").write_text(NET + 'layer { name: "\x1b[31m" none: 1 }')
    python = 'type: "Python" python_param { module: "NAME" layer: "NAME" }'.replace("NAME", IN_FILE)
    (tmp_path / "python.prototxt").write_text(NET.replace('type: "InnerProduct"', python))
    made = ("train", "-solver", "solver.prototxt", "--max-iter", "1")
    assert call(*made).returncode == 0
    (tmp_path / "s_iter_1.caffemodel").rename(tmp_path / "s.caffemodel")
    for old in tmp_path.glob("s_iter*"):
        old.unlink()
    stored = (tmp_path / "s.caffemodel").read_bytes()
    (tmp_path / "other.caffemodel").write_bytes(stored.replace(b"ip\x1b", b"pi\x1b"))
    return tmp_path


@pytest.mark.parametrize("args", VERBS, ids=" ".join)
def test_what_is_printed_has_no_such_names(files, call, args):
    done = call(*args)
    for text in (done.stdout, done.stderr):
        assert not UNSEEN.search(text), UNSEEN.search(text)
        assert not [line for line in text.splitlines() if line.startswith(FORGED)]
    if args[-1] != "syntax.prototxt":
        assert r"\x1b]0;title\x07\x9b31m\u202e\n" in done.stdout + done.stderr


def test_a_log_with_such_names_is_read_as_it_was_meant(files, call):
    args = ("train", "-solver", "solver.prototxt", "--run-dir", "run")
    assert call(*args).returncode == 0
    assert call("parse_log", "run/train.log", ".").returncode == 0
    rows = (files / "train.log.train").read_text().splitlines()
    assert len(rows) == 3
    assert rows[0].endswith(f"loss {visible(NAME)}") or visible(NAME) in rows[0]
    assert "99" not in [row.split(",")[0] for row in rows]


def test_a_picture_with_such_names_is_one(files, call):
    assert call("draw", "net.prototxt", "net.svg", "--own").returncode == 0
    picture = ElementTree.parse(files / "net.svg")
    assert visible(NAME) in [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]


def test_a_log_without_outputs_is_not_passed_over(tmp_path, call):
    (tmp_path / "log").write_text(f"{FORGED}\n")
    done = call("parse_log", "log", "out")
    assert done.returncode == 0
    assert "log: no table was written: it tells of iterations, but has no line" in done.stderr
    assert list((tmp_path / "out").iterdir()) == []


def test_what_is_visible():
    assert visible("plain \t é 漢") == "plain \t é 漢"
    assert visible("a\nb\x1b\x85\u2028\ud800\\") == r"a\nb\x1b\x85\u2028\ud800" + "\\"
    assert visible_lines("a\nb\x1b") == "a\nb\\x1b"


def test_errors_have_a_line_for_each_argument():
    assert str(NetError("one\n", "two\x07")) == "one\\n\ntwo\\x07"
    assert str(PcdError()) == ""


def test_lines_of_the_log_come_from_us_alone(capsys, call):
    from pycaffe_dist.report.glog import log_to_stderr

    log_to_stderr()
    caffe_log.info(
        "net.cpp:1", "%s has %d, %g: %s\n%s", NAME, 2, 0.5, OSError(NAME), NetError("a", "b")
    )
    first, second, third = capsys.readouterr().err.splitlines()
    assert first.endswith(f"{visible(NAME)} has 2, 0.5: {visible(NAME)}")
    assert (second, third) == ("a", "b")


def test_a_name_stays_within_its_quotes():
    """In Graphviz's language, where what follows a quote would be more of the graph."""
    layer = LayerParameter(name='a"]; evil [label="\n\\', type="ReLU")
    assert draw.get_layer_label(layer, "LR") == r'"a\"]; evil [label=\"\\n\\\n(ReLU)"'
    assert draw._quoted(layer.name) == r'"a\"]; evil [label=\"\\n\\"'
    assert [draw._quoted(name) for name in ("conv1", "a:b")] == ["conv1", '"a:b"']
