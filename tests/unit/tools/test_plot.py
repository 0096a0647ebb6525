import json
import sys

import pytest
from PIL import Image

from pycaffe_dist import events as e
from pycaffe_dist.errors import FileError, MissingPartError
from pycaffe_dist.report.metrics import MetricsFile
from pycaffe_dist.tools.parse_log import Row, Run
from pycaffe_dist.tools.plot import (
    Curve,
    PlotError,
    charted,
    lasting,
    log_of,
    moving_mean,
    read_run,
    run_of_metrics,
    select,
    short_names,
)
from pycaffe_dist.tools.plot_figure import draw
from pycaffe_dist.tools.terminal_chart import chart

LOG = """\
I1116 00:00:00.000000 1 solver.cpp:289] Solving LeNet
I1116 00:00:01.000000 1 solver.cpp:347] Iteration 0, Testing net (#0)
I1116 00:00:02.000000 1 solver.cpp:414]     Test net output #0: accuracy = 0.1
I1116 00:00:02.000000 1 solver.cpp:414]     Test net output #1: xent = 2.5 (* 1 = 2.5 loss)
I1116 00:00:03.000000 1 solver.cpp:239] Iteration 0 (0 iter/s, 1s/100 iters), loss = 3
I1116 00:00:03.000000 1 solver.cpp:258]     Train net output #0: xent = 3 (* 1 = 3 loss)
I1116 00:00:03.000000 1 sgd_solver.cpp:112] Iteration 0, lr = 0.1
I1116 00:00:09.000000 1 solver.cpp:239] Iteration 100 (9 iter/s, 1s/100 iters), loss = 1
I1116 00:00:09.000000 1 solver.cpp:258]     Train net output #0: xent = 1 (* 1 = 1 loss)
I1116 00:00:09.000000 1 sgd_solver.cpp:112] Iteration 100, lr = 0.01
I1116 00:00:12.000000 1 solver.cpp:347] Iteration 200, Testing net (#0)
I1116 00:00:13.000000 1 solver.cpp:414]     Test net output #0: accuracy = 0.9
I1116 00:00:13.000000 1 solver.cpp:414]     Test net output #1: xent = nan (* 1 = nan loss)
"""


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "lenet.log"
    path.write_text(LOG)
    return str(path)


def points(curves):
    return {c.label: (c.x, c.y) for c in curves}


# -- what is drawn ---------------------------------------------------------------------------------


def test_loss_and_accuracy(log):
    assert points(select(read_run(log), ["loss", "accuracy"])) == {
        "train loss": ([0, 100], [3, 1]),
        "test accuracy": ([0, 200], [0.1, 0.9]),
        "test xent": ([0], [2.5]),  # nan is no point
    }
    assert points(select(read_run(log), ["accuracy"], "seconds")) == {
        "test accuracy": ([2, 13], [0.1, 0.9])
    }


def test_the_rate_and_outputs_by_name(log):
    assert points(select(read_run(log), ["lr"])) == {"learning rate": ([0, 100], [0.1, 0.01])}
    assert list(points(select(read_run(log), ["xent"]))) == ["train xent", "test xent"]


def test_an_output_called_loss_does_not_stand_twice():
    row = Row(0, 0.0, 0.1, 3.0, {"loss": 3.0}, {"loss"})
    assert list(points(select(Run([row], [row]), ["loss"]))) == [
        "train loss",
        "test loss",
        "test total loss",
    ]


def test_axes(log):
    sides = {c.label: c.right for c in charted([log])["lenet"]}
    assert sides == {"train loss": False, "test xent": False, "test accuracy": True}
    sides = {c.label: c.right for c in charted([log], ["accuracy", "lr"])["lenet"]}
    assert sides == {"learning rate": False, "test accuracy": True}
    assert not charted([log], ["accuracy"])["lenet"][0].right


def test_several_test_nets():
    rows = [Row(0, 0.0, outputs={"accuracy": 0.1 + net}, net=net) for net in range(2)]
    curves = select(Run([], rows), ["accuracy"])
    assert points(curves) == {"test accuracy": ([0], [0.1]), "test1 accuracy": ([0], [1.1])}


