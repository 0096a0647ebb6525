"""Whether an iteration may update, as the losses of all ranks become known."""

import numpy as np
import pytest

from pycaffe_dist.parallel.verdict import Verdict


@pytest.fixture
def verdict():
    made = Verdict(lambda: made.losses)
    made.losses = None
    made.begin()
    return made


def test_updates_wait_until_all_losses_are_known(verdict):
    waiting = verdict.wait()
    assert next(waiting) is False and verdict.update is None
    verdict.losses = np.array([0.5, -1.0])
    assert list(waiting) == [] and verdict.update is True


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("decision", [True, False])
def test_where_a_loss_is_no_number_the_main_thread_decides(verdict, bad, decision):
    verdict.losses = np.array([0.5, bad])
    waiting = verdict.wait()
    assert next(waiting) is False and verdict.update is None
    verdict.decide(decision)
    assert list(waiting) == [] and verdict.update is decision


def test_a_decision_holds_for_its_iteration(verdict):
    verdict.losses = np.array([1.0])
    assert verdict.update is True
    verdict.losses = None  # those of the next are not known yet
    assert verdict.update is True
    verdict.begin()
    assert verdict.update is None
    verdict.decide(False)
    verdict.losses = np.array([1.0])
    assert verdict.update is False
