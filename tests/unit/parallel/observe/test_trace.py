import itertools
import json

import pytest

from pycaffe_dist.parallel.observe.stats import write_stats
from pycaffe_dist.parallel.observe.trace import Recorder, Totals, write_trace


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def run(recorder, clock):
    """Ten seconds: an exchange from 1 to 7, another from 3 to 8, a wait from 6 to 8."""
    clock.now += 1
    first = recorder.begin("fc6", "sfb")
    clock.now += 2
    second = recorder.begin("conv1", "allreduce")
    first.sent, first.received = 1000, 3000
    second.sent += 500
    clock.now += 3
    with recorder.waiting("conv1"):
        clock.now += 1
        first.end()
        clock.now += 1
        second.end()
    began = clock()
    clock.now += 2
    recorder.compute("conv1 forward", began)


def test_busy_exposed_and_overlap(clock):
    recorder = Recorder(clock=clock)
    run(recorder, clock)
    totals = recorder.totals()
    assert totals == Totals(elapsed=10, busy=7, exposed=2, sent=1500, received=3000)
    assert totals.compute == 8
    assert totals.overlap == pytest.approx(5 / 7)
    assert totals.line() == (
        "compute 8.000 s, exposed communication 2.000 s (20.0 %), overlap 71 %, 0.00 MB sent"
    )
    assert recorder.spans == []


def test_sums_are_right_while_something_is_going_on(clock):
    recorder = Recorder(clock=clock)
    recorder.begin("fc6", "sfb")
    clock.now += 2
    with recorder.waiting("fc6"):
        clock.now += 1
        totals = recorder.totals()
    assert (totals.busy, totals.exposed) == (3, 1)
    before = recorder.totals()
    clock.now += 4
    assert (recorder.totals() - before).busy == 4


def test_nothing_sent_is_wholly_hidden(clock):
    assert Recorder(clock=clock).totals().overlap == 1.0


def reports(clock):
    found = []
    for rank in range(2):
        recorder = Recorder(rank, keep=True, clock=clock)
        run(recorder, clock)
        found.append(json.loads(json.dumps(recorder.report(f"node{rank}"))))
    return found


def test_one_trace_of_all_ranks(tmp_path, clock):
    path = tmp_path / "out.json"
    write_trace(str(path), reports(clock))
    events = json.loads(path.read_text())["traceEvents"]
    spans = [e for e in events if e["ph"] == "X"]
    assert {e["pid"] for e in spans} == {0, 1}
    assert {e["cat"] for e in spans} == {"compute", "wait", "exchange"}
    fc6 = next(e for e in spans if e["name"] == "fc6" and e["pid"] == 1)
    assert (fc6["ts"], fc6["dur"]) == (1e6, 6e6)
    assert fc6["args"] == {"scheme": "sfb", "sent": 1000, "received": 3000}
    names = {e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert names == {"rank 0 on node0", "rank 1 on node1"}
    # Spans of one row do not overlap, or viewers show nonsense.
    for pid, tid in {(e["pid"], e["tid"]) for e in spans}:
        row = sorted((e["ts"], e["dur"]) for e in spans if (e["pid"], e["tid"]) == (pid, tid))
        for (begin, length), (following, _) in itertools.pairwise(row):
            assert begin + length <= following


def test_too_many_spans_are_counted_and_not_kept(clock, monkeypatch):
    monkeypatch.setattr("pycaffe_dist.parallel.observe.trace.MOST_SPANS", 3)
    recorder = Recorder(keep=True, clock=clock)
    for _ in range(5):
        recorder.compute("ip", clock())
    assert (len(recorder.spans), recorder.dropped) == (3, 2)


def test_statistics_are_yaml(tmp_path, clock):
    path = tmp_path / "stats.yaml"
    write_stats(str(path), reports(clock), iterations=20, net='odd: "name"')
    assert path.read_text().splitlines() == [
        "iterations: 20",
        'net: "odd: \\"name\\""',
        "ranks:",
        "- rank: 0",
        "  host: node0",
        "  seconds: 10.000000",
        "  compute_seconds: 8.000000",
        "  blocked_seconds: 2.000000",
        "  communication_seconds: 7.000000",
        "  overlap: 0.714286",
        "  bytes_sent: 1500",
        "  bytes_received: 3000",
        "- rank: 1",
        "  host: node1",
        "  seconds: 10.000000",
        "  compute_seconds: 8.000000",
        "  blocked_seconds: 2.000000",
        "  communication_seconds: 7.000000",
        "  overlap: 0.714286",
        "  bytes_sent: 1500",
        "  bytes_received: 3000",
        "layers:",
        "  fc6:",
        "    sfb:",
        "      exchanges: 1",
        "      bytes_sent: 2000",
        "      bytes_received: 6000",
        "      seconds: 6.000000",
        "  conv1:",
        "    allreduce:",
        "      exchanges: 1",
        "      bytes_sent: 1000",
        "      bytes_received: 0",
        "      seconds: 5.000000",
    ]