def test_what_a_resume_replaces_is_not_drawn():
    rows = [Row(i, 0.0) for i in (0, 20, 40, 60, 20, 40)]
    assert [row.iteration for row in lasting(rows)] == [0, 20, 40]
    assert lasting(rows)[1] is rows[4]
    assert lasting([]) == []


def test_a_word_for_nothing(log):
    with pytest.raises(PlotError, match=r"no 'akkuracy' to draw, but accuracy.*did you mean"):
        charted([log], ["akkuracy"])


def test_nothing_to_draw(tmp_path):
    path = tmp_path / "diverged.log"
    path.write_text("I1116 00:00:03.0 1 a.cpp:1] Iteration 0, loss = nan\n")
    with pytest.raises(PlotError, match="no finite number of loss or accuracy"):
        charted([str(path)])


def test_names_of_runs(tmp_path):
    (tmp_path / "run.1").mkdir()
    assert short_names(["x/a.log", "y/b.jsonl"]) == ["a", "b"]
    assert short_names(["x/metrics.jsonl", "y/metrics.jsonl"]) == ["x/metrics", "y/metrics"]
    assert short_names([str(tmp_path / "run.1"), "b.log"]) == ["run.1", "b"]
    assert short_names(["a.log", "a.log"]) == ["a.log (1)", "a.log (2)"]


def test_the_log_of_a_folder(tmp_path):
    assert log_of("some.log") == "some.log"
    with pytest.raises(FileError, match=r"is a folder without train\.log"):
        log_of(str(tmp_path))
    for name in ("metrics.jsonl", "caffe.INFO.log", "train.log"):  # the last is the first choice
        (tmp_path / name).write_text(LOG)
        assert log_of(str(tmp_path)) == str(tmp_path / name)
    (tmp_path / "train.log").rename(tmp_path / "other.log")
    with pytest.raises(FileError, match=r"several logs, name one: .*caffe\.INFO\.log, .*other"):
        log_of(str(tmp_path))


# -- metrics files ---------------------------------------------------------------------------------


def test_a_metrics_file_is_read_like_a_log(tmp_path):
    path = tmp_path / "m.jsonl"
    metrics = MetricsFile(path)
    metrics(e.SolveBegins(0, "LeNet", "inv", 200))
    metrics(e.Tested(0, 0, [e.Output(0, "accuracy", 0.1), e.Output(1, "xent", float("nan"), 1.0)]))
    metrics(e.Displayed(0, 3.0, 0.0, 1.0, 100, [e.Output(0, "xent", 3.0, 1.0)]))
    metrics(e.RateChosen(0, 0.1))
    metrics(e.LastLoss(200, 1.0))
    run = read_run(path)
    assert points(select(run, ["loss", "accuracy", "lr"])) == {
        "train loss": ([0, 200], [3, 1]),
        "learning rate": ([0], [0.1]),
        "test accuracy": ([0], [0.1]),
    }
    assert run.train[0].losses == {"xent"}


def test_the_seconds_of_a_resumed_metrics_file():
    train = {"kind": "train", "seconds": 5.0, "loss": 1, "outputs": {}, "loss_weights": {}}
    run = run_of_metrics(
        [
            {"kind": "begin", "iteration": 0, "time": 1000.0},
            train | {"iteration": 1},
            {"kind": "begin", "iteration": 1, "time": 1100.0},
            train | {"iteration": 2},
        ]
    )
    assert [row.seconds for row in run.train] == [5.0, 105.0]


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        ([{"kind": "end", "iteration": 1}], "tells of no training"),
        ([{"kind": "train"}], "is no metrics file"),
        ([{"other": 1}], "tells of no training"),
    ],
)
def test_other_json(tmp_path, objects, message):
    path = tmp_path / "o.jsonl"
    path.write_text("\n".join(map(json.dumps, objects)))
    with pytest.raises(FileError, match=message):
        read_run(path)


