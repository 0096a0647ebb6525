"""Corners in which several ranks must do what one rank with the joint batch does."""

import numpy as np
import pytest
from cases import Case, build, distance, identical, plan_for, weights

from pycaffe_dist.parallel.cluster import distribute
from pycaffe_dist.parallel.communicator import Communicator
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.testing.ranks import run_ranks

CLOSE = 1e-5
STEPS = 5
Arrays = list[np.ndarray]


# -- frozen parameters that get a gradient ---------------------------------------------------------


@pytest.mark.parametrize("net", ["forced", "frozen sharer", "frozen LSTM"])
@pytest.mark.parametrize(
    ("solver", "extra", "comm"),
    [
        ("SGD", "clip_gradients: 0.1", "allreduce"),
        ("SGD", "clip_gradients: 0.1", "sfb"),
        ("Adam", "", "sharded"),
        ("AdaGrad", "", "sf-push"),
    ],
)
def test_gradients_of_frozen_parameters_count_as_on_one_rank(
    net: str, solver: str, extra: str, comm: str
) -> None:
    """In the norm that is clipped, and in the histories of rules that remember gradients."""
    case = Case(net, solver, extra, ClusterSettings(comm=comm))

    def work(communicator: Communicator) -> tuple[Arrays, Arrays]:
        mine = build(case, [communicator.rank], communicator.size)
        plan = plan_for(case, mine, communicator)
        with distribute(mine, case.settings, communicator, plan):
            mine.step(STEPS)
        return weights(mine), [h.data.copy() for h in mine.history]

    everybody = run_ranks(["a", "b", "b"], work)
    joint = build(case, range(3), 3)
    joint.step(STEPS)
    assert identical([mine for mine, _ in everybody])
    mine, history = everybody[0]
    assert distance(mine, weights(joint)) < CLOSE
    assert distance(history, [h.data for h in joint.history]) < CLOSE
