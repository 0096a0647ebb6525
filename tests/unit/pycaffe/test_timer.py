import logging
import time

import pytest

from pycaffe_dist.pycaffe.timer import Timer


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    return now


def test_start_stop_ms(clock):
    timer = Timer()
    timer.start()
    clock[0] += 0.25
    timer.stop()
    clock[0] += 5
    assert timer.ms == 250


def test_a_new_start_measures_anew(clock):
    timer = Timer()
    for seconds in (2, 3):
        timer.start()
        clock[0] += seconds
        timer.stop()
    assert timer.ms == 3000


def test_reading_stops(clock):
    timer = Timer()
    timer.start()
    clock[0] += 1
    assert timer.ms == 1000
    clock[0] += 1
    assert timer.ms == 1000


def test_second_start_and_second_stop_do_nothing(clock):
    timer = Timer()
    timer.start()
    clock[0] += 1
    timer.start()
    clock[0] += 1
    timer.stop()
    clock[0] += 1
    timer.stop()
    assert timer.ms == 2000


def test_never_run(caplog):
    with caplog.at_level(logging.WARNING):
        assert Timer().ms == 0
    assert "never been run" in caplog.text