# -- a picture -------------------------------------------------------------------------------------


def colours(path):
    image = Image.open(path).convert("RGB")
    return {colour for _, colour in image.getcolors(image.width * image.height)}


BLUE, ORANGE, GREEN = (0x00, 0x72, 0xB2), (0xD5, 0x5E, 0x00), (0x00, 0x9E, 0x73)


def test_a_run_has_a_colour_for_each_curve(tmp_path, log):
    path = tmp_path / "out.png"
    draw(charted([log]), str(path))
    assert {BLUE, ORANGE, GREEN} <= colours(path)


def test_runs_have_a_colour_each(tmp_path, log):
    other = tmp_path / "other.log"
    other.write_text(LOG)
    path = tmp_path / "out.png"
    draw(charted([log, str(other)], ["accuracy"]), str(path))
    assert ORANGE in colours(path)  # drawn over the other one
    assert GREEN not in colours(path)


def noisy_log(path, points):
    """A loss of 1, 3, 1, 3, ... and one that is 0; the accuracy reaches 1."""
    lines = ["I1116 00:00:00.0 1 solver.cpp:289] Solving LeNet"]
    for i in range(points):
        lines.append(f"I1116 00:00:01.0 1 a.cpp:1] Iteration {i}, loss = {1 + 2 * (i % 2)}")
    lines += [
        f"I1116 00:00:02.0 1 a.cpp:1] Iteration {points}, loss = 0",
        f"I1116 00:00:02.0 1 solver.cpp:347] Iteration {points}, Testing net (#0)",
        "I1116 00:00:02.0 1 solver.cpp:414]     Test net output #0: accuracy = 1",
    ]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize(
    ("points", "smooth", "second"),
    [(98, None, 5 / 3), (99, None, 2), (20, None, 3), (99, 1, 3), (20, 5, 2.0), (20, 3, 5 / 3)],
)
def test_noise_is_smoothed(tmp_path, points, smooth, second):
    loss, accuracy = charted([noisy_log(tmp_path / "a.log", points)], smooth=smooth)["a"]
    assert loss.y[1] == pytest.approx(second)
    assert (loss.noisy is None) == (second == 3)
    assert loss.noisy is None or loss.noisy[1] == 3
    assert accuracy.y == [1] and accuracy.noisy is None


def figure_of(monkeypatch):
    """The figures that are drawn from here on."""
    from matplotlib import figure

    made = []
    real = figure.Figure
    monkeypatch.setattr(figure, "Figure", lambda **k: made.append(real(**k)) or made[-1])
    return made


def test_a_mean_has_its_values_pale_behind_it(tmp_path, monkeypatch):
    figures = figure_of(monkeypatch)
    log = noisy_log(tmp_path / "a.log", 9)
    for smooth in (3, 1):
        draw(charted([log], ["loss"], smooth=smooth), str(tmp_path / "out.png"))
    smoothed, plain = (
        [line for line in figure.axes[0].lines if len(line.get_ydata())] for figure in figures
    )
    assert [line.get_alpha() for line in smoothed] == [0.25, None]
    assert list(smoothed[0].get_ydata()) == list(plain[0].get_ydata())
    assert len(plain) == 1


def test_an_accuracy_of_1_is_drawn_whole(tmp_path, monkeypatch):
    figures = figure_of(monkeypatch)
    draw(charted([noisy_log(tmp_path / "a.log", 9)]), str(tmp_path / "out.png"))
    right = figures[0].axes[1]
    assert right.get_ylim()[1] == 1  # and not cut there
    assert not any(line.get_clip_on() for line in right.lines)


def test_a_logarithmic_axis(tmp_path, monkeypatch):
    figures = figure_of(monkeypatch)
    runs = charted([noisy_log(tmp_path / "a.log", 9)], log_y=True)
    assert runs["a"][0].y == [1, 3, 1, 3, 1, 3, 1, 3, 1]  # 0 has no logarithm
    draw(runs, str(tmp_path / "out.png"), log_y=True)
    assert [axes.get_yscale() for axes in figures[0].axes] == ["log", "linear"]
    (tmp_path / "zero.log").write_text("I1116 00:00:03.0 1 a.cpp:1] Iteration 0, loss = 0\n")
    with pytest.raises(PlotError, match="needs numbers above 0"):
        charted([str(tmp_path / "zero.log")], log_y=True)


