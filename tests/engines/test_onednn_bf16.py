"""Products in bfloat16: rounded operands, sums of fp32, and fp32 wherever a user looks."""

import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from pycaffe_dist import engines
from pycaffe_dist.engines import NUMPY, create
from pycaffe_dist.engines.onednn.core import library
from pycaffe_dist.engines.onednn.core.bfloat16 import Rounded, narrowed, rounded, widened
from pycaffe_dist.engines.onednn.core.library import BF16, F32
from pycaffe_dist.engines.onednn.core.primitives import Layout, plain
from pycaffe_dist.engines.onednn.core.products import mark_of
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.memory import HOST
from pycaffe_dist.net import Net
from pycaffe_dist.pool import Pool
from pycaffe_dist.proto.caffe_pb2 import NetParameter, SolverParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.rng import set_random_seed
from pycaffe_dist.solver import Solver
from pycaffe_dist.solvers import snapshots
from pycaffe_dist.testing.twins import Twins

HARDWARE = library.load().has_bf16
PRECISIONS = ["bf16-emulated", *["bf16"] * HARDWARE]
STEP = 2.0**-8  # a number and its bf16 differ at most by half of this, relative to the number
needs_hardware = pytest.mark.skipif(not HARDWARE, reason="no avx512_bf16 or AMX")


@pytest.fixture(params=PRECISIONS)
def engine(request):
    return create("onednn").at(request.param)


# -- numbers ---------------------------------------------------------------------------------------


def test_rounding_is_to_the_nearest_and_ties_go_to_even():
    one, step = 1.0, 2.0**-7
    values = [one + step / 2, one + 1.5 * step, one + 0.6 * step, -one - 0.4 * step, 3e38 * 1.1]
    want = [one, one + 2 * step, one + step, -one, np.float32(3e38 * 1.1)]
    got = rounded(np.array(values, np.float32))
    np.testing.assert_allclose(got, want, rtol=2e-3)
    assert list(got[:4]) == want[:4]
    special = rounded(np.array([np.nan, np.inf, -np.inf, -0.0, 3.4e38], np.float32))
    assert np.isnan(special[0])
    assert list(special[1:]) == [np.inf, -np.inf, 0, np.inf]
    assert np.signbit(special[3])
    small_nan = np.array([0x7F800001], np.uint32).view(np.float32)
    assert np.isnan(rounded(small_nan)).all()


@needs_hardware
def test_oneDNN_rounds_as_we_do():
    values = np.random.default_rng(0).integers(0, 1 << 32, 4096, np.uint32).view(np.float32)
    values = values[np.isfinite(values) & (np.abs(values) > 1e-37)]
    layout = plain((values.size,), BF16)
    room = layout.allocate(layout.count, layout.dtype)
    layout.load(np.ascontiguousarray(values), room)
    np.testing.assert_array_equal(room, narrowed(values))
    back = np.empty_like(values)
    layout.store(room, back)
    np.testing.assert_array_equal(back, widened(room))


def test_a_layout_in_bf16_is_no_plain_memory():
    layout = plain((3, 5), BF16)
    assert layout.home is layout and not layout.is_plain
    assert layout.allocate(15, np.dtype(np.float32)).dtype == np.uint16
    assert plain((3, 5)).home is HOST


def test_memory_used_in_turn_serves_both_types():
    pool, odd = Pool(), plain((101,), BF16)
    room = pool.room(odd, 101, np.dtype(np.float32))
    assert (room.dtype, room.size) == (np.uint16, 101)
    pool.give(room)
    other = pool.room(HOST, 50, np.dtype(np.float32))
    assert (other.dtype, other.size) == (np.float32, 50)
    pool.give(other)
    assert pool.room(odd, 101, np.dtype(np.float32)) is room
    assert pool.allocated == 256  # whole cache lines


# -- products --------------------------------------------------------------------------------------

CONV = """
force_backward: true
layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ {x} }} }} }}
layer {{ name: "y" type: "{type}" bottom: "x" top: "y" {param} }}
"""
GEOMETRIES = {
    "3x3": ((2, 16, 9, 7), "num_output: 32 kernel_size: 3 pad: 1"),
    "1x1": ((2, 32, 6, 6), "num_output: 48 kernel_size: 1"),
    "few channels": ((3, 3, 15, 15), "num_output: 16 kernel_size: 5 stride: 2"),
    "odd channels": ((2, 20, 8, 8), "num_output: 50 kernel_size: 5"),
    "groups": ((2, 32, 7, 7), "num_output: 32 kernel_size: 3 pad: 1 group: 2"),
    "depthwise": ((2, 16, 7, 7), "num_output: 16 kernel_size: 3 pad: 1 group: 16 bias_term: false"),
    "dilated": ((2, 16, 9, 9), "num_output: 16 kernel_size: 3 dilation: 2"),
}
FILLER = 'weight_filler { type: "gaussian" std: 0.1 } bias_filler { type: "gaussian" std: 0.1 }'


