import math

import numpy as np
import pytest

from pycaffe_dist.blob import Blob
from pycaffe_dist.errors import NetError
from pycaffe_dist.learnable import Param
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.solvers import update
from pycaffe_dist.solvers.policies import (
    Plateau,
    learning_rate,
    momentum,
    policy_problems,
    weight_decay,
)
from pycaffe_dist.solvers.rules import create_rule


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


# -- momentum and weight decay ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "iteration", "rate", "expected"),
    [
        ({}, 5, 0.5, None),
        ({"momentum_policy": "poly", "max_momentum": 0.9}, 5, 0.5, 0.7),
        ({"momentum_policy": "poly", "max_momentum": 0.9, "momentum_power": 2}, 5, 0.5, 0.6),
        ({"momentum_policy": "poly"}, 10, 0.5, 0.99),
        ({"momentum_policy": "opt"}, 5, 0.16, 0.64),
        ({"momentum_policy": "opt", "max_momentum": 0.6}, 5, 0.16, 0.6),
    ],
)
def test_momentum(settings, iteration, rate, expected):
    param = solver(momentum=0.5, max_iter=10, lr_policy="fixed", **settings)
    assert not policy_problems(param)
    assert momentum(param, iteration, rate) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, 0.5),
        ({"weight_decay_policy": "poly"}, 0.25),
        ({"weight_decay_policy": "poly", "weight_decay_power": 2}, 0.125),
        ({"weight_decay_policy": "poly", "max_weight_decay": 1.5}, 1.0),
    ],
)
def test_weight_decay(settings, expected):
    param = solver(weight_decay=0.5, max_iter=10, lr_policy="fixed", **settings)
    assert not policy_problems(param)
    assert weight_decay(param, 5) == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["SGD", "Nesterov"])
def test_rules_follow_these_policies(kind):
    """h = 1, g = 2 and w = 2 with a decay of 0.25 in the middle: h = 0.75 + 0.1·(2 + 0.5) = 1.

    Nesterov moves by (1 + 0.75)·1 − 0.75·1.
    """
    settings = {"momentum_policy": "poly", "weight_decay_policy": "poly", "max_momentum": 1}
    param = solver(type=kind, momentum=0.5, weight_decay=0.5, max_iter=10, **settings)
    rule = create_rule(param)
    blob, past = Blob((1,), np.float64), Blob((1,), np.float64)
    blob.data[...], blob.diff[...], past.data[...] = 2, 2, 1
    learned = Param(blob, "0", (0, 0), 1.0, 1.0, False, False)
    update.apply([learned], [{"momentum": past}], rule, update.step_of(param, rule, 5, 0.1))
    assert past.data[0] == pytest.approx(1.0)
    assert 2 - blob.data[0] == pytest.approx(1.0)


def test_a_policy_of_momentum_is_for_rules_that_have_one():
    param = solver(type="Adam", lr_policy="fixed", momentum_policy="opt")
    assert policy_problems(param) == ["momentum_policy is for SGD and Nesterov, not for Adam"]


def test_unknown_policies_of_momentum_and_decay():
    param = solver(lr_policy="fixed", momentum_policy="best", weight_decay_policy="poly")
    assert policy_problems(param) == [
        'momentum_policy "best" is not known; there are: fixed, poly, opt',
        'weight_decay_policy "poly" needs max_iter > 0, not 0',
    ]
