import json
from pathlib import Path

import pytest

from pycaffe_dist.cli import main
from pycaffe_dist.cli.simulate import numbers

ROOT = Path(__file__).parents[2]
STATED = ("--gflops", "100", "--gbytes", "20")


@pytest.fixture
def simulate(monkeypatch, capsys):
    """Run ``pcd simulate`` on a model: (exit code, output, errors)."""
    monkeypatch.chdir(ROOT)

    def run(model, *flags):
        solver = f"models/{model}/solver.prototxt"
        code = main(["simulate", "--solver", solver, *map(str, flags)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def points(simulate, *args):
    code, out, errors = simulate(*args, "--json")
    assert code == 0, errors
    return {(p["variant"], p["nodes"]): p for p in json.loads(out)["points"]}


def test_the_table_has_a_line_for_every_variant_and_size_and_says_what_it_rests_on(simulate):
    code, out, _ = simulate("lenet", *STATED, "--nodes", "1,2,...,8")
    assert code == 0
    lines = out.splitlines()
    assert lines[0].split()[:5] == ["nodes", "ranks", "step", "ms", "speedup"]
    assert len([line for line in lines if line.startswith("staleness 3 ")]) == 4
    assert "SACP on 8 nodes keeps 95 % of its speed with links of" in out
    assert "a rank computes 100 GFLOP/s and moves 20 GB/s (as stated)" in out
    assert "This is a simulation" in out


def test_more_bandwidth_overlap_and_factors_each_help(simulate):
    where = ("bvlc_alexnet", "--device", "k20", "--nodes", "8", "--spread", 0)
    slow, fast = (points(simulate, *where, "--bandwidth", b) for b in ("1gbit", "40gbit"))
    for name in ("dense", "dense + DWBP", "SACP"):
        assert slow[name, 8]["speedup"] < fast[name, 8]["speedup"] < 8.1  # ranks share the update
    assert (
        slow["dense", 8]["speedup"]
        < slow["dense + DWBP", 8]["speedup"]
        < slow["SACP", 8]["speedup"]
    )
    assert slow["dense", 8]["bound"] == "link"
    assert slow["SACP", 8]["schemes"]["sfb"] >= 1


def test_one_rank_has_a_speedup_of_1_and_exchanges_nothing(simulate):
    for point in points(simulate, "lenet", *STATED, "--nodes", 1, "--spread", 0).values():
        assert point["speedup"] == pytest.approx(1)
        assert (point["sent"], point["bound"]) == (0, "compute")


def test_a_slow_rank_and_a_spread_bound_all_but_stale_ranks(simulate):
    where = ("lenet", *STATED, "--nodes", 8, "--bandwidth", "100gbit", "--latency", 1)
    even = points(simulate, *where, "--spread", 0)
    slow = points(simulate, *where, "--spread", 0, "--slow", 3)
    assert slow["SACP", 8]["seconds"] > 2 * even["SACP", 8]["seconds"]
    assert slow["SACP", 8]["bound"] == "slowest rank"
    uneven = points(simulate, *where, "--spread", 20)
    lost = {
        name: uneven[name, 8]["seconds"] / even[name, 8]["seconds"]
        for name in ("SACP", "staleness 3")
    }
    assert lost["SACP"] > 1.05 * lost["staleness 3"]


def test_sharded_ranks_keep_a_share_of_the_history(simulate):
    found = points(simulate, "bvlc_alexnet", "--device", "a100", "--nodes", "1,8")
    weights = 4 * 60_965_224
    less = found["sharded", 1]["memory"] - found["sharded", 8]["memory"]
    assert less == pytest.approx(7 / 8 * weights, rel=0.02)


def test_times_of_pcd_time_and_of_a_trace_are_taken(simulate, tmp_path):
    names = _layers()
    times = tmp_path / "times.json"
    rows = [{"name": name, "forward_ms": 2.0, "backward_ms": 3.0} for name in names]
    times.write_text(json.dumps({"layers": rows}))
    events = [
        {"cat": "compute", "name": f"{name} {way}", "dur": dur}
        for name in names
        for way, durations in (("forward", (2e3, 9e5, 2e3)), ("backward", (3e3,)))
        for dur in durations
    ]
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"traceEvents": events}))
    where = ("lenet", *STATED, "--nodes", 1, "--spread", 0, "--json")
    alone = [
        json.loads(simulate(*where, flag, path)[1])["alone_ms"]
        for flag, path in (("--times", times), ("--trace", trace))
    ]
    assert alone[0] == alone[1] == pytest.approx(5 * len(names), rel=0.02)
    assert json.loads(simulate(*where, "--alone", 70)[1])["alone_ms"] == pytest.approx(70)


