import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

SETTINGS = [
    {},
    {"base": 2.0},
    {"base": 2.0, "shift": 1.0},
    {"base": 2.0, "scale": 3.0},
    {"base": 2.0, "scale": 3.0, "shift": 1.0},
    {"base": 0.5},
    {"shift": 1.0},
    {"scale": 3.0},
    {"scale": 3.0, "shift": 1.0},
]


def layer(kind, settings):
    text = " ".join(f"{k}: {v}" for k, v in settings.items())
    return f'type: "{kind}" {kind.lower()}_param {{ {text} }}'


@pytest.mark.parametrize("settings", SETTINGS)
def test_exp(settings):
    base, scale, shift = (
        settings.get(k, d) for k, d in (("base", np.e), ("scale", 1), ("shift", 0))
    )
    check_layer(
        LayerCase(
            layer("Exp", settings),
            [(2, 3, 4)],
            reference=lambda x: base ** (shift + scale * x),
            in_place=True,
            tolerance=1e-5,
        )
    )


@pytest.mark.parametrize("settings", SETTINGS)
def test_log(settings):
    base, scale, shift = (
        settings.get(k, d) for k, d in (("base", np.e), ("scale", 1), ("shift", 0))
    )
    check_layer(
        LayerCase(
            layer("Log", settings),
            [np.random.default_rng(0).uniform(0.3, 3, (2, 3, 4))],
            reference=lambda x: np.log(shift + scale * x) / np.log(base),
        )
    )


def test_minus_one_stands_for_e():
    x = np.array([0.5, 2.0])
    exp, log = (
        LayerRun(LayerCase(layer(k, {"base": -1}), [x])).forward()[0] for k in ("Exp", "Log")
    )
    np.testing.assert_allclose(exp, np.exp(x))
    np.testing.assert_allclose(log, np.log(x))


def test_beyond_the_domain_no_warning():
    run = LayerRun(LayerCase('type: "Exp"', [np.array([1000.0, -1000.0])]), np.float32)
    np.testing.assert_array_equal(run.forward()[0], [np.inf, 0])
    run = LayerRun(LayerCase('type: "Log"', [np.array([0.0, -1.0])]), np.float32)
    np.testing.assert_array_equal(run.forward()[0], [-np.inf, np.nan])
    run.backward([np.ones(2)], [True])
    np.testing.assert_array_equal(run.bottom[0].blob.diff, [np.inf, -1])


def test_log_in_place_squares_its_slope():
    run = LayerRun(LayerCase(layer("Log", {"scale": 2.0}), [np.array([1.0, 3.0])]), in_place=True)
    y = run.forward()[0]
    np.testing.assert_allclose(y, np.log([2.0, 6.0]))
    run.backward([np.full(2, 7.0)], [True])
    np.testing.assert_allclose(run.bottom[0].blob.diff, (2 / (2 * y)) ** 2)


@pytest.mark.parametrize("kind", ["Exp", "Log"])
@pytest.mark.parametrize("base", ["0", "-2", "inf", "nan"])
def test_refuses_other_bases(kind, base):
    with pytest.raises(NetError, match=f"base must be above 0, or -1 to stand for e, not {base}"):
        LayerRun(LayerCase(layer(kind, {"base": base}), [(2,)]))


def test_log_refuses_base_one():
    with pytest.raises(NetError, match="base is 1"):
        LayerRun(LayerCase(layer("Log", {"base": 1}), [(2,)]))
    LayerRun(LayerCase(layer("Exp", {"base": 1}), [(2,)]))
