import math

import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.solvers.policies import Plateau, learning_rate, policy_problems


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
        ({"lr_policy": "poly", "power": 2, "max_iter": 10, "min_lr": 0.1}, 5, 0, 0.2),
        ({"lr_policy": "exp", "gamma": 0.5, "min_lr": 0.1}, 9, 0, 0.1),
        ({"lr_policy": "plateau", "gamma": 0.5, "plateau_winsize": [9]}, 7, 2, 0.125),
        ({"lr_policy": "multifixed", "stagelr": [3, 2, 1], "stageiter": [5, 9, 11]}, 5, 0, 3),
        ({"lr_policy": "multifixed", "stagelr": [3, 2, 1], "stageiter": [5, 9, 11]}, 6, 0, 2),
        ({"lr_policy": "multifixed", "stagelr": [3, 2, 1], "stageiter": [5, 9, 11]}, 50, 0, 1),
        ({"lr_policy": "cosine", "max_iter": 12}, 4, 0, 0.375),
        ({"lr_policy": "cosine", "max_iter": 12, "min_lr": 0.1}, 6, 0, 0.3),
        ({"lr_policy": "cosine", "max_iter": 12, "min_lr": 0.1}, 20, 0, 0.1),
        ({"lr_policy": "fixed", "warmup_iter": 10, "warmup_start_lr": 0.1}, 5, 0, 0.3),
        ({"lr_policy": "fixed", "warmup_iter": 10, "warmup_start_lr": 0.1}, 10, 0, 0.5),
        ({"lr_policy": "fixed", "rampup_interval": 10, "rampup_lr": 0.1}, 5, 0, 0.2),
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
        ({"lr_policy": "cosine"}, "max_iter > 0"),
        ({"lr_policy": "plateau", "gamma": 0.1}, "needs plateau_winsize"),
        (
            {"lr_policy": "multifixed", "stagelr": [1], "stageiter": [5, 9]},
            "as many stagelr as stageiter, not 1 and 2",
        ),
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


def test_the_rate_falls_a_window_after_the_last_minimum():
    plateau, step, steps = Plateau(), 0, []
    for iteration, loss in enumerate([5, 4, 4, 4, 4, 3, 3, 3, 3, 3]):
        step = plateau.passed([3, 2], step, iteration, loss)
        steps.append(step)
    # The minimum of iteration 1 is 3 iterations old in 4; that of 5 is 2 iterations old in 7; there
    # is no third window.
    assert steps == [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert (plateau.minimum, plateau.last_event) == (3, 7)
