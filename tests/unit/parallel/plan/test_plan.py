import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.parallel.plan.links import AlphaBeta, Links
from pycaffe_dist.parallel.plan.plan import make_plan
from pycaffe_dist.parallel.schemes.sharded import SHARDED
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.proto.caffe_pb2 import NetParameter, NetState, SolverParameter
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.tools.model import dry_net
from pycaffe_dist.tools.plan import set_batch

MODELS = Path(__file__).parents[4] / "models"
GIGABIT = Links(AlphaBeta(1e-4, 8e-9), AlphaBeta(5e-6, 2e-10), 40e9, 12e9)
FAST = replace(GIGABIT, between=AlphaBeta(1e-6, 1e-12), handling=0.0)


@cache
def model(name, batch=None):
    net = dry_net(read_net(MODELS / name / "train_val.prototxt"), NetState(phase="TRAIN"))
    if batch:
        set_batch(net, batch)
    return net


def build(*layers):
    data = (
        'layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 4 dim: 3 } } }'
    )
    text = "\n".join([data, *layers])
    return Net(parse_text(text, NetParameter()).message, Context(dry=True))


def ip(name, bottom, outputs, settings="", inner=""):
    return (
        f'layer {{ name: "{name}" type: "InnerProduct" bottom: "{bottom}" top: "{name}" {settings} '
        f"loss_weight: 1 inner_product_param {{ num_output: {outputs} {inner} }} }}"
    )


def plan_of(net, ranks, nodes=None, links=GIGABIT, solver=None, **settings):
    return make_plan(net, ClusterSettings(**settings), ranks, nodes or ranks, links, solver)


def schemes(plan, net):
    """By layer, what carries its weights."""
    owners = [param.owner for param in net.params.learnable]
    return {
        net.layer_names[entry.layer]: entry.scheme
        for entry in plan.entries
        if owners[entry.params[0]][1] == 0
    }


# -- the paper's rule ------------------------------------------------------------------------------


def test_the_paper_sends_alexnets_first_two_inner_products_as_factors():
    net = model("bvlc_alexnet")
    found = schemes(plan_of(net, 8, policy="paper"), net)
    assert (found["fc6"], found["fc7"], found["fc8"]) == ("sfb", "sfb", "allreduce")
    assert {found[f"conv{i}"] for i in range(1, 6)} == {"allreduce"}


@pytest.mark.parametrize(
    ("layer", "last"), [("fc6", 22), ("fc7", 16), ("fc8", 6)]
)  # fc7 at 16 is a tie, which factors win
def test_the_paper_changes_over_at_the_largest_cluster_where_factors_are_fewer(layer, last):
    net = model("bvlc_alexnet")
    assert schemes(plan_of(net, last, policy="paper"), net)[layer] == "sfb"
    assert schemes(plan_of(net, last + 1, policy="paper"), net)[layer] == "allreduce"


@pytest.mark.parametrize("ranks", [3, 4, 8, 32])
def test_the_paper_sends_all_of_cifar10_quick_dense(ranks):
    plan = plan_of(model("cifar10_quick"), ranks, policy="paper")
    assert {entry.scheme for entry in plan.entries} == {"allreduce"}


def test_the_paper_sends_vgg19s_inner_products_as_factors_up_to_50_ranks():
    net = model("vgg19")
    for ranks in (2, 8, 50):
        found = schemes(plan_of(net, ranks, policy="paper"), net)
        assert [found[f"fc{i}"] for i in (6, 7, 8)] == ["sfb"] * 3
    assert schemes(plan_of(net, 51, policy="paper"), net)["fc8"] == "allreduce"


def test_the_paper_does_not_ask_how_fast_anything_is():
    net = model("bvlc_alexnet")
    assert schemes(plan_of(net, 8, policy="paper", links=FAST), net) == schemes(
        plan_of(net, 8, policy="paper"), net
    )


