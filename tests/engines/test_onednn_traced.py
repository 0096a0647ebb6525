"""NumPy code as one pass: the same bits, whatever the length, the threads and the numbers."""

import numpy as np
import pytest

from pycaffe_dist.blob import Blob
from pycaffe_dist.engines import NUMPY, create
from pycaffe_dist.engines.onednn.core import traced as traced_module
from pycaffe_dist.engines.onednn.core.traced import traced
from pycaffe_dist.learnable import Param
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.solvers import update
from pycaffe_dist.solvers.rules import RULES, create_rule
from pycaffe_dist.threads import set_threads

ENGINE = create("onednn")


@pytest.fixture(params=[1, 2])
def threads(request):
    yield set_threads(request.param)
    set_threads()


def all_operations(a, b, room):
    np.multiply(a, 0.3, out=room)
    room += b
    a -= room
    np.sign(b, out=room)
    a *= room
    b[...] = a
    np.multiply(a, a, out=room)
    np.sqrt(room, out=room)
    room += 1e-3
    b /= room
    quotient = b + 2.5
    b *= quotient


@pytest.mark.parametrize("count", [1, 7, 16, 33, 4097, 20_011])
def test_the_same_bits_as_numpy(threads, count):
    rng = np.random.default_rng(count)
    a, b = rng.standard_normal((2, count)).astype(np.float32)
    a[0], b[-1] = np.inf, np.nan
    b[: count // 4] = 0
    ours = [np.concatenate([x, [7]]).astype(np.float32) for x in (a, b)]
    with np.errstate(all="ignore"):
        all_operations(a, b, np.empty_like(a))
    made = traced(all_operations, arrays=2, rooms=1)
    made([x[:count] for x in ours])
    for got, want in zip(ours, (a, b), strict=True):
        np.testing.assert_array_equal(got[:count], want)
        assert got[count] == 7  # nothing behind the end is written


def params_of(rule, count, seed=0):
    rng = np.random.default_rng(seed)
    param = Param(Blob((count,)), "0", (0, 0), 0.7, 1.5, False, False)
    param.blob.data[...] = rng.standard_normal(count)
    param.blob.diff[...] = rng.standard_normal(count) * 10.0 ** rng.integers(-30, 3, count)
    history = {slot: Blob((count,)) for slot in rule.slots}
    for blob in history.values():
        blob.data[...] = rng.random(count) * 10.0 ** rng.integers(-38, 1, count)
    return param, history


@pytest.mark.parametrize("extra", ["", "l1", "none", "passes"])
@pytest.mark.parametrize("name", RULES)
def test_updates_are_the_same_bits_on_both_engines(name, extra):
    solver = SolverParameter(type=name, weight_decay=5e-4, delta=1e-8, rms_decay=0.9)
    if name not in ("AdaGrad", "RMSProp"):
        solver.momentum = 0.9
    if extra == "l1":
        solver.regularization_type = "L1"
    elif extra == "none":
        solver.weight_decay = 0
    elif extra == "passes":
        solver.iter_size = 3
    rule = create_rule(solver)
    found = []
    for engine in (NUMPY, ENGINE):
        param, history = params_of(rule, 1003)
        for iteration, rate in enumerate((0.1, 0.01)):
            step = update.step_of(solver, rule, iteration, rate)
            update.apply([param], [history], rule, step, engine)
            param.blob.diff[...] += 0.25
        found.append([param.blob.data, param.blob.diff, *(h.data for h in history.values())])
    for want, got in zip(*found, strict=True):
        np.testing.assert_array_equal(got, want)


def test_what_is_not_traced_is_done_in_blocks():
    def masked(a, room):
        a[a > 0] = 1

    array = np.array([-1, 2], np.float32)
    assert not ENGINE.one_pass(masked, [array], 1)
    assert not ENGINE.one_pass(all_operations, [array.astype(np.float64)] * 2, 1)
    assert not NUMPY.one_pass(all_operations, [array] * 2, 1)
    np.testing.assert_array_equal(array, [-1, 2])


@pytest.mark.parametrize(
    "work",
    [np.add.reduce, np.exp, lambda a: np.add.at(a, 0, 1), lambda a: np.subtract.outer(a, a)],
    ids=["reduce", "exp", "at", "outer"],
)
def test_what_is_no_operation_on_each_element_is_not_traced(work):
    with pytest.raises(NotImplementedError, match="is not traced"):
        traced(work, arrays=1)
    assert not ENGINE.one_pass(lambda a, room: work(a), [np.ones(2, np.float32)], 1)


def test_arrays_that_are_only_read_are_not_written():
    a, b = np.arange(5, dtype=np.float32), np.arange(5, dtype=np.float32)
    b.flags.writeable = False

    def work(a, b):
        a += b

    made = traced(work, arrays=2)
    assert made.results == ("v0", "a1")
    made([a, b])
    np.testing.assert_array_equal(a, [0, 2, 4, 6, 8])


@pytest.mark.parametrize("beyond", [0, 1])
def test_short_arrays_are_done_by_one_thread(monkeypatch, beyond):
    asked = []

    def kernel(steps, results, width, shared):
        return lambda *words: asked.append((width, shared, words[-1]))

    monkeypatch.setattr(traced_module, "_kernel", kernel)
    wide = traced_module.vector_width()
    count = traced_module.SHORT + beyond * wide + 3
    traced(all_operations, arrays=2, rooms=1)([np.ones(count, np.float32)] * 2)
    assert asked == [(wide, bool(beyond), traced_module.SHORT // wide + beyond), (1, False, 3)]
    asked.clear()
    traced(all_operations, arrays=2, rooms=1)([np.ones(3, np.float32)] * 2)
    traced(all_operations, arrays=2, rooms=1)([np.ones(wide, np.float32)] * 2)
    assert asked == [(1, False, 3), (wide, False, 1)]


def test_denormals_are_zero_in_whatever_thread(threads):
    def half(a):
        a *= 0.5

    array = np.full(50_000, 1.2e-38, np.float32)
    traced(half, arrays=1)([array])
    assert not array.any()
    assert np.float32(1.2e-38) * np.float32(0.5) != 0  # and the caller's mode is as before
