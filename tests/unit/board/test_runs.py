"""What a run's files say of it, without a server."""

import fcntl
import os
import time

import pytest
from made_runs import line, write_run

from pycaffe_dist.board import runs as runs_module
from pycaffe_dist.board.places import Places
from pycaffe_dist.board.runs import Runs
from pycaffe_dist.errors import FileError

LONG_AGO = (1e9, 1e9)


def found(*roots):
    """All runs below some folders, read to their ends."""
    runs = Runs(Places([str(root) for root in roots]))
    runs.find()
    for run in runs.by_name.values():
        while run.read_more():
            pass
    return runs


def one(tmp_path, *lines, name="r", **files):
    """A run with these lines in its metrics."""
    folder = tmp_path / "runs" / name
    folder.mkdir(parents=True)
    (folder / "metrics.jsonl").write_text("".join(lines))
    for file, text in files.items():
        (folder / file.replace("__", ".")).write_text(text)
    return found(tmp_path / "runs").get(name)


# -- a row of the table ----------------------------------------------------------------------------


def resumed(iteration=400):
    """Begun at 100 of 1000; 300 iterations in 6.04 seconds."""
    begin = line(100, 0, "begin", seconds=0, max_iter=1000, net="made")
    return begin, line(iteration, 0.123456789, seconds=6.04)


def test_what_is_left_counts_from_where_a_run_began(tmp_path):
    row = one(tmp_path, *resumed()).summary()
    assert row.pop("updated") == pytest.approx(time.time(), abs=60)
    assert row == {
        "name": "r",
        "state": "running",
        "why": "",
        "iteration": 400,
        "max_iter": 1000,
        "seconds": 6.0,
        "eta": 12.1,  # 600 iterations at 300 in 6.04 seconds
        "best": {"name": "train loss", "iteration": 400, "value": 0.1234568},
        "settings": {},
        "net": "made",
        "preview": False,
        "behind": 0,
        "log": False,
    }


@pytest.mark.parametrize("iteration", [100, 1000, 1200])
def test_nothing_is_left_of_a_run_that_has_not_moved_or_is_at_its_end(tmp_path, iteration):
    assert one(tmp_path, *resumed(iteration)).summary()["eta"] is None


def test_a_run_that_takes_no_time_or_has_died_has_nothing_left(tmp_path):
    fast = one(tmp_path, line(0, 0, "begin", max_iter=9), line(3, 1, seconds=0), name="fast")
    assert fast.summary()["eta"] is None
    died = one(tmp_path, *resumed(), name="died")
    os.utime(died.path, LONG_AGO)
    row = died.summary()
    assert (row["state"], row["eta"], row["updated"]) == ("failed", None, 1e9)
    assert "ended without a word" in row["why"]
    died.path.unlink()
    assert died.summary()["updated"] == 0


def test_the_last_iteration_is_told_by_the_run_or_else_by_its_solver(tmp_path):
    solver = 'net: "n"\nmax_iter: 70\ntype: "Adam"\nsnapshot_prefix: "x"\ntest_iter: 3\n'
    alone = one(tmp_path, line(3, 1), name="alone", solver__prototxt=solver)
    assert alone.max_iter == 70
    assert alone.settings == {"max_iter": "70", "type": "Adam"}
    both = one(tmp_path, *resumed(), name="both", solver__prototxt=solver)
    assert both.max_iter == 1000
    strange = one(tmp_path, line(0, 0, "begin", max_iter="soon"), name="strange")
    assert strange.max_iter == 0
    assert one(tmp_path, line(3, 1), name="none").max_iter == 0


def test_the_best_is_of_a_score_then_of_a_test_s_loss_then_of_the_training_s(tmp_path):
    tested = {"outputs": {"l": 0.25}, "loss_weights": {"l": 1}, "net": 0}
    rows = [line(1, 3.0), line(1, None, "test", **tested), line(2, 2.0)]
    loss = one(tmp_path, *rows, name="loss")
    assert loss.best() == {"name": "test l", "iteration": 1, "value": 0.25}
    scored = line(2, None, "test", **tested | {"outputs": {"l": 0.5, "acc": 1 / 3}})
    score = one(tmp_path, *rows, scored, name="score")
    assert score.best() == {"name": "test acc", "iteration": 2, "value": 0.3333333}
    assert one(tmp_path, rows[0], rows[2], name="train").best()["value"] == 2
    assert one(tmp_path, line(0, 0, "begin"), name="empty").best() is None


# -- whether it runs, and why not ------------------------------------------------------------------


def test_the_process_that_trains_holds_a_lock(tmp_path):
    run = one(tmp_path, line(3, 1))
    (run.folder / ".other.lock").touch()
    with open(run.folder / ".s.lock", "w") as lock:
        assert run.process() is None
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert run.process() == os.getpid()
        os.utime(run.path, LONG_AGO)
        assert run.state() == ("running", "")
    assert run.process() is None and run.state()[0] == "failed"


def test_a_metrics_file_alone_has_no_process_and_no_files(tmp_path):
    (tmp_path / "a.metrics.jsonl").write_text(line(3, 1))
    run = found(tmp_path).get("a")
    assert run.process() is None and run.last_failure() == "" and run.text("train.log") == ""
    with pytest.raises(FileError, match=r"a: has no net.prototxt; `pcd train --run-dir` writes"):
        run.file("net.prototxt")


def failure(words):
    return f"E1118 10:00:00.000000     1 solver.cpp:1] {words}\n"


