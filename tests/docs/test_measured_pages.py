"""What benchmarks write into the documentation, from figures that are made up."""

import importlib
import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from pycaffe_dist.proto.nets import read_net, read_solver

ROOT = Path(__file__).parents[2]


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    names = ("pages", "cluster_predict")
    return SimpleNamespace(**{name: importlib.import_module(f"bench.{name}") for name in names})


def test_a_table_takes_the_place_of_the_one_before_and_nothing_else_changes(bench, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("a\n\n<!-- by x -->\n\nold\n\n<!-- end -->\n\nb\n<!-- end -->\n")
    bench.pages.put(page, "x", "new\n")
    assert page.read_text() == "a\n\n<!-- by x -->\n\nnew\n\n<!-- end -->\n\nb\n<!-- end -->\n"
    with pytest.raises(SystemExit, match="has no place for it"):
        bench.pages.put(page, "y", "new")


def test_the_source_names_the_last_day_and_every_commit(bench):
    stamps = [{"date": f"2026-11-{d}", "commit": c} for d, c in ((18, "abc"), (17, "def"))]
    assert bench.pages.source("s.py", stamps) == "Source: `s.py`, 2026-11-18, commits abc, def."
    assert bench.pages.source("s.py", stamps[1:]) == "Source: `s.py`, 2026-11-17, commit def."


# -- bench_cluster.py --predict --------------------------------------------------------------------


@pytest.fixture
def trace(tmp_path):
    """Every layer of cifar10_quick computes for 1 ms, and for 2 on its way back."""
    layers = "data label conv1 pool1 relu1 conv2 relu2 pool2 conv3 relu3 pool3 ip1 ip2 loss"
    events = [
        {"cat": "compute", "name": f"{name} {direction}", "dur": 1000 * ms}
        for name in layers.split()
        for direction, ms in (("forward", 1), ("backward", 2))
    ]
    (tmp_path / "trace.json").write_text(json.dumps({"traceEvents": events}))
    return str(tmp_path / "trace.json")


def measured(alone, beta, handling=0.0):
    return {
        "alone": alone,
        "one": {"step": alone, "flops": 1e15, "memory": 1e15},
        "links": {"alpha": 0.0, "beta": beta, "handling": handling},
        "spread": 0.0,
    }


def test_ranks_on_an_endless_link_take_the_step_that_they_take_alone(bench, trace, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    for name in ("cifar10_quick-2-1", "cifar10_quick-4-1"):  # the second shares its cores
        case = bench.cluster_predict.PREDICTED[name]
        found = bench.cluster_predict.expected(case, measured(0.5, 1e-15), trace)
        assert found == pytest.approx({"dwbp": 0.5, "auto": 0.5}, rel=1e-4)


def test_a_slow_link_and_the_bytes_that_a_processor_moves_lengthen_the_step(bench, trace):
    case = bench.cluster_predict.PREDICTED["cifar10_quick-2-1"]
    values = 145578  # of cifar10_quick; 2 (n - 1) / n times 4 bytes of each are sent
    slow = bench.cluster_predict.expected(case, measured(0.05, 1e-6), trace)["dwbp"]
    assert 4e-6 * values < slow < 4e-6 * values + 0.05
    busy = bench.cluster_predict.expected(case, measured(0.5, 1e-8, 9e-9), trace)["dwbp"]
    assert busy == pytest.approx(0.5 + 9e-9 * 4 * values, rel=2e-3)


def test_a_row_has_medians_and_the_page_says_what_missed_the_bar(bench):
    case = bench.cluster_predict.PREDICTED["vgg19-4-2.5"]
    rounds = [measured(alone, 1e-8) | {"auto": alone + 1} for alone in (3.0, 1.0, 2.0)]
    simulated = [{"auto": 1.02 * (alone + 1)} for alone in (3.0, 1.0, 2.0)]
    row = bench.cluster_predict._row(case, "auto", rounds, simulated)
    assert (row["batch"], row["alone_ms"], row["measured_ms"]) == (4, 2000, 3000)
    assert (row["predicted_ms"], row["ratio"]) == (3060, 1.02)
    text = bench.cluster_predict.page([row, row | {"ratio": 1.06}])
    assert "| vgg19 (4) | 4 | 2.5 Gbit/s | 2,000.0 | 2,000.0 | SACP | 3,060.0 | 3,000.0 |" in text
    assert text.count("missed") == 1 and "1 of 2 are within 5%" in text
    assert f"commit {row['commit']}." in text


# -- convergence.py --------------------------------------------------------------------------------


@pytest.fixture
def convergence(bench):
    return importlib.import_module("convergence")


@pytest.mark.parametrize(
    ("how", "batch", "rate", "last", "drop", "warm"),
    [
        ({"ranks": 1}, 100, 0.001, 1000, 800, 0),
        ({"ranks": 8}, 13, 0.001, 1000, 800, 0),
        ({"ranks": 8, "scaled": True}, 100, 0.008, 124, 99, 12),
    ],
)
def test_a_run_keeps_the_joint_batch_or_scales_it_with_the_rate(
    convergence, tmp_path, how, batch, rate, last, drop, warm
):
    convergence.prepare(convergence.Run(**how), tmp_path / "data", 1000, tmp_path)
    solver = read_solver(str(tmp_path / "solver.prototxt")).message
    assert (solver.max_iter, list(solver.stepvalue)) == (last, [drop])
    assert solver.base_lr == pytest.approx(rate) and solver.warmup_iter == warm
    assert solver.max_iter % solver.test_interval == 0  # the last test is of the last weights
    training, testing = read_net(str(tmp_path / "net.prototxt")).net.layer[:2]
    assert (training.data_param.batch_size, testing.data_param.batch_size) == (batch, 100)
    assert training.data_param.source == str(tmp_path / "data" / "cifar10_train_lmdb")


def test_every_run_has_a_name_of_its_own(convergence):
    names = [run.name for run in convergence.runs()]
    assert len(set(names)) == len(names) and names[0] == "1 rank"
    assert {"4 ranks, auto, s = 3", "4 ranks, PyTorch DDP, PowerSGD"} <= set(names)


def test_the_page_compares_with_one_rank_and_names_what_is_missing(
    convergence, tmp_path, monkeypatch
):
    page = tmp_path / "page.md"
    page.write_text("<!-- by scripts/convergence.py --write -->\n<!-- end -->\n")
    monkeypatch.setattr(convergence, "PAGE", page)
    monkeypatch.setattr(convergence, "CHART", tmp_path / "chart.png")
    result = {"batch": 100, "date": "2026-11-18", "commit": "0123abc"}
    accuracies = {
        "1 rank": 64.0,
        "4 ranks, dense": 63.1,
        "4 ranks, topk": 60.0,
        "2 ranks, auto": None,
    }
    done = {name: result | {"accuracy": a} for name, a in accuracies.items()}
    convergence.write({"iterations": 1000, "runs": done})
    text = page.read_text()
    assert "| 1 rank | 100 | 64.00 % |  |" in text
    assert "| 4 ranks, dense | 100 | 63.10 % | -0.90 |" in text
    assert "| 4 ranks, topk | 100 | 60.00 % | -4.00: beyond a point |" in text
    assert "| 2 ranks, auto | 100 | the loss became NaN | |" in text
    assert "Not run yet: 4 ranks, auto;" in text and "commit 0123abc." in text
    assert (tmp_path / "chart.png").stat().st_size > 1000
