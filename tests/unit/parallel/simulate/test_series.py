"""Small clusters in thought, by numbers that can be followed by hand."""

import json
from dataclasses import replace

import numpy as np
import pytest

from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.net import Net
from pycaffe_dist.parallel.plan.plan import Entry, Plan
from pycaffe_dist.parallel.plan.step import LayerTimes, Schedule, Transfer, step_seconds
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.parallel.simulate import layer_times, series
from pycaffe_dist.parallel.simulate.hardware import DEVICES, Device, Network
from pycaffe_dist.parallel.simulate.series import (
    SACP,
    Case,
    Variant,
    bound,
    memory_of,
    needed_bandwidth,
    simulate,
)
from pycaffe_dist.parallel.simulate.timeline import write_timeline
from pycaffe_dist.proto.caffe_pb2 import NetParameter, SolverParameter
from pycaffe_dist.proto.nets import NetFile
from pycaffe_dist.proto.text import parse_text

BATCH, INPUTS, OUTPUTS = 4, 3, 5
NET = f"""
layer {{ name: "x" type: "Input" top: "x" top: "t" input_param {{
  shape {{ dim: {BATCH} dim: {INPUTS} }} shape {{ dim: {BATCH} dim: {OUTPUTS} }} }} }}
layer {{ name: "ip" type: "InnerProduct" bottom: "x" top: "ip"
  inner_product_param {{ num_output: {OUTPUTS} }} }}
layer {{ name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "t" top: "loss" }}
"""
WEIGHTS, BIAS = INPUTS * OUTPUTS, OUTPUTS
TIMES = LayerTimes((0.0, 1.0, 0.0), (0.0, 2.0, 0.0))
DEVICE = Device("d", 1e12, 1e12, 1e12)
DENSE = Variant("dense", ClusterSettings(comm="dense", overlap=False))


@pytest.fixture
def case():
    net = Net(NetFile(parse_text(NET, NetParameter()).message, "", []))
    return Case(net, SolverParameter(type="Adam"), TIMES, DEVICE, Network(8e9, 0.0))


def test_what_is_not_said(case):
    assert (case.ranks_per_node, case.spread, case.slow, case.count, case.seed) == (1, 0, 1, 24, 1)
    np.testing.assert_array_equal(case.paces(3), np.ones((24, 3)))
    links = case.network.links(DEVICE, TIMES, 16, many_to_one=True)
    assert (links.between.alpha, links.between.beta) == (0, 1e-9)
    assert links.handling == 0 and links.within.beta == 4e-12
    uneven = replace(case, spread=0.5, count=2)
    assert (uneven.paces(3) == replace(uneven, seed=1).paces(3)).all()
    assert (uneven.paces(3) != replace(uneven, seed=2).paces(3)).all()


def plan_of(*entries, ranks=8):
    made = (Entry(params, 1, scheme, None, 0, 0.0, "") for params, scheme in entries)
    return Plan(tuple(made), ranks, ranks, "measured", "fp32", 0.0, 0.0)


def test_bytes_of_a_rank(case):
    blobs = 2 * (BATCH * (INPUTS + 2 * OUTPUTS) + 1)  # data and diff
    plain = memory_of(case, plan_of(((0,), "allreduce"), ((1,), "allreduce")))
    parameters = WEIGHTS + BIAS
    assert plain == 4 * (blobs_of(case) + 2 * parameters + 2 * parameters)  # Adam has two
    assert blobs_of(case) <= blobs + BATCH * OUTPUTS
    shared = memory_of(case, plan_of(((0,), "sharded"), ((1,), "allreduce")))
    assert plain - shared == 4 * 2 * WEIGHTS * 7 / 8
    # SFB keeps the factors of all ranks twice, where there are some.
    factors = BATCH * (INPUTS + OUTPUTS)
    by_factors = memory_of(case, plan_of(((0, 1), "sfb")))
    assert by_factors - plain == 4 * 2 * 8 * factors
    assert memory_of(case, plan_of(((1,), "sfb"), ((0,), "allreduce"))) == plain
    several = replace(case, solver=SolverParameter(type="Adam", iter_size=3))
    assert memory_of(several, plan_of(((0, 1), "sfb"))) - plain == 3 * 4 * 2 * 8 * factors