def test_moving_mean():
    assert moving_mean([1, 2, 6, 4], 1) == [1.5, 3, 4, 5]
    assert moving_mean([1, 2], 0) == [1, 2]


def test_other_formats(tmp_path, log):
    draw(charted([log]), str(tmp_path / "out.svg"))
    assert b"<svg" in (tmp_path / "out.svg").read_bytes()
    with pytest.raises(PlotError, match=r"cannot draw a \.doc; use one of"):
        draw(charted([log]), str(tmp_path / "out.doc"))
    with pytest.raises(FileError, match="cannot be written"):
        draw(charted([log]), str(tmp_path / "none" / "out.png"))


def test_without_matplotlib(tmp_path, log, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingPartError, match=r"Drawing a chart needs .*\n.*pip install 'matplot"):
        draw(charted([log]), str(tmp_path / "out.png"))


# -- characters ------------------------------------------------------------------------------------


def test_a_chart_in_characters():
    runs = {
        "run": [
            Curve("train loss", "", "loss", "loss", [0, 100], [8, 0]),
            Curve("test accuracy", "accuracy", "accuracy", "accuracy", [0, 50], [0, 1], True),
        ]
    }
    assert chart(runs, 44, 12) == [
        ". train loss   o test accuracy (right)",
        "8 |...              oo                 | 1",
        "  |   ....        oo                   |",
        "  |       ....  oo                     |",
        "  |          ooo...                    |",
        "4 |        oo      ....                | 0.5",
        "  |      oo            .....           |",
        "  |    oo                   ....       |",
        "  |  oo                         ....   |",
        "0 |oo                               ...| 0",
        "  +------------------------------------+",
        "   0                     100 iterations",
    ]


def test_a_logarithmic_chart_in_characters():
    runs = {"run": [Curve("train loss", "", "loss", "loss", [0, 100], [100, 0.01])]}
    body = [line.split("|") for line in chart(runs, 40, 12, log_y=True) if "|" in line]
    assert [label.strip() for label, _, _ in body if label.strip()] == ["100", "1", "0.01"]
    assert body[len(body) // 2][1].strip(" ") == "...."  # a straight line through the middle


def test_a_chart_fills_the_usual_terminal(log):
    lines = chart(charted([log]))
    assert (len(lines), max(map(len, lines))) == (24, 80)


@pytest.mark.parametrize("width", [20, 37, 80, 200])
@pytest.mark.parametrize("height", [3, 10, 24, 60])
def test_the_size_of_a_chart(log, width, height):
    lines = chart(charted([log]), width, height)
    assert all(len(line) <= max(width, 36) for line in lines)
    assert len(lines) <= max(height, 10)


def test_steep_stretches_are_joined():
    lines = chart({"r": [Curve("a", "a", "", "a", [0, 1], [0, 1])]}, 20, 40)
    body = [line.split("|")[1] for line in lines if "|" in line]
    assert all("." in line for line in body)


def test_a_single_point_and_a_flat_line():
    lines = chart({"r": [Curve("a", "a", "", "a", [5], [1e20])]}, 30, 10)
    assert sum(line.split("|")[1].count(".") for line in lines if "|" in line) == 1
    lines = chart({"r": [Curve("a", "a", "", "a", [0, 9], [0, 0])]}, 30, 10)
    assert sum("....." in line for line in lines) == 1


def test_several_runs_in_characters(tmp_path, log):
    other = tmp_path / "other.log"
    other.write_text(LOG)
    text = "\n".join(chart(charted([log, str(other)], ["accuracy"]), 80, 20))
    assert ". lenet: test accuracy   o other: test accuracy" in text
