import numpy as np
import pytest

from pycaffe_dist.blob import Blob
from pycaffe_dist.errors import NetError
from pycaffe_dist.learnable import Param
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.solvers import update
from pycaffe_dist.solvers.rules import BLOCK, create_rule


def param(data, diff, lr_mult=1.0, decay_mult=1.0):
    blob = Blob(np.shape(data), np.float64)
    blob.data[...], blob.diff[...] = data, diff
    return Param(blob, "0", (0, 0), lr_mult, decay_mult, False, False)


def zeros(rule, size):
    return {slot: Blob((size,), np.float64) for slot in rule.slots}


def sgd(p, history, solver):
    rule = create_rule(solver)
    update.apply([p], [{"momentum": history}], rule, update.step_of(solver, rule, 0, 0.1))


def test_clip_scales_all_parameters_by_their_common_norm():
    params = [param([1.0], [3.0]), param([1.0], [4.0])]
    assert update.clip(params, 10.0) is None
    norm, scale = update.clip(params, 1.0)
    assert (norm, scale) == (5.0, 0.2)
    np.testing.assert_allclose([p.blob.diff[0] for p in params], [0.6, 0.8])


@pytest.mark.parametrize("kind", ["L1", "L2"])
def test_order_of_operations_over_block_borders(kind):
    """Normalise by iter_size, regularise, the rule; the diff then holds what was taken off."""
    rng = np.random.default_rng(1)
    size = BLOCK + 17
    w, g = rng.standard_normal(size), rng.standard_normal(size)
    w[3] = 0
    solver = SolverParameter(
        iter_size=4, weight_decay=0.25, regularization_type=kind, momentum=0.5, type="SGD"
    )
    p, history = param(w, g, lr_mult=2.0, decay_mult=3.0), Blob((size,), np.float64)
    history.data[...] = 1.0
    sgd(p, history, solver)
    penalty = np.sign(w) if kind == "L1" else w
    v = 0.5 * 1.0 + 0.2 * (g / 4 + 0.75 * penalty)
    np.testing.assert_allclose(history.data, v, rtol=1e-6)
    np.testing.assert_allclose(p.blob.diff, v, rtol=1e-6)
    np.testing.assert_allclose(p.blob.data, w - v, rtol=1e-6)


def test_unknown_regularisation_counts_only_with_decay():
    solver = SolverParameter(regularization_type="L3", weight_decay=0.1, type="SGD")
    p, history = param([1.0], [1.0]), Blob((1,), np.float64)
    with pytest.raises(NetError, match='"L1" or "L2", not "L3"'):
        sgd(p, history, solver)
    solver.weight_decay = 0
    sgd(p, history, solver)
    assert p.blob.data[0] == pytest.approx(0.9)


# -- rules that look at whole parameters, against their formulas -----------------------------------


def adam_of(g, t=1):
    """The first step of Adam with momentum 0.9, momentum2 0.99 and delta 1e-3, without its rate."""
    return np.sqrt(1 - 0.99**t) / (1 - 0.9**t) * 0.1 * g / (np.sqrt(0.01 * g**2) + 1e-3)


def norm(x):
    return np.sqrt((x**2).sum())


def adamw(w, g, decay):
    return 0.2 * (adam_of(g) + decay * w)


def lars(w, g, decay):
    return 0.2 * 0.01 * norm(w) / (norm(g) + decay * norm(w)) * (g + decay * w)


def lamb(w, g, decay):
    u = adam_of(g) + decay * w
    return 0.2 * norm(w) / norm(u) * u


def larc(w, g, decay):
    return 0.1 * 0.1 * 0.01 * norm(w) / norm(g) * (g + decay * w)


def larc_clipping(w, g, decay):
    return min(0.1, 0.1 * 0.01 * norm(w) / norm(g)) * (g + decay * w)


WHOLE = {"momentum": 0.9, "larc_eta": 0.01}


@pytest.mark.parametrize("size", [7, BLOCK + 17])
@pytest.mark.parametrize("decay", [0.0, 0.25])
@pytest.mark.parametrize(
    ("formula", "settings"),
    [
        (adamw, {"type": "AdamW", "momentum": 0.9, "momentum2": 0.99, "delta": 1e-3}),
        (lamb, {"type": "LAMB", "momentum": 0.9, "momentum2": 0.99, "delta": 1e-3}),
        (lars, {"type": "LARS", **WHOLE}),
        (larc, {"type": "SGD", "larc": True, **WHOLE}),
        (larc_clipping, {"type": "SGD", "larc": True, "larc_policy": "clip", **WHOLE}),
    ],
)
def test_norms_are_those_of_whole_parameters(formula, settings, decay, size):
    """A rate of 0.1 and lr_mult of 2, which larc takes for a switch; gradients of 4 passes."""
    rng = np.random.default_rng(1)
    w, g = rng.standard_normal(size), rng.standard_normal(size)
    solver = SolverParameter(iter_size=4, weight_decay=decay, **settings)
    rule = create_rule(solver)
    p = param(w, 4 * g, lr_mult=2.0)
    update.apply([p], [zeros(rule, size)], rule, update.step_of(solver, rule, 0, 0.1))
    v = formula(w, g, decay)
    np.testing.assert_allclose(p.blob.diff, v, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(p.blob.data, w - v, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("kind", ["LARS", "LAMB"])
def test_a_parameter_of_zeros_learns_at_the_plain_rate(kind):
    solver = SolverParameter(type=kind, momentum=0.0, momentum2=0.0, delta=0)
    rule = create_rule(solver)
    p = param([0.0, 0.0], [3.0, 4.0])
    update.apply([p], [zeros(rule, 2)], rule, update.step_of(solver, rule, 0, 0.1))
    step = [-0.3, -0.4] if kind == "LARS" else [-0.1, -0.1]
    np.testing.assert_allclose(p.blob.data, step, rtol=1e-6)


def test_a_frozen_parameter_stays_with_larc():
    solver = SolverParameter(type="SGD", larc=True)
    p = param([1.0], [1.0], lr_mult=0.0)
    rule = create_rule(solver)
    update.apply([p], [zeros(rule, 1)], rule, update.step_of(solver, rule, 0, 0.1))
    assert p.blob.data[0] == 1


def test_larc_has_two_policies():
    with pytest.raises(NetError, match='larc_policy is "scale" or "clip", not "scal"'):
        create_rule(SolverParameter(type="SGD", larc=True, larc_policy="scal"))


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"type": "SGD"}, ""),
        ({"type": "AdamW"}, ""),
        ({"type": "SGD", "clip_gradients": 0}, "clip_gradients needs the norm"),
        ({"type": "SGD", "lr_policy": "plateau"}, '"plateau" needs the loss'),
        ({"type": "LAMB"}, "LAMB needs the norms of whole parameters"),
        ({"type": "SGD", "larc": True}, "larc needs the norms of whole parameters"),
    ],
)
def test_what_updates_wait_for(settings, why):
    solver = SolverParameter(**settings)
    said = update.waits(solver, create_rule(solver))
    assert why in said
    assert bool(said) == bool(why)
