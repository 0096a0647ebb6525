from pycaffe_dist.parallel.plan import step
from pycaffe_dist.parallel.plan.step import LayerTimes, Schedule, Transfer

# Three layers: forward 1 second each, backward 2.
TIMES = LayerTimes((1.0, 1.0, 1.0), (2.0, 2.0, 2.0))


def seconds(*transfers, **how):
    return step.step_seconds(Schedule(TIMES, transfers, **how))


def test_without_exchanges_a_step_is_its_layers():
    assert seconds() == 9


def test_an_exchange_hides_under_the_rest_of_backward():
    assert seconds(Transfer(2, 4.0, 0.0)) == 9
    assert seconds(Transfer(2, 4.0, 0.0), overlap=False) == 13


def test_forward_waits_for_a_layer_only_when_it_gets_there():
    # It arrives 6 seconds after layer 2's backward: 2 after all backward, when layer 2 is next.
    assert seconds(Transfer(2, 6.0, 0.0)) == 9
    assert seconds(Transfer(2, 7.0, 0.0)) == 10
    # What the first layer needs cannot hide.
    assert seconds(Transfer(0, 1.0, 0.0)) == 10


def test_exchanges_take_the_link_one_after_the_other():
    assert seconds(Transfer(2, 5.0, 0.0), Transfer(0, 1.0, 0.0)) == 6 + 2 + 3


def test_work_is_never_hidden():
    assert seconds(Transfer(2, 1.0, 0.5), Transfer(1, 1.0, 0.25)) == 9.75


def test_clipping_waits_for_the_last_exchange_before_any_update():
    assert seconds(Transfer(2, 6.0, 0.0), barrier=True) == 11


def test_stale_values_leave_only_the_busier_of_processor_and_link():
    job = Transfer(0, 7.0, 0.5)
    assert seconds(job) == 16.5
    assert seconds(job, staleness=1) == 9.5
    assert seconds(Transfer(0, 20.0, 0.5), staleness=1) == 20


def test_of_several_passes_only_the_last_hides_an_exchange():
    assert seconds(Transfer(2, 7.0, 0.0), passes=3) == 2 * 9 + 10
    assert seconds(Transfer(2, 7.0, 0.0), passes=3, overlap=False) == 3 * 9 + 7


def test_bytes_on_the_link_take_a_share_of_the_processor():
    # Of the 4 seconds on the link, after layer 2's backward, computing gets 3.
    assert seconds(Transfer(2, 4.0, 0.0, handling=1.0)) == 10
    # Who waits for the bytes has nothing to lose by them.
    assert seconds(Transfer(0, 4.0, 0.0, handling=1.0)) == 13
    assert seconds(Transfer(2, 4.0, 0.0, handling=1.0), overlap=False) == 13
    assert seconds(Transfer(2, 4.0, 0.0, handling=1.0), staleness=1) == 10


def test_computing_is_slowed_only_while_the_link_is_busy():
    # From 2 to 4 at half the speed, whole until 5 (backward of layer 0 is over at 7),
    # then at a quarter from 5 on, where the link is taken a second time.
    first, second = Transfer(2, 2.0, 0.0, handling=1.0), Transfer(1, 4.0, 0.0, handling=3.0)
    assert seconds(first) == 10
    assert seconds(first, second) == 10 + 3
    # Work that has come in is slowed as well: a second of it beside the second exchange.
    worked = Transfer(2, 2.0, 1.0, handling=1.0)
    assert seconds(worked, second) == 10 + 3 + 1