def blobs_of(case):
    """Values of the activations, with their diffs where there are some."""
    from pycaffe_dist.facts import layer_facts

    return sum(row.data_bytes + row.diff_bytes for row in layer_facts(case.net)) // 4


def test_points_of_a_series(case):
    (one, two) = simulate(replace(case, ranks_per_node=2), [DENSE], [1, 2])
    assert (one.variant, one.nodes, one.ranks) == ("dense", 1, 2)
    assert (two.nodes, two.ranks) == (2, 4)
    assert case.alone == pytest.approx(3, rel=1e-6)
    for point in (one, two):
        assert point.speedup == pytest.approx(point.ranks * case.alone / point.seconds)
    assert (two.bound, two.schemes) == ("compute", {"allreduce": sum(two.schemes.values())})
    assert two.memory == memory_of(case, case.schedule(DENSE, 2)[0])
    assert two.sent == replace(case, ranks_per_node=2).schedule(DENSE, 2)[0].bytes > 0


def test_the_first_half_of_the_steps_warms_up(case, monkeypatch):
    monkeypatch.setattr(series, "steps", lambda schedule, paces: np.array([9.0, 9, 9, 4, 5]))
    (point,) = simulate(replace(case, count=5), [DENSE], [1])
    assert point.seconds == 6  # of 9, 4 and 5


def test_ranks_that_share_a_core_compute_so_many_times_slower(case):
    fast = replace(case, network=Network(8e12, 0.0), device=replace(DEVICE, handling=1e-10))
    (one,) = simulate(fast, [DENSE], [2])
    (two,) = simulate(replace(fast, ranks_per_core=2), [DENSE], [2])
    assert two.seconds == pytest.approx(2 * one.seconds, rel=1e-6)
    assert two.speedup == pytest.approx(one.speedup / 2, rel=1e-6)  # one alone has the core
    assert fast.device.shared(2) == Device("d", 5e11, 5e11, 5e11, 2e-10)


# -- what bounds a step ----------------------------------------------------------------------------


def schedule_of(link, work=0.0):
    return Schedule(LayerTimes((1.0,), (1.0,)), (Transfer(0, link, work),), overlap=False)


@pytest.mark.parametrize(
    ("link", "work", "seconds", "alone", "what"),
    [
        (0.0, 0.0, 2.0, 2.0, "compute"),
        (1.0, 0.0, 3.0, 2.0, "link"),
        (0.25, 0.5, 2.75, 2.0, "exchange work"),
        (0.5, 0.25, 2.75, 2.0, "link"),
        (0.25, 0.0, 3.0, 2.0, "slowest rank"),
        (1.0, 1.0, 4.0, 3.0, "link"),  # one alone updates, too
    ],
)
def test_what_a_step_loses_most_by(link, work, seconds, alone, what):
    assert bound(schedule_of(link, work), seconds, alone) == what


def test_a_small_loss_is_not_noticed(monkeypatch):
    monkeypatch.setattr(series, "NOTICED", 0.25)
    schedule = schedule_of(1.0)
    assert step_seconds(schedule) == 3
    assert bound(schedule, 3.9375, 2.0) == "link"
    assert bound(schedule, 4.0, 2.0) == "compute"  # a quarter is not more than a quarter


# -- how fast links must be ------------------------------------------------------------------------


@pytest.mark.parametrize("ranks", [2, 5, 40])
def test_the_least_bandwidth_that_suffices(case, monkeypatch, ranks):
    rates = np.geomspace(1e3, 1e7, 9)
    monkeypatch.setattr(series, "RATES", rates)
    found = needed_bandwidth(case, DENSE, ranks)

    def seconds(rate):
        network = replace(case.network, bandwidth=rate)
        return step_seconds(replace(case, network=network).schedule(DENSE, ranks)[1])

    enough = [rate for rate in rates if seconds(rate) <= seconds(1e15) / series.KEPT]
    assert found == (enough[0] if enough else None)
    assert 0 < len(enough) < 9


def test_the_least_and_the_most_bandwidth_that_is_tried(case, monkeypatch):
    monkeypatch.setattr(series, "RATES", np.array([1e12, 1e13]))
    assert needed_bandwidth(case, DENSE, 2) == 1e12
    monkeypatch.setattr(series, "RATES", np.array([1e-6, 1e-5]))
    assert needed_bandwidth(case, DENSE, 2) is None


