import errno
import os
from pathlib import Path

import pytest

from pycaffe_dist.errors import FileError
from pycaffe_dist.parallel.job import lifeline
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.tools import run_folder
from pycaffe_dist.tools.run_folder import claim, describe, next_name


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(lifeline.AGAIN, raising=False)


@pytest.fixture
def run():
    claim("runs/1", "")
    Path("runs/1/metrics.jsonl").write_text('{"kind": "begin"}\n')
    Path("runs/1/net_iter_5.solverstate").touch()
    return "runs/1"


def test_a_folder_that_holds_a_run_is_refused_and_a_name_offered(run):
    with pytest.raises(FileError) as e:
        claim(run, "")
    assert "runs/1: holds a run already" in str(e.value)
    assert "--resume auto" in str(e.value)
    assert "--run-dir runs/1-2" in str(e.value)


def test_a_state_of_another_folder_does_not_go_on_here(run):
    claim("runs/2", "runs/1/net_iter_5.solverstate")
    with pytest.raises(FileError, match="holds a run already"):
        claim(run, "runs/2/net_iter_5.solverstate")
    with pytest.raises(FileError, match="holds a run already"):
        claim(run, "nowhere/net_iter_5.solverstate")


@pytest.mark.parametrize("resume", ["auto", "runs/1/net_iter_5.solverstate"])
def test_a_run_that_goes_on_has_its_folder(run, resume):
    claim(run, resume)
    claim(os.path.abspath(run) + "/", resume)


def test_a_job_that_is_started_again_has_its_folder(run, monkeypatch):
    monkeypatch.setenv(lifeline.AGAIN, "1")
    claim(run, "")


def test_what_failed_before_it_began_is_in_nobodys_way(run):
    claim("runs/failed", "")
    for name in ("train.log", "command.txt", "solver.prototxt"):
        Path("runs/failed", name).write_text("x")
    Path("runs/failed/metrics.jsonl").touch()
    claim("runs/failed", "")


def test_next_names(tmp_path):
    for name in ("a", "a-2", "b-7", "c"):
        Path(name).mkdir()
    assert [next_name(n) for n in ("a", "a/", "a-2", "b-7", "c", "/x/-3")] == [
        *("a-3", "a-3", "a-3", "b-8", "c-2", "/x/-3-2")
    ]


def test_where_no_folder_can_be(monkeypatch):
    Path("file").touch()
    with pytest.raises(FileError, match="file: is a file, and a folder is needed"):
        claim("file", "")
    with pytest.raises(FileError, match="file/run: the folder cannot be made: Not a directory"):
        claim("file/run", "")

    def read_only(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "mkdir", read_only)
    with pytest.raises(FileError, match="run: the folder cannot be made: Read-only file system"):
        claim("run", "")


def test_commands_add_up(monkeypatch):
    monkeypatch.setattr(run_folder, "gather", list)
    claim("run", "")
    text = 'net_param { layer { name: "x" type: "DummyData" top: "x" } }'
    for command in ("pcd train -solver s", "pcd train -solver s --resume auto"):
        describe("run", command, parse_text(text, SolverParameter()).message)
    lines = Path("run/command.txt").read_text().splitlines()
    assert lines == ["pcd train -solver s", "pcd train -solver s --resume auto"]
    assert "DummyData" in Path("run/net.prototxt").read_text()
