"""What the pages ask for, without a server."""

import os
import threading
from types import SimpleNamespace

import pytest
from made_runs import line, write_run, write_trace

from pycaffe_dist.board import board as board_module
from pycaffe_dist.board.board import FEW, MANY, Board
from pycaffe_dist.board.metrics_index import BLOCKS, MetricsIndex
from pycaffe_dist.board.places import Places
from pycaffe_dist.errors import FileError

ALL = (float("-inf"), float("inf"))


def read(folder, **options):
    """A board of a folder whose runs are read to their ends."""
    board = Board(Places([str(folder)]), **options)
    for run in board.runs.by_name.values():
        while board.update(run):
            pass
    return board


# -- keeping up ------------------------------------------------------------------------------------


def test_pages_hear_of_a_run_when_its_last_piece_is_in(tmp_path, monkeypatch):
    folder = write_run(tmp_path / "r")
    size = (folder / "metrics.jsonl").stat().st_size
    monkeypatch.setattr("pycaffe_dist.board.metrics_index.CHUNK", size // 2 + 200)
    board = Board(Places([str(tmp_path)]))
    run = board.runs.get("r")
    assert board.update(run) and board.changes == {}
    assert board.update(run) and board.changes == {"r": 1}
    assert not board.update(run) and board.changes == {"r": 1}
    assert board.wait_for_change({}, 60) == {"r": 1}
    assert board.wait_for_change({"r": 1}, 0.001) == {"r": 1}
    write_run(tmp_path / "new")
    board.find()
    assert board.changes == {"r": 1, "new": 1}
    (tmp_path / "new" / "metrics.jsonl").unlink()
    (tmp_path / "new" / "metrics.jsonl").mkdir()
    assert not board.update(board.runs.by_name["new"])


class Clock:
    """In the place of ``time``: goes on by a second with every look at it."""

    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        self.now += 1
        return self.now


class Stop:
    """Stops after some rounds, and notes how long each has waited."""

    def __init__(self, rounds):
        self.rounds, self.waited = rounds, []

    def is_set(self):
        return len(self.waited) == self.rounds

    def wait(self, seconds):
        self.waited.append(seconds)


def test_new_runs_are_looked_for_now_and_then(tmp_path, monkeypatch):
    monkeypatch.setattr(board_module, "time", Clock())
    monkeypatch.setattr(board_module, "LOOK_EVERY", 100.0)
    board, found = Board(Places([str(tmp_path)])), []
    ended, running = SimpleNamespace(poll=lambda: 0), SimpleNamespace(poll=lambda: None)
    board.started = [ended, running]
    stop = Stop(13)
    monkeypatch.setattr(board, "find", lambda: found.append(len(stop.waited)))
    board.watch(stop)
    assert found == [5, 11]  # when more than 5 seconds have passed, a second each round
    assert board.started == [running]
    assert stop.waited == [100.0] * 13


def test_short_files_are_read_first_and_none_holds_up_the_others(tmp_path, monkeypatch):
    for name, count in (("a", 90), ("b", 10), ("c", 50)):
        write_run(tmp_path / name, count)
    board, seen = Board(Places([str(tmp_path)])), []
    update = board.update
    monkeypatch.setattr(board, "update", lambda run: seen.append(run.name) or update(run))
    stop = Stop(2)
    board.watch(stop)
    assert seen[:3] == ["b", "c", "a"] and stop.waited == [0.002, board_module.LOOK_EVERY]
    monkeypatch.setattr(board_module, "time", Clock())
    seen.clear()
    board.watch(Stop(1))
    assert len(seen) == 1  # the clock says that it took longer than LOOK_EVERY


def test_long_files_are_sampled_in_shares(tmp_path, monkeypatch):
    sampled = []
    monkeypatch.setattr(MetricsIndex, "sample", lambda self, blocks: sampled.append(blocks))
    (tmp_path / "x.log").write_text("")
    write_run(tmp_path / "a")
    Board(Places([str(tmp_path)]))
    assert sampled == [BLOCKS]  # a log is not
    write_run(tmp_path / "b")
    sampled.clear()
    monkeypatch.setattr(board_module, "SAMPLED", 31)
    board = Board(Places([str(tmp_path)]))
    assert sampled == [10, 10]
    monkeypatch.setattr(board_module, "SAMPLED", 4)
    write_run(tmp_path / "c")
    board.find()
    assert sampled == [10, 10, board_module.LEAST_BLOCKS]


# -- the table -------------------------------------------------------------------------------------


def test_settings_that_differ_are_shown_newest_run_first(tmp_path):
    for name, rate, more in (("a", "0.1", ""), ("b", "0.1", "gamma: 2\n"), ("c", "0.3", "")):
        folder = write_run(tmp_path / name, rate=rate)
        with open(folder / "solver.prototxt", "a") as file:
            file.write(more)
        os.utime(folder / "metrics.jsonl", (1e9, {"a": 2e9, "b": 3e9, "c": 1e9}[name]))
    alone = tmp_path / "d.metrics.jsonl"  # without settings it differs in none
    alone.write_text(line(0, 1))
    os.utime(alone, (1, 1))
    (tmp_path / "a" / "command.txt").write_text(f"pcd train --weights {tmp_path}/b/x.caffemodel")
    said = read(tmp_path, may_control=True).table()
    assert said["control"] is True and said["differ"] == ["base_lr", "gamma"]
    rows = [(row["name"], row["settings"], row["parent"]) for row in said["runs"]]
    assert rows == [
        ("b", {"base_lr": "0.1", "gamma": "2"}, ""),
        ("a", {"base_lr": "0.1"}, "b"),
        ("c", {"base_lr": "0.3"}, ""),
        ("d", {}, ""),
    ]


def test_settings_that_are_all_alike_are_left_out(tmp_path):
    for name in "ab":
        write_run(tmp_path / name)
    said = read(tmp_path).table()
    assert said["differ"] == [] and all(row["settings"] == {} for row in said["runs"])


# -- curves ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [FEW, FEW + 1])
def test_curves_of_many_runs_share_their_x(tmp_path, count):
    for i in range(count):
        write_run(tmp_path / f"r{i}", count=20)
    board = read(tmp_path)
    said = board.curves(sorted(board.runs.by_name), *ALL, points=10)
    curve = said["runs"]["r0"]["curves"]["test acc"]
    if count == FEW:
        assert said["x"] is None and curve["x"] == [0, 10]
    else:
        assert said["x"] == [pytest.approx(0.95 * i + 0.475) for i in range(20)]
        assert "x" not in curve and curve["loss"] is False and len(curve["y"]) == 20
        assert [(i, y) for i, y in enumerate(curve["y"]) if y is not None] == [
            *[(0, 0.0), (1, 0.0), (10, 0.666667), (11, 0.666667)]
        ]
        part = board.curves(sorted(board.runs.by_name), 5, 10, points=10, only="lr")
        assert part["x"][0] == 5.125 and part["x"][-1] == 9.875
        assert list(part["runs"]["r0"]["curves"]) == ["lr"]
        beyond = board.curves(sorted(board.runs.by_name), -5, 50, points=10)
        assert beyond["x"] == said["x"]


def test_many_runs_without_points_have_an_x(tmp_path):
    for i in range(FEW + 1):
        write_run(tmp_path / f"r{i}", count=0)
    board = read(tmp_path)
    said = board.curves(sorted(board.runs.by_name), *ALL, points=10)
    assert (said["x"][0], said["x"][-1]) == pytest.approx((0.025, 0.975))


@pytest.mark.parametrize("count", [MANY - 1, MANY])
def test_a_noisy_curve_of_the_training_has_its_mean_too(tmp_path, count):
    folder = write_run(tmp_path / "r", count=count, end=False)
    with open(folder / "metrics.jsonl", "a") as file:
        file.write(line(count, 0.001, net=0) + line(count + 1, float("nan")))
    board = read(tmp_path)
    said = board.curves(["r"], *ALL)["runs"]["r"]
    assert (said["preview"], said["read"]) == (False, 1.0)
    curve = said["curves"]["train loss"]
    assert ("mean" in curve) == (count + 1 >= MANY) and ("mean_x" in curve) == ("mean" in curve)
    assert not any("mean" in c for n, c in said["curves"].items() if not n.startswith("train"))
    assert curve["best"] == [count, 0.001] and curve["loss"] is True
    assert curve["count"] == count + 2 and curve["not_finite"] == [count + 1, 1]
    assert "not_finite" not in said["curves"]["lr"]


def test_how_much_is_read(tmp_path):
    write_run(tmp_path / "r")
    board = Board(Places([str(tmp_path)]))
    said = board.curves(["r"], *ALL)["runs"]["r"]
    assert (said["preview"], said["read"], said["curves"]) == (True, 0.0, {})
    index = board.runs.get("r").index
    index.size, index.done = 3, 2
    said = board.curves(["r"], *ALL)["runs"]["r"]
    assert (said["preview"], said["read"]) == (True, 0.667)
    index.size, index.done, index.previewed = 0, 0, True
    said = board.curves(["r"], *ALL)["runs"]["r"]
    assert (said["preview"], said["read"]) == (True, 1.0)


def test_a_zoom_to_few_buckets_is_read_from_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr("pycaffe_dist.board.series.MOST", 160)
    (tmp_path / "r").mkdir()
    text = "".join(line(i, float(i)) for i in range(300))
    (tmp_path / "r" / "metrics.jsonl").write_text(text)
    board = read(tmp_path)
    assert board.runs.get("r").index.series["train loss"].size == 2
    near = board.curves(["r"], 100, 120)["runs"]["r"]["curves"]["train loss"]
    assert near["x"] == near["y"] == list(range(100, 121))
    far = board.curves(["r"], *ALL)["runs"]["r"]["curves"]["train loss"]
    assert len(far["x"]) == 300  # two of each bucket, from memory
    asked = []
    monkeypatch.setattr(MetricsIndex, "closer", lambda *_: asked.append(1))
    board.curves(["r"], 0, 198)
    assert asked == []  # 101 buckets
    kept = board.curves(["r"], 100, 120)["runs"]["r"]["curves"]["train loss"]
    assert asked and 98 <= kept["x"][0] <= 100  # it cannot be read: the buckets are shown


# -- the rest --------------------------------------------------------------------------------------


def test_three_predictors_are_kept(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(board_module, "Predictor", lambda run: made.append(run.name) or object())
    for name in "abcd":
        folder = write_run(tmp_path / name)
        (folder / "deploy.prototxt").write_text("")
        (folder / "s_iter_1.caffemodel").write_text("")
    board = Board(Places([str(tmp_path)]))
    first = board.predictor("a")
    assert board.predictor("a") is first
    for name in "bcab":
        board.predictor(name)
    assert made == ["a", "b", "c"]
    board.predictor("d")
    assert made == ["a", "b", "c", "d"]
    assert board.predictor("b") and made == ["a", "b", "c", "d"]
    assert board.predictor("a") is not first  # the oldest has gone
    (tmp_path / "c" / "s_iter_2.caffemodel").write_text("")
    board.predictor("c")
    assert made == ["a", "b", "c", "d", "a", "c"]


def test_an_evaluation_is_begun_once_or_again(tmp_path, monkeypatch):
    made = []

    class Evaluation:
        def __init__(self, run, predictor, places):
            made.append((run.name, predictor, places))

        def state(self):
            return {"done": len(made)}

    monkeypatch.setattr(board_module, "Evaluation", Evaluation)
    write_run(tmp_path / "r")
    board = Board(Places([str(tmp_path)]))
    monkeypatch.setattr(board, "predictor", lambda name: f"of {name}")
    assert [board.evaluation("r")["done"] for _ in range(2)] == [1, 1]
    assert board.evaluation("r", again=True) == {"done": 2}
    assert made[0] == ("r", "of r", board.places)


def test_solvers_that_a_run_may_be_started_from(tmp_path):
    for name in ("runs/a_solver.prototxt", "more/b/solver.prototxt", "more/net.prototxt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "more" / "solver_folder.prototxt").mkdir()
    (tmp_path / "x.log").touch()
    places = Places([str(tmp_path / "runs"), str(tmp_path / "x.log")], [str(tmp_path / "more")])
    board = Board(places)
    assert board.solvers() == [
        str(tmp_path / "more" / "b" / "solver.prototxt"),
        str(tmp_path / "runs" / "a_solver.prototxt"),
    ]
    with pytest.raises(FileError, match="there is no database 'x'"):
        board.database("x")


def test_waiting_ends_when_a_run_changes(tmp_path):
    write_run(tmp_path / "r")
    board, found = Board(Places([str(tmp_path)])), []
    waiting = threading.Thread(target=lambda: found.append(board.wait_for_change({}, 60)))
    waiting.start()
    while board.update(board.runs.get("r")):
        pass
    waiting.join(30)
    assert found == [{"r": 1}]


def test_traces_of_runs_and_beside_them(tmp_path):
    """`pcd simulate --timeline` writes a trace where no run is; links lead nowhere."""
    for top in ("a", "b"):
        (tmp_path / top / "deep").mkdir(parents=True)
        write_trace(tmp_path / top / "deep" / "simulated.json")
    write_trace(write_run(tmp_path / "a" / "run") / "trace.json")
    (tmp_path / "a" / "other.json").write_text("{}")
    write_trace(tmp_path / "outside.json")
    (tmp_path / "a" / "link.json").symlink_to(tmp_path / "outside.json")
    board = Board(Places([str(tmp_path / "a"), str(tmp_path / "b")]))
    assert board.traces() == [
        {"run": "run", "trace": "trace.json"},
        {"run": "", "trace": "deep/simulated.json"},
        {"run": "", "trace": "deep/simulated.json'"},
    ]
    said = board.timeline("", "deep/simulated.json'", None, None)
    assert [row["rank"] for row in said["ranks"]] == [0, 1]
    for wrong in ("link.json", "../outside.json", "run/trace.json"):
        with pytest.raises(FileError, match="there is no trace"):
            board.timeline("", wrong, None, None)
