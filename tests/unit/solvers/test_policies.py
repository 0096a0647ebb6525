import math

import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.solvers.policies import learning_rate, policy_problems


def solver(**settings):
    return SolverParameter(base_lr=0.5, **settings)


@pytest.mark.parametrize(
    ("settings", "iteration", "step", "rate"),
    [
        ({"lr_policy": "fixed"}, 1000, 0, 0.5),
        ({"lr_policy": "step", "gamma": 0.5, "stepsize": 10}, 29, 0, 0.125),
        ({"lr_policy": "exp", "gamma": 0.5}, 3, 0, 0.0625),
        ({"lr_policy": "inv", "gamma": 1, "power": 2}, 3, 0, 0.5 / 16),
        ({"lr_policy": "multistep", "gamma": 0.5}, 7, 2, 0.125),
        ({"lr_policy": "poly", "power": 2, "max_iter": 10}, 5, 0, 0.125),
        ({"lr_policy": "sigmoid", "gamma": -1, "stepsize": 5}, 5, 0, 0.25),
        ({"lr_policy": "sigmoid", "gamma": 1, "stepsize": 5}, 6, 0, 0.5 / (1 + math.exp(-1))),
    ],
)
def test_rates(settings, iteration, step, rate):
    param = solver(**settings)
    if settings.get("gamma", 0) < 0:
        with pytest.raises(NetError, match="gamma >= 0"):
            learning_rate(param, iteration, step)
    else:
        assert learning_rate(param, iteration, step) == pytest.approx(rate, rel=1e-6)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({}, 'lr_policy "" is not known'),
        ({"lr_policy": "multstep"}, 'did you mean "multistep"'),
        ({"lr_policy": "step", "gamma": 0.1}, "stepsize > 0"),
        ({"lr_policy": "step", "gamma": -1, "stepsize": 5}, "gamma >= 0"),
        ({"lr_policy": "poly", "power": 1}, "max_iter > 0"),
    ],
)
def test_problems(settings, text):
    (problem,) = policy_problems(solver(**settings))
    assert text in problem


@pytest.mark.parametrize(
    ("settings", "iteration", "rate"),
    [
        ({"lr_policy": "sigmoid", "gamma": 1, "stepsize": 1000}, 0, 0.0),
        ({"lr_policy": "exp", "gamma": 2}, 2000, math.inf),
        ({"lr_policy": "poly", "power": 0.5, "max_iter": 10}, 11, math.nan),
    ],
)
def test_rates_overflow_as_in_c(settings, iteration, rate):
    assert learning_rate(solver(**settings), iteration, 0) == pytest.approx(rate, nan_ok=True)