def test_the_last_failure_is_looked_for_at_the_end_of_the_log(tmp_path):
    long = failure("long ago") + "x" * runs_module.TAIL
    run = one(tmp_path, line(3, 1), train__log=long)
    assert run.last_failure() == ""
    (run.folder / "train.log").write_text(long + "\n" + failure("a") + failure("b" * 600))
    assert run.last_failure() == "b" * 500
    (run.folder / "board.log").write_text("pcd train: no such solver\n")
    assert run.last_failure() == "no such solver"


# -- logs of Caffe's -------------------------------------------------------------------------------

HEAD = "I1116 00:23:{:02}.5 12202 solver.cpp:239] "


def told(at, *words):
    return "".join(f"{HEAD.format(at)}{word}\n" for word in words)


def log_of(tmp_path, text, name="old.log"):
    (tmp_path / name).write_text(text)
    return found(tmp_path).get(name)


def test_a_log_is_read_again_when_it_has_changed(tmp_path, monkeypatch):
    text = told(1, "Iteration 0, loss = 2.5") + told(3, "Iteration 100, loss = 1.5")
    run = log_of(tmp_path, text)
    assert run.state() == ("running", "")
    assert list(run.index.series) == ["train loss"]  # a rate that is not told is none
    assert run.index.series["train loss"].last == (100, 1.5) and run.index.seconds == 2
    assert run.index.done == run.index.size == len(text) and not run.read_more()
    run.path.write_text(text + told(5, "Iteration 200, loss = 1.25", "Iteration 200, lr = 0.5"))
    os.utime(run.path, LONG_AGO)
    assert run.read_more() and not run.read_more()
    assert run.index.series["train loss"].count == 3
    assert run.index.series["lr"].last == (200, 0.5)
    os.utime(run.path, (1e9 + 5, 1e9 + 5))
    monkeypatch.setattr(runs_module, "LONGEST_LOG", run.path.stat().st_size - 1)
    assert not run.read_more()
    monkeypatch.setattr(runs_module, "LONGEST_LOG", run.path.stat().st_size)
    assert run.read_more()
    run.path.unlink()
    assert not run.read_more()


def test_how_a_log_ends(tmp_path):
    text = told(1, "Iteration 0, loss = 2.5")
    ends = {
        "done.log": told(2, "Optimization Done."),
        "failed.log": failure("first") + failure("second") + failure("the disk is full"),
        "caffe.INFO.log": "",
    }
    runs = {name: log_of(tmp_path, text + end, name) for name, end in ends.items()}
    for run in runs.values():
        os.utime(run.path, LONG_AGO)
    assert [run.state() for run in runs.values()] == [
        ("done", ""),
        ("failed", "the disk is full"),
        ("stopped", "the log ends before its end"),
    ]


# -- which runs there are --------------------------------------------------------------------------


def test_what_counts_as_a_run_and_how_it_is_called(tmp_path):
    write_run(tmp_path / "a" / "b" / "run")
    write_run(tmp_path / "1" / "2" / "3" / "deep")
    write_run(tmp_path / "1" / "2" / "3" / "4" / "deeper")
    write_run(tmp_path / ".hidden")
    (tmp_path / "a" / "b" / "run" / "train.log").write_text("part of the run\n")
    for name in ("x.metrics.jsonl", "y.log", "caffe.host.INFO", "z.txt", "a/w.log"):
        (tmp_path / name).write_text("")
    runs = found(tmp_path)
    assert sorted(runs.by_name) == [
        *("1/2/3/deep", "a/b/run", "a/w.log", "caffe.host.INFO", "x", "y.log")
    ]
    assert [n for n, run in runs.by_name.items() if run.is_log] == [
        *("caffe.host.INFO", "y.log", "a/w.log")
    ]
    assert runs.get("x").folder is None and runs.get("a/b/run").folder == tmp_path / "a/b/run"
    with pytest.raises(FileError, match="there is no run 'z'"):
        runs.get("z")


def test_a_run_a_metrics_file_or_a_log_may_be_given_itself(tmp_path):
    run = write_run(tmp_path / "mine")
    (tmp_path / "c.log").write_text("")
    runs = found(run, run / "metrics.jsonl", tmp_path / "c.log", run)
    assert {name: r.is_log for name, r in runs.by_name.items()} == {
        "mine": False,
        "metrics.jsonl": False,
        "c.log": True,
        "mine'": False,
    }
    assert runs.get("mine").index.size == (run / "metrics.jsonl").stat().st_size


def test_known_runs_stay_and_those_that_are_gone_go(tmp_path, monkeypatch):
    write_run(tmp_path / "a")
    write_run(tmp_path / "b")
    runs = found(tmp_path)
    before = runs.get("a")
    (tmp_path / "b" / "metrics.jsonl").unlink()
    write_run(tmp_path / "c")
    runs.find()
    assert sorted(runs.by_name) == ["a", "c"] and runs.get("a") is before
    monkeypatch.setattr(runs_module, "MOST_RUNS", 1)
    runs.find()
    assert sorted(runs.by_name) == ["a"]


def test_a_run_that_continues_another_has_it_as_its_parent(tmp_path):
    first, second, third = (write_run(tmp_path / "runs" / n) for n in ("a", "b", "c"))
    (second / "command.txt").write_text(f"pcd train --weights {first}/x_iter_9.caffemodel\n")
    (third / "command.txt").write_text(f"pcd train --snapshot {third}/x_iter_9.solverstate\n")
    assert found(tmp_path / "runs").parents() == {"b": "a"}
