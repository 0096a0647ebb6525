"""Each rule against its formula, written again for whole float64 arrays."""

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.solvers.rules import RULES, create_rule
from pycaffe_dist.update_step import UpdateStep

STEPS, RATE = 5, 0.1


def sgd(g, h, t):
    h[0] = 0.9 * h[0] + RATE * g
    return h[0]


def nesterov(g, h, t):
    old = h[0]
    h[0] = 0.9 * old + RATE * g
    return 1.9 * h[0] - 0.9 * old


def adagrad(g, h, t):
    h[0] = h[0] + g**2
    return RATE * g / (np.sqrt(h[0]) + 1e-3)


def rmsprop(g, h, t):
    h[0] = 0.95 * h[0] + 0.05 * g**2
    return RATE * g / (np.sqrt(h[0]) + 1e-3)


def adadelta(g, h, t):
    h[0] = 0.9 * h[0] + 0.1 * g**2
    u = g * np.sqrt((h[1] + 1e-3) / (h[0] + 1e-3))
    h[1] = 0.9 * h[1] + 0.1 * u**2
    return RATE * u


def adam(g, h, t):
    h[0] = 0.9 * h[0] + 0.1 * g
    h[1] = 0.99 * h[1] + 0.01 * g**2
    return RATE * np.sqrt(1 - 0.99**t) / (1 - 0.9**t) * h[0] / (np.sqrt(h[1]) + 1e-3)


FORMULAS = {
    "SGD": (sgd, {"momentum": 0.9}),
    "Nesterov": (nesterov, {"momentum": 0.9}),
    "AdaGrad": (adagrad, {}),
    "RMSProp": (rmsprop, {"rms_decay": 0.95}),
    "AdaDelta": (adadelta, {"momentum": 0.9}),
    "Adam": (adam, {"momentum": 0.9, "momentum2": 0.99}),
}


IN_TEST_UPDATE = {"AdamW", "LARS", "LAMB"}  # not made of blocks alone


def test_every_rule_is_here():
    assert set(RULES) == set(FORMULAS) | IN_TEST_UPDATE


@pytest.mark.parametrize("name", FORMULAS)
def test_rule(name):
    formula, settings = FORMULAS[name]
    rule = create_rule(SolverParameter(type=name, delta=1e-3, **settings))
    rng = np.random.default_rng(1)
    history = {slot: np.zeros(50) for slot in rule.slots}
    expected = [np.zeros(50) for _ in rule.slots]
    work = np.empty(50)
    for t in range(STEPS):
        g = rng.standard_normal(50)
        v = g.copy()
        rule.step(v, history, UpdateStep(t, RATE, correction=rule.correction(t)), work)
        np.testing.assert_allclose(v, formula(g, expected, t + 1), rtol=1e-5)
        for ours, theirs in zip(history.values(), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5)


@pytest.mark.parametrize("name", ["AdaGrad", "RMSProp"])
def test_momentum_is_refused(name):
    with pytest.raises(NetError, match="momentum cannot be used"):
        create_rule(SolverParameter(type=name, momentum=0.9))


def test_unknown_type():
    with pytest.raises(NetError, match='"Adamm"; did you mean "Adam"'):
        create_rule(SolverParameter(type="Adamm"))


def test_rms_decay_range():
    with pytest.raises(NetError, match="rms_decay"):
        create_rule(SolverParameter(type="RMSProp", rms_decay=1.0))
