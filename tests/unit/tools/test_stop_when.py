import pytest

from pycaffe_dist import events as e
from pycaffe_dist.errors import NetError
from pycaffe_dist.solver import Action
from pycaffe_dist.tools.stop_when import StopWhen


def after(value, name="accuracy"):
    return e.Tested(5, 0, [e.Output(0, "loss", 0.5), e.Output(1, name, value)])


@pytest.mark.parametrize(
    ("goal", "value", "met"),
    [
        ("accuracy>0.9", 0.91, True),
        ("accuracy>0.9", 0.9, False),
        (" accuracy >= .9", 0.9, True),
        ("accuracy<1e-1", 0.05, True),
        ("accuracy<=0.1", 0.11, False),
        ("accuracy>0.9", float("nan"), False),
    ],
)
def test_goals(goal, value, met):
    stop = StopWhen(goal)
    stop(after(value))
    assert stop.or_else(lambda: Action.SNAPSHOT)() is (Action.STOP if met else Action.SNAPSHOT)


def test_once_met_it_stays_met_and_other_events_do_not_count():
    stop = StopWhen("top-1/acc>0.9")
    stop(e.Updated(1, 0.5, 0.1))
    ask = stop.or_else(lambda: Action.NONE)
    assert ask() is Action.NONE
    stop(after(0.95, "top-1/acc"))
    stop(after(0.5, "top-1/acc"))
    assert ask() is Action.STOP


@pytest.mark.parametrize("goal", ["accuracy", "accuracy=1", ">1", "accuracy>many", ""])
def test_what_is_no_goal(goal):
    with pytest.raises(NetError, match=r"--stop-when .*: expected OUTPUT"):
        StopWhen(goal)


def test_an_output_that_is_not_there():
    with pytest.raises(NetError, match="the test net puts out loss, accuracy"):
        StopWhen("acc>1")(after(1))
