import tracemalloc

import numpy as np
import pytest
from google.protobuf import text_format

from pycaffe_dist import fillers
from pycaffe_dist.errors import NetError
from pycaffe_dist.fillers import FILLERS, fill
from pycaffe_dist.proto.caffe_pb2 import FillerParameter
from pycaffe_dist.rng import set_random_seed

SHAPES = [(), (2,), (8, 3), (2, 3, 4, 5), (2, 3, 4, 5, 2)]


def filled(text, shape, dtype=np.float32, seed=1701):
    set_random_seed(seed)
    array = np.full(shape, np.nan, dtype)
    fill(text_format.Parse(text, FillerParameter()), array)
    assert np.isfinite(array).all()
    return array


# -- values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("text", "value"), [("", 0), ("value: 10", 10), ("type: 'constant' value: -0.5", -0.5)]
)
def test_constant(shape, text, value):
    assert (filled(text, shape) == value).all()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("text", "least", "most"), [("", 0, 1), ("min: 1 max: 2", 1, 2), ("min: -3 max: -3", -3, -3)]
)
def test_uniform_stays_in_its_range(shape, text, least, most):
    x = filled(f"type: 'uniform' {text}", shape)
    assert x.min() >= least
    assert x.max() <= most


def test_uniform_uses_its_whole_range():
    x = filled("type: 'uniform' min: -2 max: 6", (100, 100))
    np.testing.assert_allclose(np.histogram(x, 8, (-2, 6))[0], 1250, atol=150)


@pytest.mark.parametrize("shape", SHAPES)
def test_positive_unitball_adds_up_to_one(shape):
    x = filled("type: 'positive_unitball'", shape)
    assert x.min() >= 0
    assert x.max() <= 1
    rows = x.reshape(shape[0] if shape else 1, -1)
    np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-3)
    if rows.shape[1] > 1:
        assert len(np.unique(rows)) == rows.size


@pytest.mark.parametrize("shape", SHAPES[1:])
@pytest.mark.parametrize(
    ("text", "mean", "std"), [("", 0, 1), ("mean: 10 std: 0.1", 10, 0.1), ("mean: -3", -3, 1)]
)
def test_gaussian(shape, text, mean, std):
    set_random_seed(1701)
    message = text_format.Parse(f"type: 'gaussian' {text}", FillerParameter())
    draws = []
    for _ in range(100):
        array = np.empty(shape, np.float32)
        fill(message, array)
        draws.append(array)
    assert abs(np.mean(draws) - mean) < 4 * std / np.sqrt(np.size(draws))
    assert np.std(draws) == pytest.approx(std, rel=0.25)


@pytest.mark.parametrize(
    ("sparse", "shape", "kept"),
    [
        (0, (10, 2000), 0.0),
        (1, (10, 2000), 0.1),
        (5, (10, 2000), 0.5),
        (10, (10, 2000), 1.0),
        (5, (20, 10, 10, 10), 0.25),
        (1, (2, 10000), 0.5),
        (-1, (10, 2000), 1.0),
    ],
)
def test_sparse_keeps_so_many_of_an_output(sparse, shape, kept):
    x = filled(f"type: 'gaussian' std: 2 sparse: {sparse}", shape)
    assert (x != 0).mean() == pytest.approx(kept, abs=0.02)
    if kept:
        assert x[x != 0].std() == pytest.approx(2, rel=0.05)


FANS = [
    ("", 40),
    ("variance_norm: FAN_IN", 40),
    ("variance_norm: FAN_OUT", 20000),
    ("variance_norm: AVERAGE", (40 + 20000) / 2),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("text", "n"), FANS)
@pytest.mark.parametrize(("kind", "variance"), [("xavier", 1), ("msra", 2)])
def test_xavier_and_msra_spread(kind, variance, text, n, dtype):
    x = filled(f"type: '{kind}' {text}", (1000, 2, 4, 5), dtype)
    std = np.sqrt(variance / n)
    assert abs(x.mean()) < 4 * std / np.sqrt(x.size)
    assert x.std() == pytest.approx(std, rel=0.02)


@pytest.mark.parametrize(
    ("shape", "text", "n"),
    [
        ((2, 3, 4, 5), "", 60),
        ((2, 3, 4, 5), "variance_norm: FAN_OUT", 40),
        ((2, 3, 4, 5, 2), "", 120),
        ((2, 3, 4, 5, 2), "variance_norm: FAN_OUT", 80),
        ((50, 8), "", 8),
        ((50, 8), "variance_norm: FAN_OUT", 50),
        ((300,), "", 1),
        ((300,), "variance_norm: FAN_OUT", 300),
        ((300,), "variance_norm: AVERAGE", 150.5),
    ],
)
def test_xavier_never_leaves_its_range_and_nearly_reaches_it(shape, text, n):
    x = np.abs(filled(f"type: 'xavier' {text}", shape))
    limit = np.sqrt(3 / n)
    assert limit * 0.9 < x.max() <= limit * (1 + 1e-6)


