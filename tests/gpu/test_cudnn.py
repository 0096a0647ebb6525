"""cuDNN's calls, their memory, stream and lifetimes, against a library that stands in for it.

``cudnn_standin.cpp`` has the functions that we call, on the emulated device's memory.
"""

import ctypes
import gc
import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from passes import numbers

from pycaffe_dist.engines.cupy import cudnn
from pycaffe_dist.engines.cupy.convolution import choice
from pycaffe_dist.engines.cupy.convolution.choice import Convolutions
from pycaffe_dist.engines.cupy.convolution.columns import Columns
from pycaffe_dist.engines.cupy.convolution.cudnn import CuDnn
from pycaffe_dist.engines.cupy.cudnn import library
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.solver import Solver
from pycaffe_dist.testing import cupy_standin
from pycaffe_dist.testing.cupy_standin import cuda
from pycaffe_dist.testing.cupy_standin.memory import RaceError, memory_at
from pycaffe_dist.testing.emulation.compiler import compiled
from pycaffe_dist.testing.gpu import emulated

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "golden"
BAD_PARAM, NOT_SUPPORTED, EXECUTION_FAILED = 2000, 3000, 5000
FILL = 'weight_filler { type: "gaussian" std: 1 } bias_filler { type: "gaussian" std: 1 }'
TOLD = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_size_t,
    ctypes.POINTER(ctypes.c_size_t),
    ctypes.POINTER(ctypes.c_longlong),
    ctypes.c_int,
)


def standin(version=90600):
    text = (HERE / "cudnn_standin.cpp").read_text()
    return str(compiled(text.replace("VERSION", str(version))))


class Watched:
    """The stand-in, and what it says of its calls."""

    def __init__(self, engine):
        self.library = library.Library(standin())
        self.own = ctypes.CDLL(self.library.path)
        self.own.standin_fail(b"", 0)
        self.own.standin_spoil(0)
        self.own.standin_need(1000)
        self.maths, self.problems = [], []
        self._told = TOLD(self._call)
        self.own.standin_tell(self._told)
        self.handle = cudnn.Handle(self.library, engine.home.compute.ptr)
        self.stream = engine.home.compute.ptr

    def _call(self, stream, arrays, sizes, math):
        """As a kernel of the stand-in for CuPy: memory of the device, in the stream's order."""
        try:
            assert stream == self.stream
            queue = cuda.stream_at(stream)
            now = queue.begin("cudnn")
            blocks = [memory_at(arrays[i], sizes[i]).block for i in range(4)]
            for i, block in enumerate(blocks):
                touched = block.write if i in (0, 3) else block.read
                touched(queue.number, queue.clock, now)
            self.maths.append(math)
        except (ValueError, RaceError, AssertionError) as e:
            self.problems.append(e)
            return 1
        return 0


@pytest.fixture
def there(monkeypatch):
    """An engine with cuDNN, whose algorithms come first."""
    with emulated() as engine:
        watched = Watched(engine)
        watched.engine = engine
        monkeypatch.setitem(engine.__dict__, "cudnn", watched.handle)
        monkeypatch.setattr(engine, "convolutions", Convolutions(engine))
        engine.convolutions.checking = True
        monkeypatch.setattr(choice, "WAYS", (CuDnn, Columns))
        monkeypatch.setattr(choice, "ordered", lambda case: [w for w in choice.WAYS if w.can(case)])
        yield watched
        assert not watched.problems
    watched.own.standin_tell(TOLD(0))


def used(watched):
    return {name.split()[0] for name in watched.engine.convolutions.choices.used.values()}


CASES = {
    "plain": ("num_output: 4 kernel_size: 3", (2, 3, 6, 5)),
    "strides": (
        "num_output: 4 kernel_h: 3 kernel_w: 2 stride_h: 2 stride_w: 1 pad_w: 1",
        (2, 3, 7, 5),
    ),
    "groups": ("num_output: 6 kernel_size: 3 group: 2 pad: 1", (3, 4, 6, 5)),
    "dilation": ("num_output: 2 kernel_size: 3 dilation: 2 pad: 2", (2, 3, 6, 7)),
    "1x1": ("num_output: 5 kernel_size: 1", (2, 3, 4, 4)),
    "depthwise": ("num_output: 4 kernel_size: 3 group: 4", (2, 4, 6, 5)),
    "one axis": ("num_output: 4 kernel_size: 3 stride: 2 pad: 1", (2, 3, 9)),
    "three axes": ("num_output: 4 kernel_size: 2 group: 2 dilation: 2", (2, 4, 4, 5, 3)),
    "no bias": ("num_output: 4 kernel_size: 3 bias_term: false", (2, 3, 6, 5)),
}