def _layers():
    """The layers of LeNet's training net, those that Caffe inserts too."""
    from pycaffe_dist.tools.plan import Training

    return Training("models/lenet/solver.prototxt").read()[1].layer_names


def test_a_chart_and_a_timeline_are_written(simulate, tmp_path):
    chart, trace = tmp_path / "speedup.png", tmp_path / "step.json"
    where = ("lenet", *STATED, "--nodes", "1,4", "--slow", 2)
    assert simulate(*where, "-o", chart, "--timeline", trace)[0] == 0
    assert chart.read_bytes().startswith(b"\x89PNG")
    events = json.loads(trace.read_text())["traceEvents"]
    spans = [e for e in events if e["ph"] == "X"]
    assert {e["pid"] for e in spans} == {0, 1, 2, 3}
    assert {e["cat"] for e in spans} == {"compute", "wait", "exchange"}
    waited = [sum(e["dur"] for e in spans if e["cat"] == "wait" and e["pid"] == r) for r in (0, 1)]
    assert waited[0] < waited[1]  # the slow rank is waited for


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        (("--nodes", "0"), "--nodes must be 1 or more, not 0"),
        (("--variants", "SACB"), 'there is no "SACB"; did you mean "SACP"?'),
        (("--bandwidth", "fast"), "'fast' is no bandwidth"),
        (("--spread", "-1"), "--spread must be 0 or more"),
        (("--alone", "0"), "--alone must be more than 0 ms"),
        (("--alone", "1e-9"), "the update alone takes"),
        (("--times", "models/lenet/solver.prototxt"), "is no JSON file"),
        (("--times", "a", "--trace", "b"), "give one"),
        (("--device", "k2"), 'there is no "k2"'),
        (("-o", "chart.xyz"), "cannot draw a .xyz"),
    ],
)
def test_what_cannot_be_is_refused_with_the_flag(simulate, flags, text):
    code, _, errors = simulate("lenet", *STATED, *flags)
    assert code == 1
    assert text in errors


def test_times_of_another_net_are_refused(simulate, tmp_path):
    times = tmp_path / "times.json"
    times.write_text('{"layers": [{"name": "conv9", "forward_ms": 1, "backward_ms": 1}]}')
    code, _, errors = simulate("lenet", *STATED, "--times", times)
    assert (code, "has no times of" in errors) == (1, True)
    times.write_text('{"rows": 3}')
    code, _, errors = simulate("lenet", *STATED, "--times", times)
    assert (code, "is not what `pcd time --json` writes" in errors) == (1, True)


def test_numbers_of_nodes_may_be_written_with_dots():
    assert numbers("1,2,...,16") == [1, 2, 4, 8, 16]
    assert numbers("3") == [3]
    assert numbers("2,...,20,24") == [2, 4, 8, 16, 20, 24]
    assert numbers("0,...,4") == [0, 4]  # twice 0 is no more
    assert numbers("0,1,...,4") == [0, 1, 2, 4]
    assert numbers("1,...,5,6") == [1, 2, 4, 5, 6]
    assert numbers("1,...,4") == [1, 2, 4]
    for text in ("", "1,...", "a"):
        with pytest.raises(Exception, match="numbers of nodes"):
            numbers(text)


def test_bytes_that_a_processor_moves_and_cores_that_are_shared_cost_time(simulate):
    where = ("cifar10_quick", *STATED, "--nodes", 2, "--spread", 0, "--bandwidth", "100gbit")
    plain, moving, shared = (
        points(simulate, *where, *flags)["dense + DWBP", 2]["seconds"]
        for flags in (("--handling", 0), ("--handling", 20), ("--ranks-per-core", 2))
    )
    # 145,578 values of 4 bytes are sent; not all of them while the rank computes.
    assert 0.5 < (moving - plain) / (20e-9 * 4 * 145578) < 1.2
    assert shared / plain == pytest.approx(2, rel=0.1)
    code, _, errors = simulate("lenet", *STATED, "--handling", -1)
    assert code == 1 and "--handling must be 0 or more" in errors
