"""Products in fewer bits: what is rounded, who asks for it, and what keeps gradients in range."""

import math
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from pycaffe_dist import engines
from pycaffe_dist.engines.base import NUMPY, set_default_engine
from pycaffe_dist.errors import NetError
from pycaffe_dist.memory import Value
from pycaffe_dist.net import Net
from pycaffe_dist.parallel.transport.wire import BFloat16
from pycaffe_dist.proto.caffe_pb2 import NetParameter, SolverParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.recycling import recycle
from pycaffe_dist.solver import Solver
from pycaffe_dist.solvers import loss_scale
from pycaffe_dist.testing import cupy_standin as xp
from pycaffe_dist.testing.cupy_standin import runtime
from pycaffe_dist.testing.gpu import emulated
from pycaffe_dist.testing.layers import LayerCase, LayerRun

RNG = np.random.default_rng(9)
DIGITS = Path(__file__).parents[2] / "data" / "digits" / "digits.npz"
UNIT = {"tf32": 2.0**-11, "bf16": 2.0**-8, "fp16": 2.0**-11}  # half of the last place


@pytest.fixture
def engine(monkeypatch):
    monkeypatch.delenv(engines.PRECISION, raising=False)
    with emulated() as made:
        yield made


# -- products --------------------------------------------------------------------------------------


def rounded(x, precision):
    if precision == "fp16":
        return x.astype(np.float16).astype(np.float32)
    if precision == "bf16":
        return BFloat16().unpack(BFloat16().pack(x)).reshape(x.shape)
    mantissa, exponent = np.frexp(x)
    return np.ldexp(np.round(mantissa * 2**11) / 2**11, exponent).astype(np.float32)


@pytest.mark.parametrize("turned", ["", "a", "b", "ab"])
@pytest.mark.parametrize("precision", UNIT)
def test_factors_are_rounded_and_sums_are_not(engine, precision, turned):
    shapes = [((7, 40), (40, 5), (7, 5)), ((6, 3, 40), (40, 2), (6, 3, 2))]
    shapes += [((3, 4), (6, 4, 2), (6, 3, 2)), ((5, 3, 4), (5, 4, 2), (5, 3, 2))]
    multiply = engine.at(precision).multiply
    for a, b, out in shapes:
        left, right = (RNG.standard_normal(s).astype("f") for s in (a, b))

        def there(name, x):
            if name in turned:
                return xp.asarray(np.ascontiguousarray(x.swapaxes(-1, -2))).swapaxes(-1, -2)
            return xp.asarray(x)

        y = xp.asarray(np.ones(out, "f"))
        multiply(there("a", left), there("b", right), y, add=True)
        want = 1 + rounded(left, precision) @ rounded(right, precision)
        np.testing.assert_allclose(y.get(), want, rtol=2e-6, atol=2e-6)
        assert np.abs(y.get() - 1 - left @ right).max() > UNIT[precision] / 20


@pytest.mark.parametrize("precision", UNIT)
@pytest.mark.parametrize(
    "layer",
    [
        'type: "Convolution" convolution_param { num_output: 6 kernel_size: 3 group: 2 @ }',
        'type: "Convolution" convolution_param { num_output: 4 kernel_size: 1 @ }',
        'type: "Deconvolution" convolution_param { num_output: 2 kernel_size: 2 stride: 2 @ }',
        'type: "InnerProduct" inner_product_param { num_output: 6 @ }',
    ],
    ids=["groups", "1x1", "deconvolution", "inner product"],
)
def test_layers_are_as_near_as_the_format(engine, precision, layer):
    layer = layer.replace("@", 'weight_filler { type: "xavier" }')
    x = RNG.standard_normal((4, 4, 14, 14))

    def run():
        made = LayerRun(LayerCase(layer, [x]), np.float32)
        (y,) = made.forward()
        made.backward([np.cos(np.arange(y.size)).reshape(y.shape)], [True])
        return [y, made.bottom[0].blob.diff.copy(), *(b.diff.copy() for b in made.layer.blobs)]

    want = run()
    set_default_engine(engine.at(precision))
    with engine.at(precision).convolutions.forced("columns"):
        for got, exact in zip(run(), want, strict=True):
            far = np.linalg.norm(got - exact) / np.linalg.norm(exact)
            assert far < 3 * UNIT[precision]
        assert np.abs(run()[0] - want[0]).max() > 0


