"""How a GPU is asked for, on a machine with an emulated one and on machines without."""

import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import pycaffe_dist as caffe
from pycaffe_dist import engines
from pycaffe_dist.engines.base import chosen_engine, set_default_engine
from pycaffe_dist.engines.cupy import backend, device_ids
from pycaffe_dist.errors import MissingPartError, PcdError
from pycaffe_dist.pycaffe.modes import SETTINGS
from pycaffe_dist.testing import cupy_standin
from pycaffe_dist.testing.gpu import emulated

NET = """
layer { name: "data" type: "DummyData" top: "data" top: "label"
        dummy_data_param { shape { dim: 4 dim: 3 } shape { dim: 4 }
                           data_filler { type: "gaussian" }
                           data_filler { type: "constant" value: 1 } } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip"
        inner_product_param { num_output: 2 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
"""
SOLVER = """
net: "net.prototxt" base_lr: 0.1 lr_policy: "fixed" max_iter: 6 display: 2 random_seed: 1
snapshot_prefix: "run" momentum: 0.9 solver_mode: GPU device_id: 1
"""


@pytest.fixture(autouse=True)
def as_before():
    yield
    set_default_engine(None)
    SETTINGS.device = 0


def without(what):
    """A CuPy on a machine where something is missing."""

    def count():
        if what == "driver":
            raise RuntimeError("cudaErrorInsufficientDriver: CUDA driver version is insufficient")
        return 0

    runtime = SimpleNamespace(getDeviceCount=count)
    return SimpleNamespace(__name__="cupy", cuda=SimpleNamespace(runtime=runtime))


@pytest.mark.parametrize(
    ("what", "words"),
    [("driver", "driver does not answer .cudaErrorInsufficientDriver"), ("device", "no device")],
)
def test_what_is_missing_is_said_in_one_line(what, words):
    backend.install(without(what))
    try:
        with pytest.raises(MissingPartError, match=words) as e:
            caffe.set_mode_gpu()
    finally:
        backend.remove()
    assert "\n" not in str(e.value)
    assert chosen_engine() is None


def test_without_cupy_the_command_that_brings_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(MissingPartError, match="pip install 'cupy") as e:
        engines.create("cupy")
    assert "\n" not in str(e.value)


def test_auto_goes_to_the_cpu_and_says_so(caplog):
    backend.install(without("device"))
    try:
        with caplog.at_level("WARNING", logger="pycaffe_dist"):
            assert engines.asked_for("auto", 0).device is None
        assert "Computing on the CPU instead" in caplog.text
        with pytest.raises(MissingPartError):
            engines.asked_for(None, 0)
        assert engines.asked_for("numpy", 0) is engines.NUMPY
    finally:
        backend.remove()


def test_device_ids():
    with emulated():
        assert device_ids("all") == [0, 1]
        assert device_ids("1") == [1]
        assert device_ids("1,0") == [1, 0]
        with pytest.raises(MissingPartError, match="no GPU 2; this machine has 2"):
            device_ids("0,2")
        with pytest.raises(PcdError, match="write 0, or 0,1, or all"):
            device_ids("first")
        with pytest.raises(MissingPartError, match="GPU 7 was asked for, but this machine has 2"):
            engines.create("cupy", 7)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "net.prototxt").write_text(NET)
    (tmp_path / "solver.prototxt").write_text(SOLVER)
    return tmp_path


def test_pycaffe_computes_on_the_gpu_that_is_set(folder):
    with emulated():
        set_default_engine(None)
        caffe.set_device(1)
        caffe.set_mode_gpu()
        net = caffe.Net(str(folder / "net.prototxt"), caffe.TRAIN)
        assert net.core.context.engine is engines.create("cupy", 1)
        net.forward()
        blob = net.blobs["ip"]
        cupy_standin.COUNTS.clear()
        pointer = blob._gpu_data_ptr
        assert cupy_standin.COUNTS["synchronise"], "kernels may still write what it points at"
        where = net.core.context.home
        assert pointer == blob.data_value.read(where).data.ptr != blob._gpu_diff_ptr
        caffe.set_device(0)
        assert chosen_engine() is engines.create("cupy", 0)
        caffe.set_mode_cpu()
        assert chosen_engine() is None
        with pytest.raises(PcdError, match="set_mode_gpu first"):
            blob._gpu_data_ptr  # noqa: B018


