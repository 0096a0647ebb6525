import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pycaffe_dist.parallel.plan.step import LayerTimes, Schedule, Transfer, step_seconds
from pycaffe_dist.parallel.simulate.ranks import draw_paces, steps

TIMES = LayerTimes((1.0, 1.0, 1.0), (2.0, 2.0, 2.0))
seconds = st.integers(0, 40).map(lambda n: n / 4)


@st.composite
def schedules(draw):
    layers = draw(st.integers(1, 6))
    times = LayerTimes(
        *(tuple(draw(st.lists(seconds, min_size=layers, max_size=layers))) for _ in "fb")
    )
    at = sorted(draw(st.lists(st.integers(0, layers - 1), max_size=6)), reverse=True)
    shares = st.sampled_from([0.0, 0.0, 0.25, 0.5, 0.75])
    transfers = tuple(
        Transfer(layer, link, draw(seconds), handling=draw(shares) * link)
        for layer in at
        for link in [draw(seconds)]
    )
    return Schedule(
        times,
        transfers,
        overlap=draw(st.booleans()),
        barrier=draw(st.booleans()),
        passes=draw(st.integers(1, 3)),
    )


@settings(max_examples=300, deadline=None)
@given(schedules(), st.integers(1, 5))
def test_ranks_that_are_equally_fast_take_the_step_of_the_plan(schedule, ranks):
    found = steps(schedule, np.ones((3, ranks)))
    assert found == pytest.approx([step_seconds(schedule)] * 3)


@pytest.mark.parametrize("overlap", [True, False])
def test_an_exchange_waits_for_the_slowest_rank(overlap):
    schedule = Schedule(TIMES, (Transfer(0, 1.0, 0.0),), overlap=overlap)
    paces = np.array([[1.0, 1.0, 2.0]])
    # Rank 2 takes 12 seconds for its backward, and 6 for the forward that follows.
    assert steps(schedule, paces) == pytest.approx([12 + 1 + 6])


def test_a_rank_that_ends_a_step_early_begins_the_next_one_early():
    schedule = Schedule(TIMES, (Transfer(0, 0.0, 0.0),))
    # Rank 0 ends at 15 and takes 12 + 6 seconds then; rank 1 ends at 18, and takes 6 + 3.
    assert list(steps(schedule, np.array([[1.0, 2.0], [2.0, 1.0]]))) == [18.0, 15.0]


def test_exchanges_of_a_slow_rank_hold_up_the_link_for_those_behind():
    schedule = Schedule(TIMES, (Transfer(2, 5.0, 0.0), Transfer(0, 1.0, 0.0)))
    # The first leaves at 4, not at 2; the second is behind it; then the slow forward.
    assert steps(schedule, np.array([[1.0, 2.0]])) == pytest.approx([12 + 1 + 6])
    longer = Schedule(TIMES, (Transfer(2, 9.0, 0.0), Transfer(0, 1.0, 0.0)))
    assert steps(longer, np.array([[1.0, 2.0]])) == pytest.approx([4 + 9 + 1 + 6])


@pytest.mark.parametrize(("barrier", "seconds"), [(True, 17), (False, 16)])
def test_a_barrier_holds_up_the_layers_below_the_last_exchange(barrier, seconds):
    exchanges = (Transfer(2, 1.0, 0.0), Transfer(1, 10.0, 0.0))
    # Backward ends at 6, the second exchange at 14; the lowest layer's forward need not wait.
    found = steps(Schedule(TIMES, exchanges, barrier=barrier), np.ones((1, 2)))
    assert list(found) == [seconds]


def test_staleness_hides_a_rank_that_is_slow_by_turns():
    paces = np.ones((40, 2))
    paces[0::2, 0] = paces[1::2, 1] = 2.0
    exchange = (Transfer(0, 0.0, 0.0),)
    strict = steps(Schedule(TIMES, exchange, overlap=False), paces)[20:].mean()
    stale = steps(Schedule(TIMES, exchange, staleness=2), paces)[20:].mean()
    assert strict == pytest.approx(18)
    assert stale == pytest.approx(13.5)


def test_staleness_cannot_hide_a_rank_that_is_always_slow_nor_a_slow_link():
    paces = np.ones((60, 3))
    paces[:, 1] = 2.0
    found = steps(Schedule(TIMES, (Transfer(0, 1.0, 0.0),), staleness=3), paces)
    assert found[30:].mean() == pytest.approx(18)
    found = steps(Schedule(TIMES, (Transfer(0, 25.0, 0.0),), staleness=3), np.ones((60, 3)))
    assert found[30:].mean() == pytest.approx(25)


def test_a_stale_rank_waits_for_updates_that_are_more_than_so_many_steps_old():
    schedule = Schedule(LayerTimes((0.5,), (0.5,)), (Transfer(0, 0.0, 0.0),), staleness=1)
    # The slow rank ends at 3, 6, 9, 12; the other at 1, 2, then a second after 3, and after 6.
    found = steps(schedule, np.array([[1.0, 3.0]] * 4))
    assert list(found) == [2, 2, 2.5, 3]
    # A link takes the updates of a step after those of the step before.
    linked = Schedule(LayerTimes((0.5,), (0.5,)), (Transfer(0, 2.0, 0.5),), staleness=1)
    # Steps end at 1.5 and 3; updates have come at 3.5, 5.5, 7.5: then two seconds a step.
    assert list(steps(linked, np.ones((4, 2)))) == [1.5, 1.5, 2, 2]


def test_the_slowest_of_many_ranks_is_as_slow_as_statistics_say():
    # The mean of the largest of 32 normal numbers is 2.07 deviations.
    schedule = Schedule(TIMES, (Transfer(0, 0.0, 0.0),), overlap=False)
    found = steps(schedule, draw_paces(2000, 32, 0.02)).mean()
    assert found / TIMES.total == pytest.approx(1 + 2.07 * 0.02, rel=2e-3)


def test_paces_have_a_mean_of_1_and_one_rank_may_be_slow():
    paces = draw_paces(500, 64, 0.1, slow=3.0)
    assert paces[:, 1:].mean() == pytest.approx(1, abs=2e-3)
    assert paces[:, 1:].std() == pytest.approx(0.1, rel=0.02)
    assert paces[:, 0].mean() == pytest.approx(3, rel=0.02)
    assert (draw_paces(3, 2, 0.1, seed=7) == draw_paces(3, 2, 0.1, seed=7)).all()
