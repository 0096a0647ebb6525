import json
from itertools import accumulate, pairwise
from pathlib import Path

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
    count = 8000
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
    write(path, [row(i, float(i % 7)) for i in range(9000)])
    index = read(path)
    assert index.series["train loss"].size > 1
    closer = index.closer("train loss", 6000, 6050)
    assert drawn(closer.view()) == (
        [float(i) for i in range(6000, 6051)],
        [float(i % 7) for i in range(6000, 6051)],
    )


def test_names_from_a_file_are_not_without_end(tmp_path):
    path = tmp_path / "m"
    write(path, [row(1, 1.0, outputs={f"o{i}": 1.0 for i in range(5000)})])
    assert len(read(path).series) == metrics_index.MOST_SERIES


# -- the way to the lines of a zoom ----------------------------------------------------------------


@pytest.fixture
def marked(tmp_path, monkeypatch):
    """An index of 300 lines in about 30 chunks, each with a mark."""
    monkeypatch.setattr(metrics_index, "CHUNK", 1500)
    monkeypatch.setattr("pycaffe_dist.board.series.MOST", 64)
    path = tmp_path / "m"
    write(path, [row(i, float(i)) for i in range(300)])
    return read(path)


def test_marks_are_where_chunks_begin(marked):
    lines = Path(marked.path).read_bytes().splitlines(keepends=True)
    ends = accumulate(map(len, lines))
    starts = {0: 0.0} | {end: float(i) for i, end in enumerate(ends)}  # the iteration before
    assert len(marked.marks) > 20 and marked.marks[0] == (0.0, 0)
    assert all(starts[at] == iteration for iteration, at in marked.marks)


@pytest.mark.parametrize(("begin", "end"), [(0, 9), (100, 120), (290, 299), (150, 150)])
def test_a_zoom_reads_no_more_than_the_chunks_around(marked, monkeypatch, begin, end):
    seen = []
    parsed = metrics_index.parsed
    monkeypatch.setattr(metrics_index, "parsed", lambda d: seen.append(len(d)) or parsed(d))
    wanted = list(map(float, range(begin, end + 1)))
    assert drawn(marked.closer("train loss", begin, end).view())[0] == wanted
    per_line = marked.done / 300
    assert sum(seen) <= (end - begin + 1) * per_line + 2 * 1500


def test_a_zoom_to_more_than_may_be_read_is_left_to_the_buckets(marked, monkeypatch):
    size = Path(marked.path).stat().st_size
    monkeypatch.setattr(metrics_index, "FINEST", size)
    assert marked.closer("train loss", 0, 299) is not None
    monkeypatch.setattr(metrics_index, "FINEST", size - 1)
    assert marked.closer("train loss", 0, 299) is None
    assert marked.closer("none", 0, 9) is None
    marked.previewed = True
    assert marked.closer("train loss", 100, 120) is None


def test_a_series_that_is_whole_needs_no_zoom(tmp_path):
    write(tmp_path / "m", [row(i, 1.0) for i in range(9)])
    assert read(tmp_path / "m").closer("train loss", 0, 5) is None


def test_tests_and_starts_are_told_apart_in_a_zoom(marked):
    write(marked.path, [row(300, 0, "begin"), row(300, None, "test", outputs={"a": 5}, net=1)])
    write(marked.path, [row(301.5, 9.0)])
    while marked.read_more():
        pass
    marked.series["test1 a"].size = 2
    assert drawn(marked.closer("test1 a", 290, 310).view()) == ([300.0], [5.0])


def test_fewer_marks_are_kept_of_a_long_file(marked, monkeypatch):
    monkeypatch.setattr(metrics_index, "MARKS", 8)
    again = read(marked.path)
    assert 4 <= len(again.marks) <= 8 and again.marks[0] == (0.0, 0)
    assert again._every == 4
    assert drawn(again.closer("train loss", 100, 120).view())[0] == [*map(float, range(100, 121))]


def test_a_line_longer_than_a_chunk_is_read_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(metrics_index, "CHUNK", 64)
    path = tmp_path / "m"
    write(path, [row(1, 2.0, outputs={f"o{i}": 1.0 for i in range(100)}), row(2, 3.0)])
    index = read(path)
    assert index.series["train loss"].last == (2, 3) and index.series["train o99"].last == (1, 1)
    assert index.done == path.stat().st_size
    monkeypatch.setattr(metrics_index, "FINEST", 200)
    assert read(path).done == 0  # one without an end is not


def test_a_sample_has_the_first_and_the_last_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(metrics_index, "BLOCK", 1000)
    monkeypatch.setattr(metrics_index, "BLOCKS", 10)
    path = tmp_path / "m"
    write(path, [row(i, float(i)) for i in range(300)])
    index = MetricsIndex(str(path))
    index.sample(4)
    xs = drawn(index.series["train loss"].view())[0]
    assert (xs[0], xs[-1], index.iteration, index.done) == (0, 299, 299, 0)
    gaps = [b - a for a, b in pairwise(xs) if b > a + 1]
    assert len(gaps) == 4 and max(gaps) - min(gaps) < 5  # five blocks, equally far apart
    before = index.series["train loss"].count
    index.sample(4)
    assert index.series["train loss"].count == before  # once is enough
    short = MetricsIndex(str(path))
    monkeypatch.setattr(metrics_index, "BLOCKS", -(-path.stat().st_size // 1000))
    short.sample(4)
    assert not short.previewed and not short.series


def test_a_file_that_is_gone_has_nothing(tmp_path):
    write(tmp_path / "m", [row(1, 1.0)])
    index = read(tmp_path / "m")
    (tmp_path / "m").unlink()
    assert index.measure() == 0 and not index.read_more() and index.series == {}
    index.size, index.done = 5, 7
    assert index.behind == 0


def test_which_curves_are_losses_and_how_they_are_called(tmp_path):
    rows = [
        row(1, 4.0, outputs={"loss": 3.0, "mine": 2.0, "acc": 1.0}, loss_weights={"mine": 1}),
        row(1, 6.0, "test", net=2, outputs={"loss": 5.0, "my total": 7.0}),
        row(1, None, lr=None),
    ]
    write(tmp_path / "m", rows)
    index = read(tmp_path / "m")
    assert {n: (s.last[1], s.is_loss) for n, s in index.series.items()} == {
        "train loss": (4, True),  # the smoothed one
        "lr": (0.1, False),
        "train mine": (2, True),
        "train acc": (1, False),
        "test2 total loss": (6, True),
        "test2 loss": (5, True),
        "test2 my total": (7, True),
    }
    assert (index.iteration, index.seconds, index.began) == (1, 0.1, 0)