# -- bytes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_bytes_are_those_of_the_formulas(ranks):
    net = build(ip("one", "data", 5), ip("two", "one", 2, inner="bias_term: false"))
    for comm in ("allreduce", "sharded"):
        values = 5 * 3 + 5 + 2 * 5
        sent = plan_of(net, ranks, comm=comm).bytes
        assert sent == pytest.approx(2 * (ranks - 1) / ranks * 4 * values, abs=3)
    plan = plan_of(net, ranks, comm="sfb")
    assert [e.params for e in plan.entries] == [(2,), (0, 1)]
    assert [e.bytes for e in plan.entries] == [
        4 * 4 * (ranks - 1) * (2 + 5),
        4 * 4 * (ranks - 1) * (5 + 3),
    ]


@pytest.mark.parametrize("comm", ["allreduce", "sharded", "sfb", "sf-push"])
def test_half_numbers_on_the_wire_are_half_the_bytes(comm):
    net = model("lenet")
    whole = plan_of(net, 4, comm=comm)
    for wire in ("fp16", "bf16"):
        half = plan_of(net, 4, comm=comm, wire=wire)
        assert half.bytes == pytest.approx(whole.bytes / 2, abs=len(whole.entries))


def test_several_passes_have_as_many_times_the_rows():
    net = model("lenet")
    one, four = (
        {e.layer: e.bytes for e in plan_of(net, 3, comm="sfb", solver=solver).entries}
        for solver in (None, SolverParameter(iter_size=4))
    )
    ip1, conv1 = net.layer_names.index("ip1"), net.layer_names.index("conv1")
    assert four[ip1] == 4 * one[ip1]
    assert four[conv1] == one[conv1]


def test_rows_of_factors_are_counted_up_to_the_axis():
    data = (
        'layer { name: "d" type: "Input" top: "d" input_param { shape { dim: 2 dim: 6 dim: 3 } } }'
    )
    net = build(
        data, ip("one", "d", 5, inner="axis: 2"), ip("two", "d", 5, inner="transpose: true")
    )
    plan = plan_of(net, 2, comm="sfb")
    assert {net.layer_names[e.layer]: e.bytes for e in plan.entries} == {
        "one": 4 * (2 * 6) * (5 + 3),
        "two": 4 * 2 * (5 + 6 * 3),
    }


def test_a_nodes_leader_sends_for_all_its_ranks():
    net = model("lenet")
    for comm in ("allreduce", "sharded"):
        two = plan_of(net, 2, comm=comm).bytes
        assert plan_of(net, 8, nodes=2, comm=comm).bytes == pytest.approx(two, abs=8)
    plan = plan_of(net, 8, nodes=2, comm="sfb")
    ip1 = next(e for e in plan.entries if net.layer_names[e.layer] == "ip1")
    assert ip1.bytes == 4 * 64 * (500 + 800) * 4


def test_ranks_of_one_node_send_nothing():
    net = model("lenet")
    plan = plan_of(net, 4, nodes=1)
    assert plan.bytes == 0
    assert plan.step_ms > plan.alone_ms


def test_one_rank_sends_nothing():
    net = model("lenet")
    plan = plan_of(net, 1)
    assert plan.bytes == 0
    assert sorted(p for e in plan.entries for p in e.params) == list(range(8))
    assert plan.step_ms == pytest.approx(plan.alone_ms)


# -- which parameters, in which order --------------------------------------------------------------


@pytest.mark.parametrize("name", ["lenet", "bvlc_googlenet", "resnet50", "mnist_siamese", "lstm"])
def test_everything_that_learns_is_in_the_plan_once(name):
    net = model(name)
    plan = plan_of(net, 4)
    learning = [i for i, p in enumerate(net.params.learnable) if p.lr_mult != 0]
    assert sorted(p for e in plan.entries for p in e.params) == learning


@pytest.mark.parametrize("name", ["bvlc_alexnet", "bvlc_googlenet", "mnist_siamese"])
def test_exchanges_start_in_the_order_of_backward(name):
    plan = plan_of(model(name), 4)
    starts = {}
    for entry in plan.entries:
        key = entry.bucket if entry.bucket is not None else entry.params
        starts[key] = min(entry.layer, starts.get(key, entry.layer))
    assert list(starts.values()) == sorted(starts.values(), reverse=True)
    numbers = [e.bucket for e in plan.entries if e.bucket is not None]
    assert numbers == sorted(numbers)  # so that those of a bucket stand together