def test_a_python_layer_sees_plain_arrays_between_layers_on_the_gpu(folder):
    text = """
        force_backward: true
        layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 } } }
        layer { name: "twice" type: "Power" bottom: "x" top: "y" power_param { scale: 2 } }
        layer { name: "mine" type: "Python" bottom: "y" top: "z"
                python_param { module: "mine" layer: "Mine" } }
        layer { name: "half" type: "Power" bottom: "z" top: "w" loss_weight: 1
                power_param { scale: 0.5 } }
    """
    code = """
import pycaffe_dist as caffe

class Mine(caffe.Layer):
    def setup(self, bottom, top):
        pass
    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].data.shape)
    def forward(self, bottom, top):
        top[0].data[...] = bottom[0].data + 1
    def backward(self, top, propagate_down, bottom):
        bottom[0].diff[...] = 3 * top[0].diff
"""
    (folder / "mixed.prototxt").write_text(text)
    (folder / "mine.py").write_text(code)
    sys.path.insert(0, str(folder))
    try:
        with emulated():
            net = caffe.Net(str(folder / "mixed.prototxt"), caffe.TRAIN)
            x = np.arange(6.0).reshape(2, 3)
            net.forward(x=x)
            np.testing.assert_allclose(net.blobs["w"].data, (2 * x + 1) / 2)
            net.backward()
            np.testing.assert_allclose(net.blobs["x"].diff, np.full((2, 3), 3.0))
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop("mine", None)


def pcd(folder, *args, code=0, emulate=True):
    environment = {k: v for k, v in os.environ.items() if k != backend.VARIABLE}
    environment["CUDA_VISIBLE_DEVICES"] = ""
    if emulate:
        environment[backend.VARIABLE] = "emulated"
    done = subprocess.run(
        [sys.executable, "-m", "pycaffe_dist", *args],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=150,
    )
    assert done.returncode == code, done.stderr
    return done.stderr


def test_training_where_the_solver_says(folder):
    log = pcd(folder, "train", "-solver", "solver.prototxt")
    assert "Using GPUs 1" in log and "Optimization Done." in log
    assert (folder / "run_iter_6.caffemodel").exists()
    on_cpu = pcd(folder, "train", "-solver", "solver.prototxt", "--set", "solver_mode=CPU")
    assert "Use CPU." in on_cpu
    assert len(losses(log)) == 4
    np.testing.assert_allclose(losses(log), losses(on_cpu), rtol=1e-4)


def losses(log):
    return [float(line.split("loss = ")[1]) for line in log.splitlines() if ", loss =" in line]


def test_two_gpus_are_two_ranks_that_train_as_two_of_the_cpu_do(folder):
    pytest.importorskip("mpi4py")
    there = pcd(folder, "train", "-solver", "solver.prototxt", "-gpu", "0,1")
    assert "2 ranks" in there and "GPU ranks exchange by NCCL" in there
    on_cpu = ("--ranks", "2", "--engine", "numpy")
    here = pcd(folder, "train", "-solver", "solver.prototxt", *on_cpu)
    assert len(losses(here)) == 4
    np.testing.assert_allclose(losses(there), losses(here), rtol=1e-4)


def test_time_test_and_device_query(folder):
    assert "Use GPU with device ID 1" in pcd(
        folder, "time", "-model", "net.prototxt", "-gpu", "1", "-iterations", "1"
    )
    pcd(folder, "train", "-solver", "solver.prototxt", "-gpu", "0", "-q")
    weights = "run_iter_6.caffemodel"
    log = pcd(
        folder,
        *(
            "test",
            "-model",
            "net.prototxt",
            "-weights",
            weights,
            "-gpu",
            "0",
            "-iterations",
            "2",
            "-v",
        ),
    )
    assert "Use GPU with device ID 0" in log and "Loss: " in log
    for args in (["-gpu", "all"], []):
        lines = pcd(folder, "device_query", *args)
        assert lines.count("Device id:") == 2
        assert "Name:                          emulated on the CPU" in lines
        assert lines.count("cuDNN:") == 1


def test_a_machine_without_a_gpu_says_so_and_fails_unless_auto_is_asked_for(folder):
    for args in (["-gpu", "0"], ["-gpu", "all"], []):
        log = pcd(folder, "train", "-solver", "solver.prototxt", *args, code=1, emulate=False)
        assert "a GPU was asked for" in log and "Traceback" not in log
    assert "No GPU can be used here: " in pcd(folder, "device_query", emulate=False)
    assert "a GPU was asked for" in pcd(folder, "device_query", "-gpu", "0", code=1, emulate=False)
    log = pcd(folder, "train", "-solver", "solver.prototxt", "--engine", "auto", emulate=False)
    assert "Computing on the CPU instead" in log and "Optimization Done." in log


def test_the_stand_in_is_only_taken_when_asked_for(monkeypatch):
    monkeypatch.setenv(backend.VARIABLE, "emulated")
    assert backend.cupy() is cupy_standin and backend.is_emulated()
    monkeypatch.delenv(backend.VARIABLE)
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(MissingPartError):
        backend.cupy()