# -- times of layers -------------------------------------------------------------------------------


def test_times_that_were_measured(case, tmp_path):
    rows = [
        {"name": name, "forward_ms": 1 + i, "backward_ms": 10 + i}
        for i, name in enumerate(case.net.layer_names)
    ]
    (tmp_path / "t.json").write_text(json.dumps({"layers": rows}))
    found = layer_times.of_times(case.net, str(tmp_path / "t.json"))
    assert found == LayerTimes((0.001, 0.002, 0.003), (0.01, 0.011, 0.012))
    assert found.scaled(2) == LayerTimes((0.002, 0.004, 0.006), (0.02, 0.022, 0.024))
    (tmp_path / "t.json").write_text(json.dumps({"layers": rows[1:]}))
    with pytest.raises(NetError, match=r'of 1 of the net\'s 3 layers, the first is "x"'):
        layer_times.of_times(case.net, str(tmp_path / "t.json"))


def test_times_of_a_trace_are_medians_and_a_layer_may_have_no_backward(case, tmp_path):
    events = [{"cat": "wait", "name": "ip forward", "dur": 1e9}]
    for name in case.net.layer_names:
        events += [{"cat": "compute", "name": f"{name} forward", "dur": d} for d in (9, 2000, 9e9)]
    events += [{"cat": "compute", "name": "ip backward", "dur": d} for d in (4000, 6000)]
    (tmp_path / "t.json").write_text(json.dumps({"traceEvents": events}))
    found = layer_times.of_trace(case.net, str(tmp_path / "t.json"))
    assert found == LayerTimes((0.002,) * 3, (0.0, 0.005, 0.0))
    (tmp_path / "t.json").write_text('{"traceEvents": [3]}')
    with pytest.raises(FileError, match="is not what `pcd train --trace` writes"):
        layer_times.of_trace(case.net, str(tmp_path / "t.json"))


def test_times_of_a_device_are_those_of_its_flops_or_its_memory(case):
    slow = layer_times.of_device(case.net, Device("d", 1e30, 1000.0, 1e30))
    half = layer_times.of_device(case.net, Device("d", 1e30, 2000.0, 1e30))
    assert slow.forward[1] == pytest.approx(2 * half.forward[1]) and slow.forward[1] > 0
    fed = layer_times.of_device(case.net, Device("d", 1e30, 1e30, 1000.0))
    assert fed.forward[1] > 0
    k20 = DEVICES["k20"]
    assert (k20.flops, k20.layer_flops, k20.memory) == pytest.approx(
        (0.9 * 3.52e12, 0.6 * 3.52e12, 0.8 * 208e9)
    )


# -- a step as a trace -----------------------------------------------------------------------------


def test_a_timeline_has_the_first_ranks_and_no_empty_spans(case, tmp_path, monkeypatch):
    monkeypatch.setattr("pycaffe_dist.parallel.simulate.timeline.MOST_RANKS", 3)
    path = tmp_path / "t.json"
    write_timeline(str(path), replace(case, ranks_per_node=2, slow=2.0), SACP, 2)
    events = json.loads(path.read_text())["traceEvents"]
    spans = [e for e in events if e["ph"] == "X"]
    assert {e["pid"] for e in spans} == {0, 1, 2} and all(e["dur"] > 0 for e in spans)
    computed = {(e["pid"], e["name"]): e["dur"] for e in spans if e["cat"] == "compute"}
    assert computed[0, "ip backward"] == pytest.approx(4e6)
    assert computed[1, "ip forward"] == pytest.approx(1e6)
    assert not any(name.startswith("loss") for _, name in computed)
    sent = [e["args"] for e in spans if e["cat"] == "exchange"]
    assert sent and all(fact["scheme"] and fact["sent"] > 0 for fact in sent)
    names = [json.dumps(e) for e in events if e["ph"] == "M"]
    for rank, node in ((0, 0), (1, 0), (2, 1)):
        assert any(f"simulated node {node} of 2" in n and f'"pid": {rank}' in n for n in names)
    assert not any("simulated node 2" in n for n in names)