def test_parameters_that_never_learn_are_not_exchanged():
    net = build(
        ip("frozen", "data", 5, "param { lr_mult: 0 } param { lr_mult: 0 }"),
        ip("bias_only", "frozen", 5, "param { lr_mult: 0 } param { lr_mult: 1 }"),
        ip("weights_only", "bias_only", 5, "param { lr_mult: 1 } param { lr_mult: 0 }"),
    )
    plan = plan_of(net, 2, comm="sfb")
    assert [(e.params, e.scheme) for e in plan.entries] == [((4,), "sfb"), ((3,), "allreduce")]


def test_a_shared_parameter_goes_when_the_lowest_of_its_layers_is_done():
    net = build(
        ip("one", "data", 3, "param { name: 'w' } param { name: 'b' }"),
        ip("two", "one", 3, "param { name: 'w' }"),
        ip("three", "two", 3, "param { name: 'v' } param { name: 'b' }"),
    )
    plan = plan_of(net, 2, comm="sfb")
    by_params = {e.params: e for e in plan.entries}
    assert by_params[(0,)].scheme == by_params[(1,)].scheme == "allreduce"
    assert net.layer_names[by_params[(0,)].layer] == "one"
    assert "shared" in by_params[(0,)].reason
    assert by_params[(3,)].scheme == "sfb"  # its bias belongs to another layer too


def test_small_gradients_travel_together():
    plan = plan_of(model("bvlc_googlenet"), 8, comm="allreduce")
    alone = [e for e in plan.entries if e.bucket is None]
    assert 0 < len(alone) < 30 and len(plan.entries) == 128
    assert all(net_bytes(e) > 1 << 16 for e in alone)
    sizes = Counter(e.bucket for e in plan.entries if e.bucket is not None)
    assert list(sizes) == list(range(len(sizes))) and min(sizes.values()) > 1


def test_a_parameter_without_values_sends_none():
    none = 'layer { name: "p" type: "Parameter" top: "p" parameter_param { shape { dim: 0 } } }'
    loss = 'layer { name: "loss" type: "Reduction" bottom: "p" top: "loss" loss_weight: 1 }'
    (entry,) = plan_of(build(none, loss), 4).entries
    assert (entry.params, entry.bytes) == ((0,), 0)


def net_bytes(entry):
    return sum(4 * model("bvlc_googlenet").params.learnable[p].blob.count for p in entry.params)


# -- what is asked for -----------------------------------------------------------------------------


def test_a_scheme_for_all_is_used_where_it_can_be():
    net = model("lenet")
    assert set(schemes(plan_of(net, 4, comm="dense"), net).values()) <= {"allreduce", "sharded"}
    assert {e.scheme for e in plan_of(net, 4, comm="sharded").entries} == {"sharded"}
    for comm in ("sfb", "sf-push"):
        assert schemes(plan_of(net, 4, comm=comm), net) == {
            "ip2": comm,
            "ip1": comm,
            "conv2": "allreduce",
            "conv1": "allreduce",
        }


def test_a_scheme_for_one_layer_goes_before_that_for_all():
    net = model("lenet")
    asked = {"ip1": "sf-push", "conv2": "sharded"}
    for policy in ("paper", "measured"):
        found = schemes(plan_of(net, 4, comm="sfb", comm_layer=asked, policy=policy), net)
        assert found == {"ip2": "sfb", "ip1": "sf-push", "conv2": "sharded", "conv1": "allreduce"}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"conv1": "sfb"}, "Convolution has no factors"),
        ({"con1": "sfb"}, 'the layer "con1" is not in the net; did you mean "conv1"'),
        ({"relu1": "sfb"}, 'the layer "relu1" learns nothing'),
    ],
)
def test_what_is_not_possible_is_refused_with_the_reason(asked, words):
    with pytest.raises(NetError, match=words):
        plan_of(model("lenet"), 4, comm_layer=asked)