@pytest.mark.parametrize("way", ["implicit", "winograd 2x2"])
def test_ways_without_columns_are_in_full_whatever_is_asked_for(engine, way):
    layer = """type: "Convolution" convolution_param { num_output: 8 kernel_size: 3
        weight_filler { type: "xavier" } }"""
    x = RNG.standard_normal((2, 8, 5, 5))
    made = []
    for precision in ("fp32", *UNIT):
        at = engine.at(precision)
        set_default_engine(at)
        with at.convolutions.forced(way):
            run = LayerRun(LayerCase(layer, [x]), np.float32)
            made.append(run.forward()[0])
            assert run.layer.computed_by()[0] == way
    for got in made[1:]:
        np.testing.assert_array_equal(got, made[0])


def test_float64_stays_float64(engine):
    a, b, y = (xp.asarray(RNG.standard_normal((3, 3))) for _ in range(3))
    engine.at("fp16").multiply(a, b, y)
    np.testing.assert_allclose(y.get(), a.get() @ b.get(), rtol=1e-14)


# -- who asks for it -------------------------------------------------------------------------------


def test_a_device_is_asked_for_what_it_has(engine, monkeypatch):
    with pytest.raises(NetError, match="bf16-emulated is of the CPU engine"):
        engine.at("bf16-emulated")
    facts = dict(runtime.getDeviceProperties(0), major=7, minor=5)
    monkeypatch.setattr(runtime, "getDeviceProperties", lambda device: facts)
    assert engine.at("fp16").precision == "fp16"
    for precision in ("tf32", "bf16"):
        with pytest.raises(NetError, match=r"compute capability 7\.5, and \w+ begins with 8\.0"):
            engine.at(precision)


@pytest.mark.parametrize("precision", ["tf32", "fp16"])
def test_the_cpu_says_who_can(precision):
    for cpu in (NUMPY, engines.create("auto")):
        with pytest.raises(NetError, match=rf"--precision {precision} needs a GPU \(-gpu 0\)"):
            cpu.at(precision)


def test_what_a_script_chooses_holds_for_the_device(engine, monkeypatch):
    monkeypatch.setenv(engines.PRECISION, "")
    engines.set_precision("bf16")
    assert engines.current().precision == "bf16"
    assert engines.current().home is engine.home
    assert engines.create("cupy") is engines.current()


def words(net, layer):
    text = f"""{net}
        layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ dim: 2 dim: 3 }} }} }}
        layer {{ name: "ip" type: "InnerProduct" bottom: "x" top: "ip" {layer}
                 inner_product_param {{ num_output: 2 }} }}"""
    net = Net(parse_text(text, NetParameter()).message)
    return net.layers[-1].context.engine.precision


HALF_NET = "default_forward_type: FLOAT16 default_backward_type: FLOAT16"


@pytest.mark.parametrize(
    ("flag", "net", "layer", "want"),
    [
        (None, "", "", "fp32"),
        (None, HALF_NET, "", "fp16"),
        (None, "default_forward_type: FLOAT default_backward_math: FLOAT16", "", "fp16"),
        (None, HALF_NET, "forward_type: FLOAT backward_type: FLOAT", "fp32"),
        (None, "", "forward_math: FLOAT16", "fp16"),
        (None, "default_forward_type: DOUBLE", "", "fp32"),
        ("fp32", HALF_NET, "", "fp32"),
        ("bf16", HALF_NET, "", "bf16"),
        ("bf16", "", "forward_type: FLOAT16", "fp16"),
        ("tf32", "", "forward_type: FLOAT", "fp32"),
    ],
)
def test_nvcaffes_words_in_a_file(engine, flag, net, layer, want):
    if flag:
        set_default_engine(engine.at(flag))
    assert words(net, layer) == want
    set_default_engine(NUMPY)
    assert words(net, layer) == "fp32", "on the CPU they change nothing"


# -- the scale of the loss -------------------------------------------------------------------------

