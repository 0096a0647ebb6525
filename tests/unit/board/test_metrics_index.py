import json

import pytest

from pycaffe_dist import events
from pycaffe_dist.board import metrics_index
from pycaffe_dist.board.metrics_index import MetricsIndex
from pycaffe_dist.board.series import drawn
from pycaffe_dist.report.metrics import MetricsFile


def row(iteration, loss, kind="train", **facts):
    base = {"kind": kind, "iteration": iteration, "seconds": iteration / 10, "loss": loss}
    return base | {"lr": 0.1, "outputs": {}, "loss_weights": {}} | facts


def write(path, rows, mode="a"):
    with open(path, mode) as file:
        file.writelines(json.dumps(r) + "\n" for r in rows)


def read(path):
    index = MetricsIndex(str(path))
    while index.read_more():
        pass
    return index


def test_what_training_writes(tmp_path):
    path = tmp_path / "metrics.jsonl"
    with MetricsFile(path) as told:
        told(events.SolveBegins(0, "net", "fixed", 20))
        told(events.Displayed(0, 2.5, 0.0, 0.0, 10, [events.Output(0, "loss", 2.5, 1.0)]))
        told(events.RateChosen(0, 0.01))
        told(
            events.Tested(10, 0, [events.Output(0, "acc", 0.5), events.Output(1, "loss", 1.5, 1.0)])
        )
        told(events.Tested(10, 1, [events.Output(0, "acc", 0.25)]))
        told(events.Displayed(10, float("nan"), 0.0, 0.0, 10, []))
        told(events.SolveEnds(20, False))
    index = read(path)
    assert {n: drawn(s.view()) for n, s in index.series.items()} == {
        "train loss": ([0.0], [2.5]),
        "lr": ([0.0], [0.01]),
        "test acc": ([10.0], [0.5]),
        "test loss": ([10.0], [1.5]),
        "test1 acc": ([10.0], [0.25]),
    }
    assert [n for n, s in index.series.items() if s.is_loss] == ["train loss", "test loss"]
    assert index.series["train loss"].first_not_finite == 10
    assert index.facts["end"]["early"] is False and index.facts["begin"]["max_iter"] == 20
    assert index.iteration == 20 and not index.behind


def test_only_whole_lines_are_taken_and_only_what_is_new_is_read(tmp_path, monkeypatch):
    path = tmp_path / "m"
    write(path, [row(i, i) for i in range(3)])
    index = read(path)
    with open(path, "a") as file:
        file.write('{"kind": "train", "iter')
    assert not index.read_more()
    with open(path, "a") as file:
        file.write('ation": 3, "seconds": 1, "loss": 7, "outputs": {}}\nrubbish\n[1]\n')
    seen = []
    parsed = metrics_index.parsed
    monkeypatch.setattr(metrics_index, "parsed", lambda d: seen.append(d) or parsed(d))
    assert index.read_more() and not index.read_more()
    assert len(seen) == 1 and seen[0].startswith(b'{"kind": "train", "iteration": 3')
    assert index.series["train loss"].last == (3, 7)


def test_a_resumed_run_and_a_file_that_begins_anew(tmp_path):
    path = tmp_path / "m"
    write(path, [row(0, 1, "begin"), *(row(i, i) for i in range(10)), row(10, 0, "end")])
    write(path, [row(5, 1, "begin"), row(6, 66), row(7, 77)])
    index = read(path)
    assert drawn(index.series["train loss"].view())[1] == [0, 1, 2, 3, 4, 5, 66, 77]
    assert "end" not in index.facts
    write(path, [row(0, 5)], "w")
    assert index.read_more()
    assert drawn(index.series["train loss"].view()) == ([0.0], [5.0])


@pytest.mark.parametrize(
    "line",
    [
        '{"kind": "train"}',
        '{"kind": "train", "iteration": "x", "seconds": 0, "outputs": {}}',
        '{"kind": "train", "iteration": 1, "seconds": 0, "loss": [], "outputs": {}}',
        '{"kind": "train", "iteration": 1, "seconds": 0, "outputs": []}',
        '{"kind": ["train"], "iteration": 1e400, "seconds": 0}',
        "[" * 100_000,
        "\x00\xff",
    ],
)
def test_lines_of_something_else_are_passed_over(tmp_path, line):
    path = tmp_path / "m"
    path.write_bytes(line.encode("latin-1") + b"\n")
    write(path, [row(4, 2)])
    assert read(path).series["train loss"].last == (4, 2)


def test_a_long_file_is_sampled_first_and_then_read(tmp_path, monkeypatch):
    path = tmp_path / "m"
    count = 20_000
    write(path, [row(i, 1.0 if i != 7777 else 99.0) for i in range(count)])
    index = MetricsIndex(str(path))
    index.sample()
    preview = index.series["train loss"]
    assert index.previewed and index.behind
    assert 500 < preview.count < count and preview.last[0] == count - 1
    while index.read_more():
        pass
    whole = index.series["train loss"]
    assert not index.previewed and whole.count == count
    assert drawn(whole.view(points=100))[1].count(99.0) == 1


def test_a_zoom_reads_the_lines_themselves(tmp_path):
    path = tmp_path / "m"
    write(path, [row(i, float(i % 7)) for i in range(30_000)])
    index = read(path)
    assert index.series["train loss"].size > 1
    closer = index.closer("train loss", 12_000, 12_050)
    assert drawn(closer.view()) == (
        [float(i) for i in range(12_000, 12_051)],
        [float(i % 7) for i in range(12_000, 12_051)],
    )


def test_names_from_a_file_are_not_without_end(tmp_path):
    path = tmp_path / "m"
    write(path, [row(1, 1.0, outputs={f"o{i}": 1.0 for i in range(5000)})])
    assert len(read(path).series) == metrics_index.MOST_SERIES