@pytest.mark.parametrize("most", [1.0, 0.5, 0.0])
def test_where_gradients_are_clipped_no_scheme_updates_before_the_norm_is_known(most):
    net, clips = model("bvlc_alexnet", 256), SolverParameter(clip_gradients=most)
    found = schemes(plan_of(net, 8, links=FAST, solver=clips), net)
    assert set(found.values()) == {"allreduce"}
    for comm in ("sharded", "sf-push"):
        with pytest.raises(NetError, match=f"--comm {comm} is not possible: clip_gradients"):
            plan_of(net, 8, comm=comm, solver=clips)
        with pytest.raises(NetError, match=f"fc6={comm} is not possible: clip_gradients"):
            plan_of(net, 8, comm_layer={"fc6": comm}, solver=clips)
    assert schemes(plan_of(net, 8, comm="sfb", solver=clips), net)["fc6"] == "sfb"


def test_factors_of_shared_weights_are_refused():
    net = build(
        ip("one", "data", 3, "param { name: 'w' }"), ip("two", "one", 3, "param { name: 'w' }")
    )
    with pytest.raises(NetError, match="one=sfb is not possible: shared weights"):
        plan_of(net, 2, comm_layer={"one": "sfb"})
    with pytest.raises(NetError, match=r"dense and sharded are asked for .* one and two share"):
        plan_of(net, 2, comm_layer={"one": "dense", "two": "sharded"})


def test_more_nodes_than_ranks_are_refused():
    with pytest.raises(NetError, match="2 ranks cannot be spread over 3 nodes"):
        plan_of(model("lenet"), 2, nodes=3)


# -- the measured policy ---------------------------------------------------------------------------


def test_on_a_slow_link_factors_carry_alexnets_inner_products():
    net = model("bvlc_alexnet", 32)
    plan = plan_of(net, 2)
    found = schemes(plan, net)
    assert [found[f"fc{i}"] for i in (6, 7, 8)] == ["sfb"] * 3
    dense = plan_of(net, 2, comm="allreduce")
    assert plan.bytes < dense.bytes / 15
    assert plan.step_ms < dense.step_ms


def test_where_the_link_is_free_no_rank_rebuilds_what_others_have_computed():
    net = model("bvlc_alexnet", 256)
    found = schemes(plan_of(net, 8, links=FAST), net)
    assert not {"sfb", "sf-push"} & set(found.values())
    assert "sharded" in found.values()  # where a rank updates an eighth


@pytest.mark.parametrize("ranks", [2, 4, 8, 32])
@pytest.mark.parametrize("name", ["lenet", "bvlc_alexnet", "bvlc_googlenet", "vgg19"])
@pytest.mark.parametrize("bandwidth", [1e8, 1e9, 1e10])
def test_no_forced_scheme_is_expected_to_beat_the_choice(name, ranks, bandwidth):
    links = replace(GIGABIT, between=AlphaBeta(1e-4, 8 / bandwidth))
    best = plan_of(model(name), ranks, links=links).step_ms
    for comm in ("allreduce", "sharded", "sfb", "sf-push"):
        other = plan_of(model(name), ranks, links=links, comm=comm).step_ms
        assert best <= 1.01 * other, comm
    paper = plan_of(model(name), ranks, links=links, policy="paper").step_ms
    assert best <= 1.01 * paper


def test_a_slower_link_never_makes_a_shorter_step():
    net = model("bvlc_googlenet")
    steps = [
        plan_of(net, 8, links=replace(GIGABIT, between=AlphaBeta(1e-4, 8 / rate))).step_ms
        for rate in (1e7, 1e8, 1e9, 1e10)
    ]
    assert steps == sorted(steps, reverse=True)


@pytest.mark.parametrize("most", [1.0, 0.5, 0.0])
def test_overlap_hides_and_a_clipping_solver_hides_less(most):
    net = model("bvlc_alexnet", 32)
    clips = SolverParameter(clip_gradients=most)
    on = plan_of(net, 2, comm="allreduce").step_ms
    off = plan_of(net, 2, comm="allreduce", overlap=False).step_ms
    assert on < 0.75 * off
    assert on <= plan_of(net, 2, comm="allreduce", solver=clips).step_ms <= off


@pytest.mark.parametrize("most", [1.0, 0.5, 0.0])
def test_under_frozen_layers_only_an_exchange_without_clipping_hides(most):
    """Their forward does not wait for weights, that of a solver that clips waits for all."""
    frozen = "param { lr_mult: 0 } param { lr_mult: 0 }"
    net = build(ip("one", "data", 30000, frozen), ip("two", "one", 500))
    clips = SolverParameter(clip_gradients=most)
    on = plan_of(net, 2, comm="allreduce").step_ms
    assert on < plan_of(net, 2, comm="allreduce", solver=clips).step_ms
    off = SolverParameter(clip_gradients=-0.5)
    assert on == plan_of(net, 2, comm="allreduce", solver=off).step_ms