def product(engine, kind, shape, param):
    """A layer's net in bf16 and NumPy's twin of it, whose operands are rounded beforehand."""
    name = "inner_product_param" if kind == "InnerProduct" else "convolution_param"
    dims = "".join(f" dim: {d}" for d in shape)
    text = CONV.format(x=dims, type=kind, param=f"{name} {{ {param} {FILLER} }}")
    twins = Twins(text, engine)
    twins.fill_inputs()
    for net in twins.both:
        x, y = (net.blobs[net.blob_ids[name]] for name in "xy")
        weights = net.layers[1].blobs[0]
        x.data[...], weights.data[...] = rounded(x.data), rounded(weights.data)
        y.diff[...] = rounded(np.cos(np.arange(y.count, dtype=np.float32))).reshape(y.shape)
    return twins


def compare(twins):
    """Results are the fp32 ones, rounded once; gradients of weights and biases are not rounded."""
    twins.each(lambda net: net.forward())
    grad = rounded(np.cos(np.arange(twins.net.blobs[1].count, dtype=np.float32)))
    for net in twins.both:
        net.blobs[1].diff[...] = grad.reshape(net.blobs[1].shape)
    twins.each(lambda net: net.backward())
    ours, theirs = twins.both

    def close(got, want, rtol):
        scale = np.abs(want).max()
        np.testing.assert_allclose(got, want, rtol=rtol, atol=1e-5 * scale)

    close(ours.blobs[1].data, theirs.blobs[1].data, STEP)
    close(ours.blobs[0].diff, theirs.blobs[0].diff, STEP)
    for got, want in zip(ours.layers[1].blobs, theirs.layers[1].blobs, strict=True):
        close(got.diff, want.diff, 1e-5)


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_convolutions(engine, geometry):
    compare(product(engine, "Convolution", *GEOMETRIES[geometry]))


def test_deconvolution(engine):
    """Without a bias, which is added to what was rounded."""
    param = "num_output: 32 kernel_size: 4 bias_term: false"
    compare(product(engine, "Deconvolution", (2, 16, 5, 5), param))


@pytest.mark.parametrize("more", ["", "transpose: true", "bias_term: false"])
def test_inner_products(engine, more):
    compare(product(engine, "InnerProduct", (6, 8, 3, 3), f"num_output: 24 {more}"))


def test_operands_are_rounded(engine):
    """1 + 2⁻⁹ is 1 in bf16: a product that did not round would give another sum."""
    twins = product(engine, "InnerProduct", (16, 64), "num_output: 16 bias_term: false")
    net = twins.net
    net.blobs[0].data[...] = 1 + 2.0**-9
    net.layers[1].blobs[0].data[...] = 1
    net.forward()
    np.testing.assert_array_equal(net.blobs[1].data, 64)


# -- nets ------------------------------------------------------------------------------------------

NET = """
force_backward: true
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 4 dim: 3 dim: 16 dim: 16 } } }
layer { name: "c1" type: "Convolution" bottom: "x" top: "c1"
        convolution_param { num_output: 32 kernel_size: 3 pad: 1 weight_filler { type: "msra" } } }
layer { name: "r1" type: "ReLU" bottom: "c1" top: "c1" }
layer { name: "p1" type: "Pooling" bottom: "c1" top: "p1"
        pooling_param { kernel_size: 2 stride: 2 pool: AVE } }
layer { name: "c2" type: "Convolution" bottom: "p1" top: "c2"
        convolution_param { num_output: 32 kernel_size: 1 weight_filler { type: "msra" } } }
layer { name: "sc" type: "Scale" bottom: "c2" top: "c2" scale_param { bias_term: true } }
layer { name: "c3" type: "Convolution" bottom: "p1" top: "c3"
        convolution_param { num_output: 32 kernel_size: 3 pad: 1 weight_filler { type: "msra" } } }
layer { name: "sum" type: "Eltwise" bottom: "c2" bottom: "c3" top: "sum" }
layer { name: "cat" type: "Concat" bottom: "sum" bottom: "c3" top: "cat" }
layer { name: "e" type: "ELU" bottom: "cat" top: "e" }
layer { name: "bn" type: "BatchNorm" bottom: "e" top: "bn" }
layer { name: "p2" type: "Pooling" bottom: "bn" top: "p2"
        pooling_param { kernel_size: 3 stride: 2 pool: MAX } }
layer { name: "lrn" type: "LRN" bottom: "p2" top: "lrn" }
layer { name: "drop" type: "Dropout" bottom: "lrn" top: "lrn" }
layer { name: "ip" type: "InnerProduct" bottom: "lrn" top: "ip"
        inner_product_param { num_output: 10 weight_filler { type: "xavier" } } }
"""


