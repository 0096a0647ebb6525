import dataclasses

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.solvers.rules import create_rule
from pycaffe_dist.solvers.update import step_of
from pycaffe_dist.update_step import ParamValues, UpdateStep


def test_a_step_is_what_the_solver_says_of_an_iteration():
    solver = SolverParameter(
        type="Adam", momentum=0.5, momentum2=0.75, iter_size=4, weight_decay=0.25, clip_gradients=2
    )
    step = step_of(solver, create_rule(solver), 1, 0.125)
    correction = (1 - 0.75**2) ** 0.5 / (1 - 0.5**2)
    assert step == UpdateStep(1, 0.125, 4, 0.25, "L2", 2, correction)
    assert step.share == 0.25
    with pytest.raises(dataclasses.FrozenInstanceError):
        step.rate = 1.0  # type: ignore[misc]


def test_a_parameter_has_its_own_rate_and_decay():
    step = UpdateStep(0, 0.5, decay=0.25).times(2.0, 4.0)
    assert (step.rate, step.decay) == (1.0, 1.0)


def test_an_unknown_regularisation_counts_only_with_decay():
    assert UpdateStep(0, 0.1, decay=0.1, regularization="L1").l1
    assert not UpdateStep(0, 0.1, decay=0.0, regularization="L3").l1
    with pytest.raises(NetError, match='"L1" or "L2", not "L3"'):
        _ = UpdateStep(0, 0.1, decay=0.1, regularization="L3").l1


def test_parts_of_values_are_the_same_memory():
    values = ParamValues(np.zeros(6), np.zeros(6), {"momentum": np.zeros(6)})
    part = values[2:4]
    part.data[...] = part.diff[...] = part.history["momentum"][...] = 1
    for array in (values.data, values.diff, values.history["momentum"]):
        assert array.tolist() == [0, 0, 1, 1, 0, 0]
