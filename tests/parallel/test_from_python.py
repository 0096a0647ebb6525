"""``caffe.distribute`` and ``caffe.train``: ranks that scripts and notebooks start or join."""

import json
import subprocess
import sys

import pytest
from runs import ENV, Run, write

import pycaffe_dist as caffe
from pycaffe_dist.errors import NetError, PcdError
from pycaffe_dist.parallel.job.mpirun import environment, find_mpirun

DISTRIBUTE = """
import pycaffe_dist as caffe
from pycaffe_dist.parallel.job.launcher import rank_and_size

solver = caffe.SGDSolver("solver.prototxt")
net = solver.net
net.params["ip"][0].data[...] = 1 + rank_and_size()[0]
count = caffe.distribute(solver, comm="allreduce")
first = net.params["ip"][0].data.copy()
BODY
weights = net.params["ip"][0].data
print(count, solver.core.context.ranks, float(first.mean()), weights.tobytes().hex())
"""
TRAIN = """
import json
import pycaffe_dist as caffe

rows = caffe.train("solver.prototxt", CALL)
print(json.dumps(rows))
"""


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where mpirun starts ranks, too
    monkeypatch.setenv("PCD_ENGINE", "numpy")


def script(folder, text, ranks=1):
    (folder / "script.py").write_text(text)
    command = [sys.executable, str(folder / "script.py")]
    if ranks > 1:
        command = find_mpirun().command(ranks, command)
    return Run(folder, command=command, env=environment(ranks, ENV))


def test_one_line_makes_a_script_one_of_the_ranks(tmp_path):
    write(tmp_path)
    script(tmp_path, DISTRIBUTE.replace("BODY", "solver.step(3)"), 2).end(0)
    said = sorted((tmp_path / "stdout.txt").read_text().splitlines())
    assert len(said) == 2 and said[0] == said[1]  # the same weights, to the bit
    count, ranks, first, _ = said[0].split()
    assert (count, ranks, float(first)) == ("2", "2", 1.0)  # rank 0's weights


def test_without_a_launcher_the_same_script_trains_alone(tmp_path):
    write(tmp_path)
    script(tmp_path, DISTRIBUTE.replace("BODY", "solver.step(3)")).end(0)
    assert (tmp_path / "stdout.txt").read_text().startswith("1 1 1.0 ")


def test_an_error_of_a_script_after_it_has_joined_ends_all_ranks(tmp_path):
    write(tmp_path)
    body = "solver.step(2)\nif solver.core.ranks.rank: raise ValueError('mine')\nsolver.step(99999)"
    assert "ValueError: mine" in script(tmp_path, DISTRIBUTE.replace("BODY", body), 2).end(1)


def test_joining_after_the_first_step_is_refused(tmp_path):
    write(tmp_path)
    text = DISTRIBUTE.replace("count = ", "solver.step(1); count = ").replace("BODY", "")
    assert "before its first step" in script(tmp_path, text, 2).end(1)


def test_train_in_this_process_gives_rows_and_calls_back(tmp_path):
    write(tmp_path, steps=10)
    seen = []
    rows = caffe.train("solver.prototxt", callbacks=[seen.append], set=["display=2"])
    assert seen == rows
    assert (rows[0]["kind"], rows[-1]["kind"]) == ("begin", "end")
    shown = [row["iteration"] for row in rows if row["kind"] == "train"]
    assert shown[:5] == [0, 2, 4, 6, 8]


def test_train_starts_ranks_and_follows_them(tmp_path):
    write(tmp_path, steps=10)
    seen = []
    rows = caffe.train(
        "solver.prototxt", ranks=2, callbacks=[seen.append], run_dir="run", overlap=False
    )
    assert seen == rows
    written = [
        json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()
    ]
    assert rows == written
    assert rows[-1]["kind"] == "end" and rows[-1]["iteration"] == 10
    assert "--ranks 2" in (tmp_path / "run/command.txt").read_text()


def test_train_joins_the_ranks_of_mpirun(tmp_path):
    write(tmp_path, steps=4)
    script(tmp_path, TRAIN.replace("CALL", "set=['display=1']"), 2).end(0)
    rows = sorted(map(json.loads, (tmp_path / "stdout.txt").read_text().splitlines()), key=len)
    assert rows[0] == []  # rank 0 alone is told
    assert rows[1][-1]["iteration"] == 4


def test_what_train_cannot_do_is_an_error(tmp_path):
    write(tmp_path, steps=4)
    with pytest.raises(NetError, match="no argument max_itr; did you mean"):
        caffe.train("solver.prototxt", max_itr=3)
    with pytest.raises(NetError, match='there is no "sfbb"'):
        caffe.train("solver.prototxt", comm="sfbb")
    (tmp_path / "net.prototxt").write_text('layer { name: "x" type: "Nothing" }')
    with pytest.raises(PcdError, match="exit code 1"):
        caffe.train("solver.prototxt", ranks=2)


def test_a_callback_that_raises_ends_the_ranks(tmp_path):
    write(tmp_path, steps=10_000_000)

    def stop(row):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        caffe.train("solver.prototxt", ranks=2, callbacks=[stop])
    left = subprocess.run(["pgrep", "-f", str(tmp_path)], capture_output=True, text=True)
    assert left.stdout == ""