def cosine(a, b):
    a, b = a.ravel().astype(np.float64), b.ravel().astype(np.float64)
    return a @ b / (np.linalg.norm(a) * np.linalg.norm(b))


@pytest.mark.parametrize("train", [True, False])
def test_a_net_computes_about_the_same(engine, train):
    """Directions, not values: rounding decides which of two near values a pool takes."""
    twins = Twins(NET, engine, train)
    twins.fill_inputs()
    twins.step()
    for name, i in twins.reference.blob_ids.items():
        got, want = twins.net.blobs[i], twins.reference.blobs[i]
        assert cosine(got.data, want.data) > 0.999, name
        if train:
            assert cosine(got.diff, want.diff) > 0.98, f"gradient of {name}"


@needs_hardware
def test_blobs_between_convolutions_stay_in_bf16_and_users_see_fp32():
    twins = Twins(NET, create("onednn").at("bf16"))
    twins.fill_inputs()
    twins.step()
    net = twins.net
    for name in ("c1", "p1", "c2", "sum", "cat"):
        homes = net.blobs[net.blob_ids[name]].data_value.current
        assert [h.kind for h in homes if isinstance(h, Layout)] == [BF16] * len(homes), name
    data = net.blobs[net.blob_ids["sum"]].data
    assert data.dtype == np.float32
    np.testing.assert_array_equal(data, rounded(data))
    data[...] = 1 / 3
    net.forward(net.layer_names.index("cat"), net.layer_names.index("cat"))
    got = net.blobs[net.blob_ids["cat"]].data[:, :32]
    np.testing.assert_allclose(got, 1 / 3, rtol=STEP)


@needs_hardware
def test_weights_are_converted_once_while_nobody_changes_them():
    net = Twins(NET, create("onednn").at("bf16"), train=False).net
    net.forward()
    weights = net.layers[net.layer_names.index("c2")].blobs[0]
    (home,) = [h for h in weights.data_value.current if isinstance(h, Layout)]
    room = weights.data_value.read(home)
    before = room.copy()
    room[...] = 0  # what a second conversion would undo
    net.forward()
    assert home.kind == BF16
    assert not weights.data_value.read(home).any()
    weights.data[...] *= 1  # somebody may have changed them
    net.forward()
    np.testing.assert_array_equal(weights.data_value.read(home), before)


# -- training --------------------------------------------------------------------------------------

SOLVER = """
base_lr: 0.05 momentum: 0.9 weight_decay: 0.001 lr_policy: "fixed" random_seed: 7 max_iter: 99
snapshot_after_train: false snapshot_prefix: "run"
net_param {
  layer { name: "data" type: "FakeData" top: "data" top: "label" dummy_data_param {
          shape { dim: 8 dim: 3 dim: 12 dim: 12 } shape { dim: 8 }
          data_filler { type: "gaussian" std: 1 } data_filler { type: "integer" min: 0 max: 4 } } }
  layer { name: "c1" type: "Convolution" bottom: "data" top: "c1"
          convolution_param { num_output: 16 kernel_size: 3 weight_filler { type: "msra" } } }
  layer { name: "bn" type: "BatchNorm" bottom: "c1" top: "c1" }
  layer { name: "r1" type: "ReLU" bottom: "c1" top: "c1" }
  layer { name: "c2" type: "Convolution" bottom: "c1" top: "c2"
          convolution_param { num_output: 32 kernel_size: 3 weight_filler { type: "msra" } } }
  layer { name: "ip" type: "InnerProduct" bottom: "c2" top: "ip"
          inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
  layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
}
"""


def solver(engine):
    return Solver(parse_text(SOLVER, SolverParameter()).message, Context(engine=engine))


