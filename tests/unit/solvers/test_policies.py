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


# -- of forks, and of today ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "iteration", "step", "rate"),
    [
        ({"lr_policy": "plateau", "gamma": 0.1}, 7, 2, 0.005),
        ({"lr_policy": "multifixed", "stagelr": [0.3, 0.2], "stageiter": [4, 9]}, 4, 0, 0.3),
        ({"lr_policy": "multifixed", "stagelr": [0.3, 0.2], "stageiter": [4, 9]}, 5, 0, 0.2),
        ({"lr_policy": "multifixed", "stagelr": [0.3, 0.2], "stageiter": [4, 9]}, 99, 0, 0.2),
        ({"lr_policy": "cosine", "max_iter": 8}, 0, 0, 0.5),
        ({"lr_policy": "cosine", "max_iter": 8, "min_lr": 0.1}, 4, 0, 0.3),
        ({"lr_policy": "cosine", "max_iter": 8, "min_lr": 0.1}, 9, 0, 0.1),
        ({"lr_policy": "poly", "power": 1, "max_iter": 4, "min_lr": 0.1}, 2, 0, 0.3),
        ({"lr_policy": "exp", "gamma": 0.1, "min_lr": 0.2}, 5, 0, 0.2),
        ({"lr_policy": "fixed", "warmup_iter": 4, "warmup_start_lr": 0.1}, 1, 0, 0.2),
        ({"lr_policy": "fixed", "warmup_iter": 4, "warmup_start_lr": 0.1}, 4, 0, 0.5),
        ({"lr_policy": "fixed", "rampup_interval": 4, "rampup_lr": 0.1}, 2, 0, 0.2),
        ({"lr_policy": "fixed", "rampup_interval": 4, "rampup_lr": 0.1}, 4, 0, 0.5),
    ],
)
def test_rates_of_forks(settings, iteration, step, rate):
    assert learning_rate(solver(**settings), iteration, step) == pytest.approx(rate, rel=1e-6)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"lr_policy": "multifixed", "stagelr": [1]}, "as many stagelr as stageiter, not 1 and 0"),
        ({"lr_policy": "fixed", "clip_weights": 1}, "clip_weights is not supported"),
        ({"lr_policy": "fixed", "eval_type": "x"}, 'eval_type is "classification" or'),
    ],
)
def test_problems_of_forks(settings, text):
    (problem,) = policy_problems(solver(**settings))
    assert text in problem


def test_what_changes_nothing_is_passed_over():
    settings = {"lr_policy": "fixed", "store_blobs_in_old_format": True, "larc": False}
    assert policy_problems(solver(**settings)) == []


def test_a_plateau_ends_where_the_loss_has_not_fallen_for_its_window():
    param, plateau = solver(lr_policy="plateau", plateau_winsize=[3, 2]), Plateau()
    losses = [5, 4, 4, 4, 4, 3, 3, 3, 3, 3, 3]
    step, falls = 0, []
    for i, loss in enumerate(losses):
        if plateau.due(param, i, loss, step):
            step += 1
            falls.append(i)
    # 4 is the best from iteration 1 on, 3 from 5 on; after two falls nothing changes any more.
    assert falls == [4, 7]
    assert (plateau.minimum_loss, plateau.last_event) == (3, 7)