def test_msra_for_leaky_relus():
    x = filled("type: 'msra' alpha: 2", (1000, 50))
    assert x.std() == pytest.approx(np.sqrt(2 / 50 / 5), rel=0.02)


def test_msra_is_no_uniform_distribution():
    x = filled("type: 'msra'", (1000, 50))
    assert np.abs(x).max() > 3.5 * x.std()


@pytest.mark.parametrize("size", [7, 6, 4, 3, 2, 1])
def test_bilinear(size):
    x = filled("type: 'bilinear' value: 9 std: 0", (7, 3, size, size))
    factor = int(np.ceil(size / 2))
    centre = (size - 1) / (2 * factor)
    for row in range(size):
        for column in range(size):
            want = (1 - abs(column / factor - centre)) * (1 - abs(row / factor - centre))
            np.testing.assert_allclose(x[:, :, row, column], want, rtol=1e-6)


def test_bilinear_doubles_an_image():
    """The kernel of the documentation for a factor of 2: 4 wide, its weights add up to 2 x 2."""
    x = filled("type: 'bilinear'", (1, 1, 4, 4))[0, 0]
    np.testing.assert_allclose(x[0] * 16, [1, 3, 3, 1])
    assert x.sum() == pytest.approx(4)


# -- which numbers are drawn -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", sorted(FILLERS))
def test_a_seed_decides_everything(kind):
    one, again, other = (filled(f"type: '{kind}'", (3, 2, 4, 4), seed=s) for s in (5, 5, 6))
    np.testing.assert_array_equal(one, again)
    assert (one == other).all() == (kind in ("constant", "bilinear"))


def test_two_fillings_go_on_in_the_stream():
    message = FillerParameter(type="uniform")
    set_random_seed(3)
    one, two, both = np.empty(4), np.empty(4), np.empty(8)
    fill(message, one)
    fill(message, two)
    set_random_seed(3)
    fill(message, both)
    np.testing.assert_array_equal(np.concatenate([one, two]), both)


# -- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shape", "problem"),
    [
        ("type: 'gaussians'", (2,), 'no filler "gaussians".*did you mean "gaussian"'),
        ("type: 'orthogonal'", (2,), 'no filler "orthogonal".*Known: bilinear, constant,'),
        ("type: ''", (2,), 'no filler ""'),
        ("type: 'gaussian' std: 0", (2,), "std 0 must be above 0"),
        ("type: 'gaussian' std: -1", (2,), "std -1 must be above 0"),
        ("type: 'uniform' min: 2 max: 1", (2,), "min 2 is above max 1"),
        ("type: 'bilinear'", (4, 4), "4 axes and a square kernel"),
        ("type: 'bilinear'", (1, 1, 4, 5), "4 axes and a square kernel"),
        ("type: 'bilinear'", (1, 1, 1, 4, 4), "4 axes and a square kernel"),
        *(
            (f"type: '{kind}' sparse: 3", (2, 2, 3, 3), '"sparse" is for the gaussian filler')
            for kind in sorted(FILLERS)
            if kind != "gaussian"
        ),
        *(
            (f"type: '{kind}'", (2, 0, 3, 3), f'nothing to fill with "{kind}"')
            for kind in sorted(FILLERS)
        ),
    ],
)
def test_errors(text, shape, problem):
    with pytest.raises(NetError, match=problem):
        filled(text, shape)


@pytest.mark.parametrize(
    ("sparse", "outputs"),
    [(11, 10), (-2, 10)],  # a probability above 1; below the "off" of -1
)
def test_a_sparseness_that_cannot_be(sparse, outputs):
    with pytest.raises(NetError, match="sparse"):
        filled(f"type: 'gaussian' sparse: {sparse}", (outputs, 5))


def test_gaussian_unitball():
    array = np.zeros((4, 3, 2))
    fill(FillerParameter(type="gaussian_unitball", std=0.1), array)
    np.testing.assert_allclose((array**2).sum((1, 2)), np.ones(4))


@pytest.mark.parametrize("text", ["type: 'xavier'", "type: 'gaussian' std: 1", "type: 'uniform'"])
def test_large_arrays_are_drawn_in_pieces_of_the_same_stream(monkeypatch, text):
    whole = filled(text, (7, 9))
    monkeypatch.setattr(fillers, "PIECE", 10)
    np.testing.assert_array_equal(filled(text, (7, 9)), whole)


def test_filling_takes_little_memory_besides_the_array():
    array = np.empty((16, fillers.PIECE), np.float32)
    message = FillerParameter(type="xavier")
    tracemalloc.start()
    try:
        fill(message, array)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < array.nbytes / 2