def test_resuming_is_exact(engine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    whole, half, again = (solver(engine) for _ in range(3))
    whole.step(6)
    half.step(3)
    half.snapshot()
    (snapshot,) = snapshots.find("run")
    again.restore(snapshot.state)
    again.step(3)
    for one, two in zip(again.net.params.learnable, whole.net.params.learnable, strict=True):
        np.testing.assert_array_equal(one.blob.data, two.blob.data)
    learned = whole.net.params.learnable[0].blob.data
    assert (learned != rounded(learned)).any()  # the weights themselves are fp32


def test_training_follows_fp32(engine):
    ours, theirs = solver(engine), solver(NUMPY)
    begin = [p.blob.data.copy() for p in theirs.net.params.learnable]
    for one in (ours, theirs):
        one.step(5)
    assert ours.last_loss == pytest.approx(theirs.last_loss, rel=0.05)
    pairs = zip(ours.net.params.learnable, theirs.net.params.learnable, begin, strict=True)
    for got, want, before in pairs:
        if got.lr_mult and np.abs(want.blob.data - before).max() > 1e-4:
            assert cosine(got.blob.data - before, want.blob.data - before) > 0.97


# -- asked for -------------------------------------------------------------------------------------


@pytest.fixture
def no_precision(monkeypatch):
    monkeypatch.delenv(engines.PRECISION, raising=False)
    yield
    os.environ.pop(engines.PRECISION, None)


def test_a_script_chooses_the_precision(no_precision):
    import pycaffe_dist as caffe

    caffe.set_precision("bf16-emulated")
    assert create("auto").precision == "bf16-emulated"
    caffe.set_precision("fp32")
    assert create("auto") is create("onednn")
    with pytest.raises(NetError, match="there is no precision 'fp8'; there are: fp32, tf32, bf16"):
        caffe.set_precision("fp8")
    assert create("auto").precision == "fp32"


def test_engines_that_compute_in_fp32_refuse(no_precision, monkeypatch):
    monkeypatch.setenv(engines.PRECISION, "bf16-emulated")
    with pytest.raises(NetError, match="the engine numpy computes with fp32: --precision"):
        create("numpy")
    monkeypatch.setenv(engines.PRECISION, "double")
    with pytest.raises(NetError, match="there is no precision 'double'"):
        create("onednn")


def test_a_processor_without_bf16_refuses_and_emulates(tmp_path):
    (tmp_path / "net.prototxt").write_text(NET)
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2"}

    def run(precision):
        words = ["time", "-q", "-model", "net.prototxt", "-iterations", "1"]
        command = [sys.executable, "-m", "pycaffe_dist", *words, "--precision", precision]
        settings = {"cwd": tmp_path, "env": environment, "text": True, "capture_output": True}
        return subprocess.run(command, timeout=120, **settings)

    refused = run("bf16")
    assert refused.returncode == 1
    assert "this processor has neither avx512_bf16 nor AMX" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert run("bf16-emulated").returncode == 0


def test_nets_that_exist_keep_their_precision(no_precision):
    text = parse_text(NET, NetParameter()).message
    set_random_seed(1)
    net = Net(text, Context(engine=create("onednn")))
    engines.set_precision("bf16-emulated")
    assert net.context.engine.precision == "fp32"


@pytest.mark.parametrize("which", ["gather", "spread", "weights"])
def test_a_product_in_fp32_is_rounded_as_bfloat16_would(which):
    """Operands before it, its result behind it; a gradient of weights and a bias are fp32."""
    seen = []

    def call(*operands):
        seen.append([float(x[0]) for x in operands])
        for target in {"gather": operands[-1:], "spread": operands[:1]}.get(which, operands[1:2]):
            target[...] = fine

    fine, coarse = np.float32(1 + 2**-10), 1.0
    product = Rounded(SimpleNamespace(name="n", layouts=["l"], call=call), which)
    assert (product.name, product.layouts) == ("n", ["l"])
    arrays = [np.full(2, fine) for _ in range(3 if which == "spread" else 4)]
    product.call(*arrays)
    after = [float(x[0]) for x in arrays]
    if which == "gather":
        assert seen == [[coarse, coarse, fine, fine]] and after == [fine, fine, fine, coarse]
    elif which == "spread":
        assert seen == [[fine, coarse, coarse]] and after == [coarse, fine, fine]
    else:
        assert seen == [[coarse, fine, fine, coarse]] and after == [fine] * 4


def test_what_is_in_fp32_beside_bf16_is_named_so():
    assert mark_of(F32, (F32, BF16)) == " fp32"
    assert mark_of(F32, (F32,)) == mark_of(BF16, (F32, BF16)) == mark_of(BF16, (BF16,)) == ""
