"""Matrix products on the device: of any layout, without copies, and over nothing."""

import numpy as np
import pytest

from pycaffe_dist.engines.cupy import gemm
from pycaffe_dist.testing import cupy_standin as xp
from pycaffe_dist.testing.cupy_standin.cuda import cublas
from pycaffe_dist.testing.gpu import emulated
from pycaffe_dist.testing.layers import LayerCase, LayerRun

RNG = np.random.default_rng(8)


@pytest.fixture
def engine():
    with emulated() as made:
        yield made


def matrices(*shape):
    return xp.asarray(RNG.standard_normal(shape).astype("f"))


@pytest.mark.parametrize(
    ("a", "b", "out"),
    [
        ((3, 4), (4, 5), (3, 5)),
        ((5, 3, 4), (5, 4, 2), (5, 3, 2)),
        ((3, 4), (6, 4, 2), (6, 3, 2)),
        ((6, 3, 4), (4, 2), (6, 3, 2)),
        ((1, 7), (7, 1), (1, 1)),
        ((7, 1), (1, 4), (7, 4)),
        ((2, 1, 7), (2, 7, 1), (2, 1, 1)),
    ],
)
@pytest.mark.parametrize("by_columns", ["", "a", "b", "ab"])
def test_factors_lie_as_they_lie(engine, a, b, out, by_columns):
    def factor(name, shape):
        if name in by_columns:
            return matrices(*shape[:-2], *shape[:-3:-1]).swapaxes(-1, -2)
        return matrices(*shape)

    left, right, y = factor("a", a), factor("b", b), matrices(*out)
    want = left.get() @ right.get()
    xp.COUNTS.clear()
    engine.multiply(left, right, y)
    assert xp.COUNTS["gemm"] == 1 and not xp.COUNTS["request"], "one call, no memory"
    np.testing.assert_allclose(y.get(), want, rtol=1e-5, atol=1e-6)
    engine.multiply(left, right, y, add=True)
    np.testing.assert_allclose(y.get(), 2 * want, rtol=1e-5, atol=1e-6)


def test_parts_of_larger_arrays(engine):
    x, w, y = matrices(4, 3, 5, 6), matrices(3, 2, 5), matrices(4, 3, 2, 6)
    for group in range(3):
        engine.multiply(w[group], x[:, group], y[:, group])
    np.testing.assert_allclose(y.get(), w.get() @ x.get(), rtol=1e-5, atol=1e-6)


def test_a_product_over_nothing_is_an_empty_sum(engine):
    y = matrices(3, 2)
    before = y.get()
    engine.multiply(matrices(3, 0), matrices(0, 2), y, add=True)
    np.testing.assert_array_equal(y.get(), before)
    engine.multiply(matrices(3, 0), matrices(0, 2), y)
    assert not y.get().any()
    engine.multiply(matrices(0, 3), matrices(3, 2), matrices(0, 2))


def test_what_cublas_cannot_read_is_refused(engine):
    with pytest.raises(ValueError, match="strides"):
        engine.multiply(matrices(3, 4, 2)[..., 0], matrices(4, 5), matrices(3, 5))
    with pytest.raises(ValueError, match="by columns"):
        engine.multiply(matrices(3, 4), matrices(4, 5), matrices(5, 3).T)


@pytest.mark.parametrize(("value", "mode"), [("1", gemm.TF32_MATH), ("0", 0), (None, 0)])
def test_tensor_cores_round_where_they_are_asked_to_in_every_product(monkeypatch, value, mode):
    """The handle's math mode decides: CuPy's variable alone reaches few of CuPy's own products."""
    monkeypatch.delenv(gemm.TF32, raising=False)
    if value:
        monkeypatch.setenv(gemm.TF32, value)
    with emulated() as engine:
        engine.multiply.enter()
        assert cublas.getMathMode(xp.cuda.get_cublas_handle()) == mode
    cublas.setMathMode(xp.cuda.get_cublas_handle(), 0)


@pytest.mark.parametrize(
    ("settings", "shape"),
    [
        ("num_output: 6 kernel_size: 1", (4, 3, 5, 5)),
        ("num_output: 6 kernel_size: 1 group: 3", (4, 6, 5, 5)),
        ("num_output: 4 kernel_size: 3", (4, 3, 16, 16)),
        ("num_output: 4 kernel_size: 3 group: 2", (4, 4, 16, 16)),
        ("num_output: 40 kernel_size: 3", (4, 3, 5, 5)),
        ("num_output: 40 kernel_size: 1", (4, 30, 2, 2)),
    ],
    ids=["1x1", "1x1 groups", "large", "large groups", "small", "small 1x1"],
)
def test_convolutions_call_cublas_alone(settings, shape):
    """No copy of the weights, no arrays of pointers: as many products as groups, in each pass."""
    layer = (
        f'type: "Convolution" convolution_param {{ {settings} weight_filler {{ type: "xavier" }} }}'
    )
    groups = int(settings.split("group: ")[1]) if "group" in settings else 1
    x = RNG.standard_normal(shape)

    def run():
        made = LayerRun(LayerCase(layer, [x]))
        (y,) = made.forward()
        made.backward([np.cos(np.arange(y.size)).reshape(y.shape)], [True])
        return [y, made.bottom[0].blob.diff.copy(), *(b.diff.copy() for b in made.layer.blobs)]

    want = run()
    with emulated() as engine, engine.convolutions.forced("columns"):
        xp.COUNTS.clear()
        there = run()
        assert xp.COUNTS["gemm"] == 3 * groups and not xp.COUNTS["matmul"]
    for a, b in zip(there, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
