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
