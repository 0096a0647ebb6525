"""The kernels that measure the machine do the work that is counted."""

import numpy as np
import pytest

from pycaffe_dist.engines.onednn.core import peaks
from pycaffe_dist.engines.onednn.core.jit import address, vector_width
from pycaffe_dist.memory import aligned
from pycaffe_dist.threads import set_threads

FLOAT = np.dtype(np.float32)


@pytest.fixture(params=[1, 2])
def threads(request):
    yield set_threads(request.param)
    set_threads()


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_every_chain_takes_all_its_steps(threads, steps):
    room = aligned(64 * threads, FLOAT)
    room[...] = 8
    peaks.multiplying()(address(room), steps)
    # x ← x / 2 + 8 from 8: it nears 16, half the way at each step
    one = 16 - 8 * 0.5**steps
    assert (room.reshape(threads, 64)[:, : vector_width()] == peaks.CHAINS * one).all()


def test_reading_adds_up_the_whole_array(threads):
    turns = 7
    source = np.arange(turns * peaks.UNROLLED * vector_width(), dtype=np.float32)
    sums = aligned(64 * threads, FLOAT)
    peaks.reading()(address(source), address(sums), turns)
    assert sums.sum() == source.sum()


def test_copying_copies_the_whole_array_and_no_more(threads):
    turns = 5
    count = turns * peaks.UNROLLED * vector_width()
    source, target = (aligned(count + 64, FLOAT) for _ in range(2))
    source[...] = np.arange(source.size)
    peaks.copying()(address(source), address(target), turns)
    np.testing.assert_array_equal(target[:count], source[:count])
    assert not target[count:].any()


def test_the_longer_of_arithmetic_and_memory_is_the_least_time():
    found = peaks.Peaks(1, flops=100.0, bandwidth=10.0)
    assert found.seconds(200, 10) == 2
    assert found.seconds(10, 50) == 5


def test_rates_are_the_work_of_a_run_by_its_seconds(monkeypatch):
    monkeypatch.setattr(peaks, "FLOATS", 1 << 12)
    monkeypatch.setattr(peaks, "STEPS", 3)
    rooms, timed, seconds = [], [], iter([0.5, 0.25, 0.125, 0.5, 0.25, 4.0])

    def kept(*words):
        rooms.append(aligned(*words))
        return rooms[-1]

    def fastest(work):
        assert len(rooms) % 2 == 0 and (rooms[-2] == 1).all()
        timed.append((rooms[-1] == 1).all())  # pages that were never written to are all one
        work()
        return next(seconds)

    monkeypatch.setattr(peaks, "aligned", kept)
    monkeypatch.setattr(peaks, "fastest", fastest)
    set_threads(1)
    first, second = (peaks._measured.__wrapped__(1) for _ in range(2))
    set_threads()
    work = 2 * peaks.CHAINS * 3 * vector_width()
    assert (first.threads, first.flops) == (1, work / 0.5)
    assert timed[0] and timed[3]
    # Copying moves every byte twice; the faster of reading and copying counts.
    size = 4 * (1 << 12)
    assert first.bandwidth == 2 * size / 0.125 and second.bandwidth == size / 0.25


def test_twice_the_threads_do_twice_the_work(monkeypatch):
    monkeypatch.setattr(peaks, "FLOATS", 1 << 12)
    monkeypatch.setattr(peaks, "STEPS", 3)
    monkeypatch.setattr(peaks, "fastest", lambda work: 1.0)
    one, two = (peaks._measured.__wrapped__(count) for count in (1, 2))
    assert two.flops == 2 * one.flops and two.bandwidth == one.bandwidth and two.threads == 2


def test_peaks_are_those_of_the_threads_that_compute(threads, monkeypatch):
    monkeypatch.setattr(peaks, "_measured", lambda count: count)
    assert peaks.peaks() == threads


def test_the_fastest_of_some_runs_counts(monkeypatch):
    times, runs = iter([0, 5, 10, 12, 20, 23, 30, 37, 40, 44]), []
    monkeypatch.setattr(peaks.time, "perf_counter", lambda: next(times))
    assert peaks.fastest(lambda: runs.append(1)) == 2
    assert len(runs) == peaks.ROUNDS
