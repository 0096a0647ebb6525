"""Where a run writes, and where it does not."""

from pathlib import Path

import pytest

from pycaffe_dist.errors import FileError
from pycaffe_dist.tools import run_folder, train_reports
from pycaffe_dist.tools.train import TrainOptions, resolve, train

SOLVER = """base_lr: 0.1 lr_policy: "fixed" max_iter: 4 snapshot: 2 snapshot_prefix: "net"
display: 1
net_param {
  layer { name: "x" type: "DummyData" top: "x" top: "t"
          dummy_data_param { shape { dim: 2 dim: 3 } shape { dim: 2 dim: 1 } } }
  layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip"
          inner_product_param { num_output: 1 } }
  layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "t" top: "loss" }
}"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Train in a folder of its own; standard error stays as it is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(train_reports, "log_to_stderr", lambda _: None)
    monkeypatch.setattr(run_folder, "gather", list)
    Path("solver.prototxt").write_text(SOLVER)

    def run(**options):
        assert train(TrainOptions("solver.prototxt", **options)) == 0

    return run


def contents(folder):
    return {path: path.read_bytes() for path in Path(folder).iterdir()}


def test_a_folder_holds_one_run(run, caplog):
    caplog.set_level("INFO", "pycaffe_dist")
    run(run_dir="runs/1", command="pcd train --run-dir runs/1")
    before = contents("runs/1")
    with pytest.raises(FileError, match=r"runs/1: holds a run already.* --run-dir runs/1-2"):
        run(run_dir="runs/1", max_iter=1)
    assert contents("runs/1") == before
    run(run_dir="runs/1", max_iter=6, resume="auto", command="pcd train --resume auto")
    log = Path("runs/1/train.log").read_bytes()
    assert log.startswith(before[Path("runs/1/train.log")])
    assert b"Iteration 5" in log.removeprefix(before[Path("runs/1/train.log")])
    commands = Path("runs/1/command.txt").read_text().splitlines()
    assert commands == ["pcd train --run-dir runs/1", "pcd train --resume auto"]


def test_a_dry_run_writes_nothing_into_a_folder(run):
    run(run_dir="runs/1", dry_run=1)
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"run_dir": "solver.prototxt"}, "^solver.prototxt: is a file, and a folder is needed"),
        ({"run_dir": "solver.prototxt/run"}, "^solver.prototxt/run: the folder cannot be made"),
        ({"run_dir": "/proc/run"}, "^/proc/run: the folder cannot be made"),
        ({"log_file": "solver.prototxt/log"}, "^solver.prototxt: is a file"),
        ({"log_file": "."}, ": cannot be written: Is a directory"),
    ],
)
def test_places_where_nothing_can_be_written(run, options, text):
    with pytest.raises(FileError, match=text):
        run(**options)


@pytest.mark.parametrize("deterministic", [True, False])
def test_a_deterministic_run_does_not_choose_by_the_clock(run, monkeypatch, deterministic):
    from pycaffe_dist.engines.onednn.core.remembered import CHOICES

    monkeypatch.setattr(CHOICES, "measuring", True)
    run(engine="onednn", deterministic=deterministic, dry_run=1)
    assert CHOICES.measuring != deterministic


def test_a_deterministic_run_has_a_seed(run):
    def seed(**options):
        return resolve(TrainOptions("solver.prototxt", **options)).random_seed

    assert seed() == -1
    assert seed(deterministic=True) == 1
    assert seed(deterministic=True, seed=0) == 0
    assert seed(deterministic=True, seed=7) == 7


def test_the_folder_of_a_log_is_made(run, caplog):
    caplog.set_level("INFO", "pycaffe_dist")
    run(log_file="logs/today/log", dry_run=1)
    assert "Optimization Done" in Path("logs/today/log").read_text()


OUTPUTS = [".net.lock", "net_iter_0.tempfile", "train.log", "metrics.jsonl", "command.txt"]
REPLACED = ["solver.prototxt", "info.json", "net_iter_2.caffemodel", "net_iter_2.pcdstate"]


@pytest.mark.parametrize("name", [*OUTPUTS, *REPLACED])
def test_a_link_under_the_name_of_an_output_harms_nothing(run, name):
    """As a folder may have that was cloned: whoever made it does not choose what we write to."""
    Path("run").mkdir()
    Path("victim").write_text("precious")
    (Path("run") / name).symlink_to("../victim")
    if name in REPLACED:
        run(run_dir="run")
        assert not (Path("run") / name).is_symlink()
    else:
        with pytest.raises(FileError, match=f"{name}: cannot be .*a symbolic link"):
            run(run_dir="run", resume="auto")
    assert Path("victim").read_text() == "precious"
    assert not [
        p for p in Path("run").iterdir() if p.name != name and b"precious" in p.read_bytes()
    ]