def test_ranks_that_may_be_ahead_wait_for_nothing():
    net = model("bvlc_alexnet", 32)
    slow = replace(GIGABIT, between=AlphaBeta(1e-4, 8 / 2e8))  # more than can be hidden
    assert (
        plan_of(net, 2, comm="allreduce", links=slow, staleness=1).step_ms
        < plan_of(net, 2, comm="allreduce", links=slow).step_ms
    )


def test_where_ranks_may_be_ahead_updates_or_factors_travel():
    net = model("bvlc_alexnet", 32)

    def found(ranks=4, **settings):
        return schemes(plan_of(net, ranks, staleness=2, **settings), net)

    assert set(found(comm="sharded").values()) == {"updates"}
    asked = found(comm="sf-push")
    assert {name for name, scheme in asked.items() if scheme == "sfb"} == {"fc6", "fc7", "fc8"}
    assert set(asked.values()) == {"updates", "sfb"}
    assert (found()["fc6"], found()["conv1"]) == ("sfb", "updates")
    assert set(found(ranks=1).values()) == {"updates"}


def test_by_hubs_as_many_bytes_are_sent_as_in_a_ring():
    net = model("bvlc_alexnet", 32)
    for ranks in (2, 3, 8):
        stale = plan_of(net, ranks, comm="dense", staleness=1)
        ring = plan_of(net, ranks, comm="allreduce")
        assert abs(stale.bytes - ring.bytes) <= len(ring.entries)  # each is rounded


def test_a_budget_is_a_slower_link():
    net = model("bvlc_alexnet", 32)
    slow = replace(GIGABIT, between=AlphaBeta(1e-4, 8 / 2e8))
    assert plan_of(net, 2, bandwidth=2e8) == plan_of(net, 2, links=slow)
    assert plan_of(net, 2, bandwidth=1e12) == plan_of(net, 2)


def test_measured_times_of_layers_are_used():
    net = model("lenet")
    forward = tuple(float(i) for i in range(len(net.layers)))
    links = replace(GIGABIT, forward=forward, backward=forward)
    assert plan_of(net, 1, links=links).alone_ms == pytest.approx(2 * sum(forward), rel=0.02)


def test_a_bias_of_sharded_weights_is_too_small_to_be_sharded():
    net = model("bvlc_alexnet", 256)
    for entry in plan_of(net, 8, links=FAST).entries:
        count = sum(net.params.learnable[p].blob.count for p in entry.params)
        assert entry.scheme != "sharded" or 4 * count >= SHARDED.least_bytes


PLANNED = """
import sys
sys.path.insert(0, {folder!r})
from test_plan import model, plan_of
print(plan_of(model("bvlc_alexnet"), 8))
"""


def test_every_rank_makes_the_same_plan():
    """Each is a process of its own, with other hashes of the same names."""
    code = PLANNED.format(folder=str(Path(__file__).parent))
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    env = os.environ | {"PYTHONHASHSEED": seed}
    said = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert said.stdout == f"{plan_of(model('bvlc_alexnet'), 8)}\n", said.stderr


def test_factors_of_a_batch_that_may_change_travel_only_if_the_layer_is_named():
    mask = 'layer { name: "mask" type: "Input" top: "mask" input_param { shape { dim: 4 } } }'
    picked = 'layer { name: "f" type: "Filter" bottom: "data" bottom: "mask" top: "x" }'
    net = build(mask, picked, ip("low", "x", 900), ip("top", "low", 900), ip("side", "data", 900))
    assert schemes(plan_of(net, 2), net) == {"side": "sfb", "top": "sharded", "low": "allreduce"}
    asked = plan_of(net, 2, comm_layer={"top": "sf-push"})
    assert schemes(asked, net)["top"] == "sf-push"
    stale = plan_of(net, 2, comm="sfb", staleness=1)
    assert schemes(stale, net) == {"side": "sfb", "top": "updates", "low": "updates"}
