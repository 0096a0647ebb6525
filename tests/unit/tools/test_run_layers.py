"""A run says what computed its layers, and by which schemes their parameters travelled."""

import json
import logging

import warm
from made_runs import NET, SOLVER, make_data

from pycaffe_dist.events import SolveEnds, Updated
from pycaffe_dist.tools.run_layers import LAYERS, LayersFile


def train(top, *words):
    make_data(top)
    (top / "net.prototxt").write_text(NET)
    (top / "solver.prototxt").write_text(SOLVER)
    short = ["--max-iter", "2", "--set", "test_iter=1", "--quiet", "--run-dir", "run"]
    done = warm.pcd("train", "--solver", "solver.prototxt", *short, *words, cwd=top)
    assert done.returncode == 0, done.stderr
    return json.loads((top / "run" / LAYERS).read_text())


def test_one_rank_has_implementations_and_no_schemes(tmp_path):
    said = train(tmp_path, "--engine", "numpy")
    assert said["engine"] == "numpy"
    assert list(said["layers"]) == ["images", "conv", "relu", "ip", "loss"]
    assert all(v == {"forward_by": "numpy", "backward_by": "numpy"}
               for v in said["layers"].values())  # fmt: skip


def test_ranks_name_the_scheme_of_each_parameter(tmp_path):
    layers = train(tmp_path, "--ranks", "2", "--comm", "allreduce")["layers"]
    both = {"0": "allreduce", "1": "allreduce"}
    assert {n: row.get("schemes") for n, row in layers.items()} == {
        **dict.fromkeys(["images", "relu", "loss"]), "conv": both, "ip": both
    }  # fmt: skip


def test_it_is_written_after_the_first_iteration_and_at_the_end(tmp_path, monkeypatch, caplog):
    told = iter([{"layers": 1}, {"layers": 2}])
    monkeypatch.setattr("pycaffe_dist.tools.run_layers.facts", lambda solver: next(told))
    write = LayersFile(str(tmp_path), None)
    for iteration in (1, 2):
        write(Updated(iteration, 0.0, 0.0))
        assert json.loads((tmp_path / LAYERS).read_text()) == {"layers": 1}
    write(SolveEnds(2, False))
    assert json.loads((tmp_path / LAYERS).read_text()) == {"layers": 2}


def test_a_folder_that_is_gone_does_not_end_the_training(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("pycaffe_dist.tools.run_layers.facts", lambda solver: {})
    with caplog.at_level(logging.WARNING):
        LayersFile(str(tmp_path / "gone"), None)(SolveEnds(2, False))
    assert "gone" in caplog.text
