"""Traces as the page shows them."""

import json

import pytest
from made_runs import line, write_trace

from pycaffe_dist.board import timeline as timeline_module
from pycaffe_dist.board.places import Places
from pycaffe_dist.board.runs import Runs
from pycaffe_dist.board.timeline import layer_times, read_trace, timeline, traces
from pycaffe_dist.errors import FileError


def span(name, begin, ms, rank=0, kind="compute", row=0, **facts):
    event = {"ph": "X", "pid": rank, "tid": row, "cat": kind, "name": name}
    return event | {"ts": begin * 1000, "dur": ms * 1000} | ({"args": facts} if facts else {})


@pytest.fixture
def trace(tmp_path):
    def write(*events):
        path = tmp_path / "trace.json"
        path.write_text(json.dumps({"traceEvents": events}))
        return path

    return write


def test_spans_are_read_in_milliseconds(trace):
    path = trace(
        {"ph": "M", "name": "process_name"},
        span("conv", 2, 3, rank=1, kind="exchange", row=4, scheme="sfb", sent=70),
        {"ph": "X", "pid": 0, "tid": 0, "name": "bare", "ts": 0, "dur": 500},
    )
    common = {"scheme": "", "bytes": 0}
    assert read_trace(path) == [
        {
            "rank": 1,
            "row": 4,
            "kind": "exchange",
            "name": "conv",
            "begin": 2,
            "ms": 3,
            "scheme": "sfb",
            "bytes": 70,
        },
        {"rank": 0, "row": 0, "kind": "", "name": "bare", "begin": 0, "ms": 0.5} | common,
    ]


def test_what_is_no_trace_is_refused(trace, tmp_path, monkeypatch):
    with pytest.raises(FileError, match=r"trace.json: has no spans"):
        timeline(trace())
    (tmp_path / "x.json").write_text('{"traceEvents": [{"ph": "X"}]}')
    with pytest.raises(FileError, match=r"x.json: is no trace"):
        read_trace(tmp_path / "x.json")
    path = trace(span("a", 0, 1))
    monkeypatch.setattr(timeline_module, "LARGEST", path.stat().st_size)
    assert len(read_trace(path)) == 1
    monkeypatch.setattr(timeline_module, "LARGEST", path.stat().st_size - 1)
    with pytest.raises(FileError, match="trace fewer iterations"):
        read_trace(path)


def test_which_spans_lie_in_a_stretch(trace, monkeypatch):
    path = trace(span("a", 0, 2), span("b", 2, 2), span("c", 4, 2), span("d", 1, 5))
    said = timeline(path, 2, 4)
    assert [s["name"] for s in said["spans"]] == ["b", "d"]  # not those that only touch it
    assert (said["begin"], said["end"], said["whole"], said["cut"]) == (2, 4, 6, 0)
    assert said["ranks"][0]["compute"] == 11  # of the whole trace
    monkeypatch.setattr(timeline_module, "MOST_SPANS", 3)
    said = timeline(path, -1, 9)
    assert [s["name"] for s in said["spans"]] == ["a", "b", "c"] and said["cut"] == 1


@pytest.mark.parametrize(
    ("steps", "stretch"), [(4, (10, 20)), (3, (10, 20)), (2, (10, 16)), (1, (0, 9))]
)
def test_the_second_step_is_shown_first(trace, steps, stretch):
    events = [span("data backward", 0, 9, rank=1)]
    for step in range(steps):
        events.append(span("data forward", 10 * step, 1))
        events.append(span("conv forward", 10 * step + 1, 5))
        events.append(span("data forward", 10 * step + 3, 1, rank=1))
    said = timeline(trace(*events))
    assert (said["begin"], said["end"]) == stretch
    half = timeline(trace(*events), 3, None)
    assert (half["begin"], half["end"]) == stretch


def test_a_step_alone_is_shown_whole(trace):
    """A simulated one begins with its backward pass."""
    said = timeline(trace(span("conv backward", 0, 5), span("conv forward", 7, 2)))
    assert (said["begin"], said["end"]) == (0, 9)


def test_a_trace_without_layers_is_shown_whole(trace):
    said = timeline(trace(span("x", 1, 4, kind="wait")))
    assert (said["begin"], said["end"]) == (0, 5)


def test_sums_of_a_rank(trace):
    ranks = timeline(
        trace(
            span("a forward", 0, 3.00049),
            span("x", 1, 4, kind="exchange", sent=10),
            span("y", 2, 4, kind="exchange", row=2, sent=20),  # beside the first for 3 ms
            span("z", 8, 1, kind="exchange"),
            span("x", 5, 1.5, kind="wait"),
            span("a forward", 0, 5, rank=1),
            span("x", 1, 4, rank=1, kind="exchange"),
            span("x", 1, 8, rank=1, kind="wait"),
        )
    )["ranks"]
    assert ranks == [
        {
            "rank": 0,
            "compute": 3.0,
            "wait": 1.5,
            "exchange": 6.0,
            "overlap": 0.75,
            "bytes": 30,
            "late": True,
        },
        {
            "rank": 1,
            "compute": 5.0,
            "wait": 8.0,
            "exchange": 4.0,
            "overlap": 0.0,
            "bytes": 0,
            "late": False,
        },
    ]


def test_one_rank_is_not_late_and_waits_for_no_exchange(trace):
    (rank,) = timeline(trace(span("a forward", 0, 3)))["ranks"]
    assert (rank["overlap"], rank["late"], rank["exchange"]) == (1.0, False, 0)


def test_layers_have_their_mean_times_and_their_scheme(trace):
    path = trace(
        span("my conv forward", 0, 1),
        span("my conv forward", 5, 2.00005),
        span("my conv backward", 2, 3),
        span("fc[0], fc2", 5, 1, kind="exchange", scheme="sfb"),
        span("fc", 5, 1, kind="wait"),
    )
    assert layer_times(path) == {
        "my conv": {"forward_ms": 1.5, "backward_ms": 3},
        "fc": {"scheme": "sfb"},
        "fc2": {"scheme": "sfb"},
    }
    assert layer_times(None) == {}


def test_traces_of_a_run(tmp_path):
    for name in ("run", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "metrics.jsonl").write_text(line(0, 1))
    (tmp_path / "alone.metrics.jsonl").write_text(line(0, 1))
    for name in ("b.json", "a.json"):
        write_trace(tmp_path / "run" / name)
    (tmp_path / "run" / "late.json").write_text(" " * 200 + '"traceEvents"')
    (tmp_path / "run" / "transform.json").write_text("{}")
    (tmp_path / "run" / "folder.json").mkdir()
    runs = Runs(Places([str(tmp_path)]))
    runs.find()
    assert traces(runs.get("run")) == ["a.json", "b.json"]
    assert traces(runs.get("other")) == traces(runs.get("alone")) == []
