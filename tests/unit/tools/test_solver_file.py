"""The verdict on a solver is the same wherever it is asked for."""

import pytest

from pycaffe_dist.errors import FileError, NetError, PcdError
from pycaffe_dist.tools.check import check_file
from pycaffe_dist.tools.plan import PlanOptions, Training, plan_of
from pycaffe_dist.tools.train import TrainOptions, resolve

NET = """layer { name: "x" type: "DummyData" top: "x" top: "t"
        dummy_data_param { shape { dim: 2 dim: 3 } shape { dim: 2 dim: 1 } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip"
        inner_product_param { num_output: 1 } }
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "t" top: "loss" }"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    """A project whose solver names its net and its snapshots from the top; its solver's path."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models" / "small").mkdir(parents=True)
    (tmp_path / "models" / "small" / "net.prototxt").write_text(NET)

    def write(settings, prefix="models/small/run"):
        path = tmp_path / "models" / "small" / "solver.prototxt"
        net = 'net: "models/small/net.prototxt"'
        path.write_text(f'{net} snapshot_prefix: "{prefix}" {settings}')
        return str(path)

    return write


GOOD = 'lr_policy: "fixed" base_lr: 0.1 max_iter: 1'
SETTINGS = [
    (GOOD, ""),
    ('lr_policy: "fixed" base_lr: 0 max_iter: 0', ""),
    ('lr_policy: "fixed" max_iter: 1', "base_lr is missing"),
    ('lr_policy: "fixed" base_lr: 0.1', "max_iter is missing: training would end at once"),
    ('lr_policy: "fixed" base_lr: -0.1 max_iter: 1', "base_lr is -0.1"),
    ('lr_policy: "fixed" base_lr: 0.1 max_iter: -1', "max_iter is -1"),
    ('lr_policy: "exp" gamma: -1 base_lr: 0.1 max_iter: 1', '"exp" needs gamma >= 0, not -1'),
    ('lr_policy: "exp" base_lr: 0.1 max_iter: 1', '"exp" needs gamma'),
    ('lr_policy: "exp" gamma: 0 base_lr: 0.1 max_iter: 1', ""),
    ('lr_policy: "multistep" gamma: 0.1 base_lr: 0.1 max_iter: 1', "needs stepvalue"),
    (f'{GOOD} type: "AdaGrad" momentum: 0.9', "momentum cannot be used"),
]


@pytest.mark.parametrize(("settings", "problem"), SETTINGS)
def test_settings(write, settings, problem):
    path = write(settings)
    errors = check_file(path).errors
    assert [problem in error for error in errors] == [True] * bool(problem)
    if problem:
        with pytest.raises(NetError) as raised:
            resolve(TrainOptions(path))
        assert str(raised.value) == "\n".join(errors)
    else:
        resolve(TrainOptions(path))


def test_all_that_is_wrong_comes_at_once(write):
    with pytest.raises(NetError, match=r"base_lr is missing[^\n]*\n.*max_iter is missing"):
        resolve(TrainOptions(write('lr_policy: "fixed"')))


def test_what_flags_give_is_not_missing(write):
    path = write('lr_policy: "fixed"')
    assert resolve(TrainOptions(path, set=["base_lr=0.5"], max_iter=3)).max_iter == 3
    assert resolve(TrainOptions(path, set=["base_lr=0.5"], dry_run=2)).max_iter == 2


def test_a_net_seen_from_another_folder(write, tmp_path, monkeypatch):
    path = write(GOOD)
    monkeypatch.chdir(tmp_path / "models")
    (error,) = check_file(path).errors
    assert error.endswith(f"it is, seen from {tmp_path}: run from that folder")
    for look in (
        lambda: resolve(TrainOptions(path)),
        lambda: plan_of(PlanOptions(Training(path), ranks=2, gflops=1)),
    ):
        with pytest.raises(FileError) as raised:
            look()
        assert str(raised.value) == error


def test_the_folder_of_snapshots(write, tmp_path, monkeypatch):
    path = write(GOOD, prefix="runs/a/net")
    (warning,) = check_file(path).warnings
    assert "the folder of snapshot_prefix" in warning
    assert warning.endswith(f"seen from {tmp_path}: make it, or use --run-dir")
    with pytest.raises(PcdError) as raised:
        resolve(TrainOptions(path))
    assert str(raised.value) == warning
    resolve(TrainOptions(path, run_dir="out"))
    resolve(TrainOptions(path, dry_run=1))
    (tmp_path / "runs" / "a").mkdir(parents=True)
    assert check_file(path).warnings == []
    resolve(TrainOptions(path))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    text = f"it is, seen from {tmp_path}: run from that folder"
    with pytest.raises(FileError, match=text):
        resolve(TrainOptions(path, set=[f'net="{tmp_path}/models/small/net.prototxt"']))