@pytest.mark.parametrize("kind", ["Convolution", "Deconvolution"])
@pytest.mark.parametrize("name", CASES)
def test_the_same_numbers_as_of_columns(there, name, kind, caplog, monkeypatch):
    settings, shape = CASES[name]
    layer = f'type: "{kind}" convolution_param {{ {settings} {FILL} }}'
    x = np.random.default_rng(5).standard_normal(shape)
    found = numbers(layer, x)
    assert used(there) == {"cudnn"} and len(there.maths) == 6, "each checked once, each run once"
    assert not caplog.records
    monkeypatch.setattr(choice, "WAYS", (Columns,))
    there.engine.convolutions._ways.clear()
    for got, want in zip(found, numbers(layer, x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_four_axes_are_left_to_us(there):
    layer = f'type: "Convolution" convolution_param {{ num_output: 2 kernel_size: 2 {FILL} }}'
    numbers(layer, np.ones((1, 2, 3, 3, 3, 3)))
    assert used(there) == {"columns"} and not there.maths


RECORDED = [
    row
    for row in json.loads((GOLDEN / "layers" / "index.json").read_text())
    if row["name"].startswith(("conv", "deconv"))
]


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: row["name"])
def test_recorded_answers(there, row, monkeypatch):
    monkeypatch.syspath_prepend(str(GOLDEN))
    replay = importlib.import_module("replay")
    base = GOLDEN / "layers" / row["name"]
    stored = dict(np.load(f"{base}.npz"))
    given = {k: v for k, v in stored.items() if k.split("/")[0] in ("in", "set", "topdiff")}
    want = {k: v for k, v in stored.items() if k not in given}
    caffe = sys.modules["pycaffe_dist"]
    _, got = replay.run(caffe, f"{base}.prototxt", row["phase"], given, row["steps"], row["grad"])
    assert not replay.compare(want, got)
    assert used(there) == {"cudnn"} and there.maths


XAVIER = 'weight_filler { type: "xavier" }'
NET = f"""
    layer {{ name: "data" type: "DummyData" top: "data" top: "label"
             dummy_data_param {{ shape {{ dim: 4 dim: 3 dim: 12 dim: 12 }} shape {{ dim: 4 }}
                                 data_filler {{ type: "gaussian" }}
                                 data_filler {{ type: "constant" value: 2 }} }} }}
    layer {{ name: "a" type: "Convolution" bottom: "data" top: "a"
             convolution_param {{ num_output: 6 kernel_size: 3 pad: 1 {XAVIER} }} }}
    layer {{ name: "relu" type: "ReLU" bottom: "a" top: "a" }}
    layer {{ name: "b" type: "Convolution" bottom: "a" top: "b"
             convolution_param {{ num_output: 4 kernel_size: 3 stride: 2 group: 2 {XAVIER} }} }}
    layer {{ name: "ip" type: "InnerProduct" bottom: "b" top: "ip"
             inner_product_param {{ num_output: 5 {XAVIER} }} }}
    layer {{ name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }}
"""


def trained():
    text = 'base_lr: 0.01 lr_policy: "fixed" max_iter: 100 random_seed: 3 momentum: 0.9 '
    text += f"display: 10 iter_size: 2 net_param {{ {NET} }}"
    return Solver(parse_text(text, SolverParameter()).message)


def test_a_net_trains_as_with_columns_and_nobody_waits(there, monkeypatch):
    losses = []
    for ways in ((CuDnn, Columns), (Columns,)):
        monkeypatch.setattr(choice, "WAYS", ways)
        there.engine.convolutions._ways.clear()
        training = trained()
        training.step(3)
        counts = cupy_standin.COUNTS
        counts.clear()
        there.maths.clear()
        training.step(5)
        assert counts["synchronise"] + counts["to_host"] + counts["malloc"] == 0, counts
        # Forward and weights' gradients of both layers, the bottom's of the second.
        assert len(there.maths) == (5 * 2 * 5 if CuDnn in ways else 0)
        losses.append(float(training.last_loss))
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


BUILDING = [
    name
    for name in library.SIGNATURES
    if name.startswith(("CreateT", "CreateF", "CreateC", "SetT", "SetF", "SetC", "GetC"))
]
RUNNING = ["ConvolutionForward", "ConvolutionBackwardData", "ConvolutionBackwardFilter"]
LAYER = f'type: "Convolution" convolution_param {{ num_output: 4 kernel_size: 3 {FILL} }}'


@pytest.mark.parametrize("checking", [True, False], ids=["at the check", "later"])
@pytest.mark.parametrize("name", [*BUILDING, *RUNNING])
def test_an_error_of_any_function_leaves_our_kernels_with_one_line(there, name, checking, caplog):
    x = np.random.default_rng(5).standard_normal((2, 3, 6, 5))
    want = numbers(LAYER, x)
    there.engine.convolutions._ways.clear()
    there.engine.convolutions.checking = checking
    there.own.standin_fail(name.encode(), EXECUTION_FAILED)
    for _ in range(2):
        for got, right in zip(numbers(LAYER, x), want, strict=True):
            np.testing.assert_allclose(got, right, rtol=1e-4, atol=1e-5)
    (line,) = [r.getMessage() for r in caplog.records]
    assert line.startswith("cudnn ") and f"cudnn{name} gives CUDNN_STATUS_EXECUTION" in line


@pytest.mark.parametrize("name", ["Create", "SetStream"])
def test_without_a_handle_our_kernels_compute(there, name, caplog, monkeypatch):
    caplog.set_level("INFO", "pycaffe_dist")
    monkeypatch.setattr(cudnn, "load", lambda: there.library)
    there.own.standin_fail(name.encode(), EXECUTION_FAILED)
    assert cudnn.Handle.on(there.stream) is None
    assert f"without cuDNN, by our own kernels: cudnn{name} gives CUDNN" in caplog.text
    monkeypatch.setitem(there.engine.__dict__, "cudnn", None)
    numbers(LAYER, np.ones((2, 3, 6, 5)))
    assert used(there) == {"columns"}


def test_wrong_results_are_found_before_they_are_used(there, caplog):
    x = np.random.default_rng(5).standard_normal((2, 3, 6, 5))
    there.own.standin_spoil(1)
    found = numbers(LAYER, x)
    lines = [r.getMessage() for r in caplog.records]
    assert len(lines) == 3 and all("its results are off by" in line for line in lines)
    assert used(there) == {"columns"}
    there.own.standin_spoil(0)
    there.engine.convolutions._ways.clear()
    for got, want in zip(found, numbers(LAYER, x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_descriptors_go_with_the_ways_that_made_them(there):
    numbers(LAYER, np.ones((2, 3, 6, 5)))
    handle, descriptors = 1, 3 * 4
    gc.collect()
    assert there.own.standin_alive() >= handle + descriptors
    alive = there.own.standin_alive()
    there.engine.convolutions._ways.clear()
    gc.collect()
    assert alive - there.own.standin_alive() == descriptors


def test_too_much_workspace_is_refused_quietly(there, caplog):
    there.own.standin_need((256 << 20) + 1)
    numbers(LAYER, np.ones((2, 3, 6, 5)))
    assert used(there) == {"columns"} and not caplog.records


def test_none_needs_no_workspace(there):
    there.own.standin_need(0)
    numbers(LAYER, np.ones((2, 3, 6, 5)))
    assert used(there) == {"cudnn"}


@pytest.mark.parametrize(("value", "math"), [("1", library.DEFAULT_MATH), ("0", library.FMA_MATH)])
def test_tensor_cores_round_only_where_they_are_asked_to(there, monkeypatch, value, math):
    monkeypatch.setenv("CUPY_TF32", value)
    trained().step(1)
    assert set(there.maths) == {math}


@pytest.fixture
def named(monkeypatch):
    """The library that PCD_CUDNN names, looked for anew."""

    def take(path):
        monkeypatch.setenv(library.VARIABLE, path)
        library.load.cache_clear()

    yield take
    library.load.cache_clear()


@pytest.mark.parametrize(("version", "release"), [(8907, "8.9.7"), (100100, "10.1.0")])
def test_another_version_is_not_used_and_named(named, caplog, version, release):
    caplog.set_level("INFO", "pycaffe_dist")
    named(standin(version))
    assert cudnn.Handle.on(0) is None
    assert f"is cuDNN {release}, version 9 is needed" in caplog.text


def test_no_library_is_one_line(named, caplog, tmp_path):
    caplog.set_level("INFO", "pycaffe_dist")
    named(str(tmp_path / "none.so"))
    assert cudnn.Handle.on(0) is None
    (line,) = [r.getMessage() for r in caplog.records]
    assert "none.so" in line and "pip install" in line


def test_a_library_is_taken_where_it_is_named(named):
    named(standin())
    handle = cudnn.Handle.on(0)
    assert handle is not None and handle.library.release == "9.6.0"


def test_an_emulated_device_is_not_given_to_the_real_one():
    with emulated() as engine:
        assert engine.cudnn is None
