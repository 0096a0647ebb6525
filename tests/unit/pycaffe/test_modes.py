import dataclasses
import logging
import re
import sys

import pytest

import pycaffe_dist as caffe
from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.proto.caffe_pb2 import Phase
from pycaffe_dist.pycaffe import modes
from pycaffe_dist.registry import layer_types
from pycaffe_dist.rng import draw


@pytest.fixture(autouse=True)
def as_it_was():
    kept = dataclasses.replace(modes.SETTINGS)
    yield
    for field in dataclasses.fields(kept):
        setattr(modes.SETTINGS, field.name, getattr(kept, field.name))


@pytest.fixture
def quiet_logger():
    """Our logger without handlers, and as it was afterwards."""
    root = logging.getLogger("pycaffe_dist")
    kept = root.handlers[:], root.level
    root.handlers[:] = []
    yield root
    root.handlers[:] = kept[0]
    root.setLevel(kept[1])


@pytest.mark.parametrize("name", modes.__all__)
def test_all_settings_are_in_the_package(name):
    assert getattr(caffe, name) is getattr(modes, name)
    assert name in caffe.__all__


def test_all_that_the_package_promises_is_there():
    assert all(hasattr(caffe, name) for name in caffe.__all__)
    assert len(set(caffe.__all__)) == len(caffe.__all__)


def test_constants():
    assert (caffe.TRAIN, caffe.TEST) == (0, 1)
    assert (Phase.Value("TRAIN"), Phase.Value("TEST")) == (caffe.TRAIN, caffe.TEST)
    assert caffe.__version__ == "1.0.0"


def test_defaults():
    fresh = modes.Settings()
    assert (fresh.ranks, fresh.rank, fresh.device, fresh.multiprocess) == (1, 0, 0, False)


def test_ranks():
    caffe.set_solver_count(4)
    caffe.set_solver_rank(3)
    caffe.set_multiprocess(True)
    caffe.set_device(2)
    assert (caffe.solver_count(), caffe.solver_rank()) == (4, 3)
    assert modes.SETTINGS.multiprocess is True
    assert modes.SETTINGS.device == 2


def test_there_is_a_cpu_and_no_gpu(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert caffe.set_mode_cpu() is None
    said = r"a GPU was asked for.*pip install.*cupy.*pcd run --cpu SCRIPT"
    with pytest.raises(MissingPartError, match=said) as e:
        caffe.set_mode_gpu()
    assert isinstance(e.value, ImportError)
    assert caffe.has_nccl() is False


def test_the_cpu_instead_of_a_gpu(monkeypatch, quiet_logger, capsys):
    modes._say_cpu_instead.cache_clear()
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setenv("PCD_CPU", "0")
    with pytest.raises(MissingPartError):
        caffe.set_mode_gpu()
    monkeypatch.setenv("PCD_CPU", "1")
    caffe.set_device(1)
    caffe.set_mode_gpu()
    caffe.set_mode_gpu()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("W")
    assert "PCD_CPU is set: computing on the CPU" in line


def test_layer_types_are_listed_in_order():
    names = caffe.layer_type_list()
    assert {"InnerProduct", "Input", "ReLU", "Split"} <= set(names)
    assert names == sorted(names)
    assert names == list(layer_types())
    assert all(isinstance(name, str) for name in names)


def test_a_seed_decides_what_is_drawn():
    draws = []
    for seed in (1701, 1701, 1702):
        caffe.set_random_seed(seed)
        draws.append(draw())
    assert draws[0] == draws[1] != draws[2]


# -- log -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "shown"),
    [
        (0, ["info", "warning", "error"]),
        (1, ["warning", "error"]),
        (2, ["error"]),
        (3, []),
    ],
)
def test_the_log_from_a_severity_on(quiet_logger, capsys, level, shown):
    caffe.init_log(level)
    for name in ("info", "warning", "error"):
        getattr(quiet_logger, name)("a word of %s", name)
    lines = capsys.readouterr().err.splitlines()
    assert [re.search(r"a word of (\w+)$", line)[1] for line in lines] == shown


def test_the_log_once_though_asked_twice(quiet_logger, capsys):
    caffe.init_log()
    caffe.init_log(0, True)
    caffe.log("hello %s")
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"I\d{4} [\d:.]+ +\d+ \S+\] hello %s\n", err)


def test_only_errors_go_to_standard_error_if_told_so(quiet_logger, capsys):
    caffe.init_log(0, False)
    caffe.log("hello")
    assert capsys.readouterr() == ("", "")
    quiet_logger.error("bad")
    assert capsys.readouterr().err.endswith("] bad\n")


def test_caffes_log_needs_no_word_before_it(quiet_logger, monkeypatch, capsys):
    caffe.log("hello")
    assert capsys.readouterr().err.endswith("] hello\n")
    monkeypatch.setenv("GLOG_minloglevel", "1")
    caffe.log("hello")
    assert capsys.readouterr().err == ""


def test_init_log_counts_more_than_the_environment(quiet_logger, monkeypatch, capsys):
    monkeypatch.setenv("GLOG_minloglevel", "2")
    caffe.init_log(0)
    caffe.log("hello")
    assert capsys.readouterr().err.endswith("] hello\n")


def test_of_several_ranks_the_first_one_speaks(quiet_logger, capsys):
    caffe.set_solver_rank(1)
    caffe.log("hello")
    quiet_logger.warning("beware")
    assert capsys.readouterr().err.endswith("] beware\n")
