"""Races on a clock of their own: times are made up, so nothing here depends on the machine."""

import numpy as np
import pytest

from pycaffe_dist.engines import race as module
from pycaffe_dist.engines.race import Runner, race


class Track:
    """A clock that only runs take time on; ``delay`` says how long others hold one up."""

    def __init__(self, delay=lambda seconds: 0.0):
        self.now, self.delay, self.runs = 0.0, delay, []

    def clock(self):
        return self.now

    def race(self, **seconds):
        runners = []
        for name, time in seconds.items():
            runners.append(Runner(name, lambda name=name, time=time: self.run(name, time)))
            runners[-1].turn(self.clock)
        return race(runners, self.clock)

    def run(self, name, seconds):
        self.runs.append(name)
        self.now += seconds + self.delay(seconds)


@pytest.mark.parametrize("scale", [1e-5, 1e-3, 1e-2, 1.0])
def test_who_is_clearly_faster_wins(scale):
    result = Track().race(first=1.0 * scale, second=0.5 * scale, third=0.9 * scale)
    assert (result.winner, result.settled) == ("second", True)
    assert result.seconds == pytest.approx(
        {"first": scale, "second": 0.5 * scale, "third": 0.9 * scale}
    )


@pytest.mark.parametrize("other", [0.96, 1.0, 3.0])
def test_the_librarys_own_choice_stays_unless_another_is_clearly_faster(other):
    result = Track().race(first=1e-3, second=other * 1e-3)
    assert (result.winner, result.settled) == ("first", True)


def test_a_runner_alone_wins():
    assert Track().race(only=1.0).winner == "only"


def test_they_run_in_turns_and_the_hopeless_stop_early():
    track = Track()
    track.race(first=0.1, second=0.11, hopeless=1.0)
    assert track.runs.count("hopeless") == 2  # in its one turn
    assert track.runs[6:] == ["first", "second"] * (len(track.runs[6:]) // 2)


def test_memory_that_a_first_run_is_given_does_not_count():
    """Winograd's 115 MB for a layer of GoogLeNet: 85 ms, and 11 from the second run on."""
    track = Track(lambda seconds: 0.074 if track.runs.count("large") == 1 else 0.0)
    result = track.race(small=0.020, large=0.011)
    assert (result.winner, result.seconds["large"]) == ("large", pytest.approx(0.011))


SLICE = 4e-3  # seconds for which a scheduler lets another process run


def busy(rng):
    """Half of the runs begin late, and long ones lose the processor on their way, too."""
    return lambda seconds: (
        SLICE * (rng.poisson(seconds / SLICE) + rng.random() * (rng.random() < 0.5))
    )


def test_a_race_on_a_busy_machine_ends():
    track = Track(busy(np.random.default_rng(0)))
    track.race(first=1e-4, second=0.9e-4)
    assert track.now < 2 * module.PATIENCE


@pytest.mark.parametrize("scale", [1e-5, 1e-4, 1e-3, 1e-2, 0.2])
def test_noise_does_not_decide(scale):
    """What is settled beside other processes is true, or makes little difference."""
    rng, wrong = np.random.default_rng(1), 0
    for _ in range(100):
        times = dict(zip("abcd", scale * rng.uniform(1, 3, 4), strict=True))
        result = Track(busy(rng)).race(**times)
        if result.settled:
            wrong += times[result.winner] > 1.25 * min(times.values())
        else:
            assert result.winner == "a"
    assert wrong <= 4