NET = """
layer { name: "x" type: "Input" top: "x" top: "t"
        input_param { shape { dim: 3 dim: 4 } shape { dim: 3 dim: 2 } } }
layer { name: "low" type: "InnerProduct" bottom: "x" top: "low"
        inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }
layer { name: "high" type: "InnerProduct" bottom: "low" top: "y"
        inner_product_param { num_output: 2 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "t" top: "loss" loss_weight: 0.5 }
"""


def small(settings="", words="", rule="SGD"):
    text = f'type: "{rule}" base_lr: 0.05 lr_policy: "fixed" random_seed: 3 max_iter: 99 {settings}'
    text += f" net_param {{ {words} {NET} }}"
    solver = Solver(parse_text(text, SolverParameter()).message)
    rng = np.random.default_rng(4)
    for name in ("x", "t"):
        blob = solver.net.blobs[solver.net.blob_ids[name]]
        values = rng.integers(-8, 9, blob.shape) / 8  # exact in every format
        blob.data[...] = values
    return solver


def weights(solver):
    return [param.blob.data.copy() for param in solver.net.params.learnable]


def half(engine):
    set_default_engine(engine.at("fp16"))


@pytest.mark.parametrize("settings", ["", "iter_size: 2", "clip_gradients: 0.1"])
def test_a_scale_leaves_no_trace_in_weights_or_losses(engine, settings):
    """A power of two is exact, and clipping, decay and momentum see true gradients."""
    half(engine)
    trained = []
    for scale in (1, 1024):
        solver = small(f"momentum: 0.9 weight_decay: 0.1 {settings}", f"global_grad_scale: {scale}")
        solver.step(4)
        trained.append([*weights(solver), np.array(float(solver.last_loss))])
        assert solver.loss_scale.state == (scale, 0, 0)
    for a, b in zip(*trained, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


def test_steps_are_left_out_until_gradients_fit(engine):
    """S·g fits into fp16 after ⌈log₂(S·max|g| / 65520)⌉ halvings, each a step without an update."""
    plain = small()
    plain.net.forward()
    plain.net.backward()
    tops = [plain.net.blobs[plain.net.blob_ids[name]].diff for name in ("y", "low")]
    most = max(float(np.abs(diff).max()) for diff in tops)
    start = 2.0**40
    skipped = math.ceil(math.log2(start * most / 65520))
    half(engine)
    words = f"global_grad_scale: {start} global_grad_scale_adaptive: true"
    solver = small("momentum: 0.9", words)
    before = weights(solver)
    for i in range(skipped):
        solver.step(1)
        assert solver.loss_scale.state == (start / 2 ** (i + 1), 0, i + 1)
    for a, b in zip(before, weights(solver), strict=True):
        np.testing.assert_array_equal(a, b)
    assert all(not blob.data.any() for blob in solver.history)
    solver.step(1)
    assert solver.loss_scale.state == (start / 2**skipped, 1, skipped)
    assert all((a != b).any() for a, b in zip(before[::2], weights(solver)[::2], strict=True))


@pytest.mark.parametrize("rule", ["SGD", "Adam", "AdamW", "LARS"])
def test_one_infinite_gradient_costs_its_step_and_no_other(engine, rule):
    """Also where the rule has no kernel, and the host makes the updates."""
    half(engine)
    solver, straight = (small("larc_eta: 0.1" if rule == "LARS" else "", rule=rule) for _ in "ab")

    def spoil(layer):
        if layer == 0 and solver.iter == 1:
            solver.net.params.learnable[2].blob.diff[0, 0] = np.inf

    solver.net.after_backward.append(spoil)
    solver.step(1)
    once = weights(solver)
    solver.step(1)
    for a, b in zip(once, weights(solver), strict=True):
        np.testing.assert_array_equal(a, b)
    assert solver.loss_scale.state == (loss_scale.START / 2, 0, 1)
    solver.step(1)
    assert solver.loss_scale.state == (loss_scale.START / 2, 1, 1)
    if rule in ("SGD", "LARS"):  # the others' corrections count iterations
        straight.step(2)
        for a, b in zip(weights(solver), weights(straight), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)


def test_gradients_of_a_script_are_not_scaled(engine):
    half(engine)
    solver = small()
    solver.step(1)
    solver.net.clear_param_diffs()
    solver.net.forward()
    solver.net.backward()
    set_default_engine(NUMPY)
    plain = small()
    for mine, theirs in zip(solver.net.params.learnable, plain.net.params.learnable, strict=True):
        theirs.blob.data[...] = mine.blob.data
    plain.net.forward()
    plain.net.backward()
    for mine, theirs in zip(solver.net.params.learnable, plain.net.params.learnable, strict=True):
        np.testing.assert_allclose(mine.blob.diff, theirs.blob.diff, rtol=5e-3, atol=2e-3)


def test_without_fp16_there_is_no_scale(engine):
    for precision in ("fp32", "tf32", "bf16"):
        set_default_engine(engine.at(precision))
        assert small(words="global_grad_scale: 8").loss_scale is None


def test_the_scale_is_in_snapshots_and_told(engine, tmp_path, monkeypatch):
    half(engine)
    told = []
    monkeypatch.setattr(loss_scale.log, "info", lambda where, text, *args: told.append(text % args))
    words = f"global_grad_scale: {2.0**30} global_grad_scale_adaptive: true"
    settings = f'display: 3 snapshot_prefix: "{tmp_path}/run" snapshot_after_train: false'
    solver = small(settings, words)
    solver.step(7)
    scale, good, skipped = solver.loss_scale.state
    assert 0 < skipped < 30
    told = [line for line in told if "scale" in line and "steps left out" in line]
    assert told[0].startswith("    Loss scale: 1.07374e+09 (0 steps left out so far")
    assert len(told) == len(set(told)) > 1, "only when it changed"
    solver.snapshot()
    solver.step(2)
    again = small(settings, words)
    again.restore(f"{tmp_path}/run_iter_7.solverstate")
    assert again.loss_scale.state == (scale, good, skipped)
    again.step(2)
    assert again.loss_scale.state == solver.loss_scale.state
    for a, b in zip(weights(again), weights(solver), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_step_waits_for_nothing(engine):
    half(engine)
    solver = small("display: 100")
    solver.step(3)
    xp.COUNTS.clear()
    solver.step(4)
    for name in ("synchronise", "to_host", "malloc"):
        assert xp.COUNTS.get(name, 0) == 0, (name, xp.COUNTS)


# -- factors that are kept in 16 bits --------------------------------------------------------------

KEPT = """
layer { name: "x" type: "Input" top: "x" top: "t"
        input_param { shape { dim: 2 dim: 3 dim: 12 dim: 12 } shape { dim: 2 dim: 2 } } }
layer { name: "a" type: "Convolution" bottom: "x" top: "a"
        convolution_param { num_output: 4 kernel_size: 1 weight_filler { type: "xavier" } } }
layer { name: "b" type: "Convolution" bottom: "a" top: "b"
        convolution_param { num_output: 4 kernel_size: 1 weight_filler { type: "xavier" } } }
layer { name: "y" type: "InnerProduct" bottom: "b" top: "y"
        inner_product_param { num_output: 2 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "t" top: "loss" }
"""


def kept(engine, monkeypatch, in_turn, addressed=False, steps=3):
    """A trained net, and how often a step rounds an array of factors."""
    monkeypatch.setattr("pycaffe_dist.recycling.SMALL", 1)
    monkeypatch.setattr(engine.home, "addresses_given", False)
    text = f'base_lr: 0.05 lr_policy: "fixed" random_seed: 3 max_iter: 99 net_param {{ {KEPT} }}'
    set_default_engine(engine.at("fp16"))
    solver = Solver(parse_text(text, SolverParameter()).message)
    if in_turn:
        recycle([solver.net])
    if addressed:
        assert solver.net.params.learnable[0].blob._gpu_data_ptr
    for name in ("x", "t"):
        blob = solver.net.blobs[solver.net.blob_ids[name]]
        blob.data[...] = np.random.default_rng(4).standard_normal(blob.shape)
    solver.step(steps)
    log = engine.home.compute.log
    log.clear()
    xp.COUNTS.clear()
    solver.step(1)
    assert xp.COUNTS["malloc"] + xp.COUNTS["synchronise"] == 0
    return weights(solver), Counter(log)["factor_to_half"]


def test_a_factor_of_two_products_is_rounded_once(engine, monkeypatch):
    """Of 8 products, as x needs no gradient, with 16 factors."""
    plain, casts = kept(engine, monkeypatch, in_turn=False, addressed=True)
    assert casts == 16
    kept_weights = 2  # those of a are in one product only
    assert kept(engine, monkeypatch, in_turn=False)[1] == 16 - kept_weights
    blobs = len(["a", "b"]) + len(["∂b", "∂y"])  # x is not used in turn, and ∂a is in one product
    again, casts = kept(engine, monkeypatch, in_turn=True)
    assert casts == 16 - kept_weights - blobs
    for a, b in zip(plain, again, strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_is_kept_comes_from_wherever_the_value_is(engine):
    half, count = engine.at("fp16").multiply, 5
    value, numbers = Value(count, np.float32), np.array([1, -2.5, 0.1, 65000, 0], "f")
    value.write()[...] = numbers
    want = numbers.astype(np.float16)
    for _ in range(2):
        np.testing.assert_array_equal(value.read(half._halves).get().view(np.float16), want)
        value.write(engine.home)  # from there, the next time
    value.zero()
    assert not value.read(half._halves).get().any()


# -- what it costs in accuracy ---------------------------------------------------------------------

DIGITS_NET = """
layer {{ name: "x" type: "Input" top: "x" top: "t"
         input_param {{ shape {{ dim: {n} dim: 1 dim: 8 dim: 8 }} shape {{ dim: {n} }} }} }}
layer {{ name: "conv" type: "Convolution" bottom: "x" top: "conv"
         convolution_param {{ num_output: 12 kernel_size: 3 stride: 2
                              weight_filler {{ type: "xavier" }} }} }}
layer {{ name: "relu" type: "ReLU" bottom: "conv" top: "conv" }}
layer {{ name: "ip1" type: "InnerProduct" bottom: "conv" top: "ip1"
         inner_product_param {{ num_output: 32 weight_filler {{ type: "xavier" }} }} }}
layer {{ name: "relu1" type: "ReLU" bottom: "ip1" top: "ip1" }}
layer {{ name: "ip2" type: "InnerProduct" bottom: "ip1" top: "y"
         inner_product_param {{ num_output: 10 weight_filler {{ type: "xavier" }} }} }}
layer {{ name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "t" top: "loss" }}
"""


@cache
def digits():
    """Images from 0 to 1 and classes: 1437 to learn from and 360 to test with."""
    with np.load(DIGITS) as file:
        order = np.random.default_rng(1).permutation(1797)
        return file["images"][order].astype("f") / 16, file["labels"][order]


def accuracy(steps, batch=128):
    """In percent of all digits, of a net that the engine chosen trains on the first 1437."""
    images, labels = digits()
    text = 'base_lr: 0.1 momentum: 0.9 lr_policy: "poly" power: 1 random_seed: 3'
    text += f" max_iter: {steps} weight_decay: 0.0005 net_param {{ {DIGITS_NET.format(n=batch)} }}"
    solver = Solver(parse_text(text, SolverParameter()).message)
    rng = np.random.default_rng(2)

    def feed(layer):
        if layer == 0:
            chosen = rng.integers(0, 1437, batch)
            put(solver.net, images[chosen], labels[chosen])

    solver.net.before_forward.append(feed)
    solver.step(steps)
    test = Net(parse_text(DIGITS_NET.format(n=len(images)), NetParameter()).message)
    for mine, theirs in zip(test.params.learnable, solver.net.params.learnable, strict=True):
        mine.blob.data[...] = theirs.blob.data
    put(test, images, labels)
    test.forward()
    right = test.blobs[test.blob_ids["y"]].data.argmax(1) == labels
    return 100 * right.mean()


def put(net, images, labels):
    net.blobs[net.blob_ids["x"]].data[...] = images[:, None]
    net.blobs[net.blob_ids["t"]].data[...] = labels


def test_training_reaches_the_accuracy_of_fp32(engine):
    full = accuracy(50)
    assert full > 80
    for precision in ("bf16", "fp16"):
        set_default_engine(engine.at(precision))
        with engine.at(precision).convolutions.forced("columns"):
            found = accuracy(50)
        assert abs(found - full) <= 0.5, (precision, found, full)
