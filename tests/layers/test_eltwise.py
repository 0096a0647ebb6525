from functools import reduce

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

LAYER = 'type: "Eltwise" eltwise_param { %s }'
SHAPE = (2, 3, 4)


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize(
    ("settings", "function"),
    [
        ("", np.add),
        ("operation: SUM", np.add),
        ("operation: PROD", np.multiply),
        ("operation: PROD stable_prod_grad: false", np.multiply),
        ("operation: MAX", np.maximum),
    ],
)
def test_operations(settings, function, count):
    check_layer(
        LayerCase(LAYER % settings, [SHAPE] * count, reference=lambda *xs: reduce(function, xs))
    )


@pytest.mark.parametrize("coeffs", [(1, -0.5, 2), (1, 1, 3), (-1, 1, -1), (1, -1, 1), (0, 2, 0)])
def test_coefficients(coeffs):
    settings = " ".join(f"coeff: {c}" for c in coeffs)
    check_layer(
        LayerCase(
            LAYER % settings,
            [SHAPE] * 3,
            reference=lambda *xs: sum(c * x for c, x in zip(coeffs, xs, strict=True)),
        )
    )


def test_maximum_ignores_coefficients():
    settings = "operation: MAX coeff: 2 coeff: -3"
    check_layer(LayerCase(LAYER % settings, [SHAPE] * 2, reference=np.maximum))


# The second of the first pair wins a tie; of any later pair the earlier.
@pytest.mark.parametrize(
    ("values", "winner"),
    [
        ((5, 5, 5, 5), 1),
        ((5, 5, 4, 4), 1),
        ((5, 4, 5, 5), 0),
        ((4, 5, 5, 5), 1),
        ((3, 4, 5, 5), 2),
        ((5, 5, 4, 6), 3),
        ((-1, -1, -2, -3), 1),
    ],
)
def test_ties_of_the_maximum(values, winner):
    inputs = [np.full((2, 2), v, float) for v in values]
    run = LayerRun(LayerCase(LAYER % "operation: MAX", inputs))
    assert (run.forward()[0] == max(values)).all()
    run.backward([np.full((2, 2), 3.0)], [True] * 4)
    for i, view in enumerate(run.bottom):
        assert (view.diff == (3 if i == winner else 0)).all()


def test_product_with_zeros():
    inputs = [np.array([0.0, 2, 0]), np.array([3.0, 0, 0]), np.array([4.0, 5, 6])]
    stable = LayerRun(LayerCase(LAYER % "operation: PROD", inputs))
    stable.forward()
    stable.backward([np.ones(3)], [True] * 3)
    np.testing.assert_array_equal(stable.bottom[0].blob.diff, [12, 0, 0])
    np.testing.assert_array_equal(stable.bottom[2].blob.diff, [0, 0, 0])
    plain = LayerRun(LayerCase(LAYER % "operation: PROD stable_prod_grad: false", inputs))
    plain.forward()
    with np.errstate(invalid="ignore"):
        plain.backward([np.ones(3)], [True] * 3)
    np.testing.assert_array_equal(plain.bottom[0].blob.diff, [np.nan, 0, np.nan])


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("", [10, 20]),  # as in Caffe, where the top is cleared first
        ("coeff: 5 coeff: 1", [10, 20]),
        ("operation: PROD", [10, 40]),
        ("operation: MAX", [10, 20]),
    ],
)
def test_in_place(settings, expected):
    inputs = [np.array([1.0, 2]), np.array([10.0, 20])]
    run = LayerRun(LayerCase(LAYER % settings, inputs), in_place=True)
    np.testing.assert_array_equal(run.forward()[0], expected)


def test_float32_stays():
    layer = LAYER % "coeff: 0.1 coeff: 0.3"
    run = LayerRun(LayerCase(layer, [SHAPE] * 2), np.float32)
    assert run.forward()[0].dtype == np.float32
    assert all(c.dtype == np.float32 for c in run.layer.coeffs)


def test_one_bottom_is_scaled_by_its_coeff():
    """As the deploy nets of FlowNet 2 have it; without one, a bottom may have been forgotten."""
    layer = f'bottom: "x" {LAYER % "coeff: 0.25"}'
    check_layer(LayerCase(layer, [SHAPE], reference=lambda x: 0.25 * x))
    for settings in ("", "operation: MAX", "operation: PROD"):
        with pytest.raises(NetError, match="takes 2 or more bottom"):
            LayerRun(LayerCase(f'bottom: "x" {LAYER % settings}', [SHAPE]))


@pytest.mark.parametrize(
    ("settings", "shapes", "message"),
    [
        ("coeff: 1", [(2, 3)] * 2, "1 coeff for 2 bottoms"),
        ("operation: PROD coeff: 1 coeff: 1", [(2, 3)] * 2, "PROD takes no coeff"),
        ("", [(2, 3), (2, 1)], r"one shape, found \[\(2, 3\), \(2, 1\)\]"),
        ("", [(2, 3), (6,)], "one shape"),
        ("", [(2, 3)], "takes 2 or more bottom"),
    ],
)
def test_settings_refused(settings, shapes, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(LAYER % settings, shapes))
