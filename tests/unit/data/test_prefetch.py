"""Batches made ahead: order, errors, ends of threads, starvation, settings."""

import gc
import logging
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from pycaffe_dist.data import prefetch
from pycaffe_dist.data.prefetch import Prefetcher, share_out


class Numbers:
    """Batches 0, 1, 2, …; ``fails`` at one of them."""

    def __init__(self, fails=None):
        self.made, self.fails = 0, fails

    def load(self, batch):
        if self.made == self.fails:
            raise ValueError(f"batch {self.made}")
        batch.data.reshape(2)
        batch.data.data[...] = self.made
        batch.state = {"made": self.made}
        self.made += 1


def start(owner, depth=3):
    return Prefetcher(owner.load, np.dtype(np.float32), depth)


def wait_for(condition):
    deadline = time.monotonic() + 50
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_in_order_into_few_buffers_and_not_too_far_ahead():
    owner = Numbers()
    prefetcher = start(owner, depth=3)
    rooms = set()
    for i in range(20):
        batch = prefetcher.next()
        wait_for(lambda i=i: owner.made == i + 4)
        assert batch.data.data.tolist() == [i, i] and batch.state == {"made": i}
        rooms.add(id(batch.data.data_value.read()))
    assert len(rooms) == 4
    prefetcher.close()
    assert not prefetcher._thread.is_alive()


def test_an_error_comes_behind_the_batches_before_it():
    owner = Numbers(fails=2)
    prefetcher = start(owner)
    assert [prefetcher.next().data.data[0] for _ in range(2)] == [0, 1]
    with pytest.raises(ValueError, match="batch 2"):
        prefetcher.next()
    wait_for(lambda: not prefetcher._thread.is_alive())


def test_the_thread_ends_with_its_owner():
    owner = Numbers()
    prefetcher = start(owner)
    prefetcher.next()
    thread = prefetcher._thread
    del owner, prefetcher
    gc.collect()
    wait_for(lambda: not thread.is_alive())


@pytest.mark.parametrize("end", ["", "raise SystemExit", "import os; os._exit(0)"])
def test_a_process_ends_with_a_thread_in_the_middle(end):
    script = f"""
import time, numpy as np
from pycaffe_dist.data.prefetch import Prefetcher
class Slow:
    def load(self, batch):
        time.sleep(0.05)
owner = Slow()
p = Prefetcher(owner.load, np.dtype("f4"), 4)
p.next()
{end}
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_starvation(caplog, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(prefetch.time, "perf_counter", lambda: now[0])
    owner = Numbers()
    prefetcher = start(owner)
    get = prefetcher._full.get

    class Slow:
        def get(self):
            now[0] += wait
            return get()

    prefetcher._full = Slow()
    wait = 3.0
    with caplog.at_level(logging.WARNING):
        for _ in range(201):
            prefetcher.next()
            now[0] += 7.0
            prefetcher.tell_starvation()
    assert prefetcher.starvation() == pytest.approx(0.3, abs=0.01)
    told = [r.getMessage() for r in caplog.records]
    assert told == ["training waited for data 30 % of the time; try --data-threads 4"]
    prefetcher.close()


def test_nothing_is_said_when_data_is_in_time(caplog):
    owner = Numbers()
    prefetcher = start(owner)
    for _ in range(200):
        wait_for(lambda: not prefetcher._full.empty())
        prefetcher.next()
        prefetcher.tell_starvation()
    assert caplog.text == ""
    prefetcher.close()


@pytest.mark.parametrize("threads", [0, 1, 2, 5])
def test_work_is_shared_out(threads):
    done, who = [], set()
    barrier = threading.Barrier(min(max(threads, 1), 4), timeout=50)

    def work(part):
        who.add(threading.get_ident())
        if part < 4:
            barrier.wait()
        done.append(part)

    share_out(work, range(4), threads)
    assert sorted(done) == [0, 1, 2, 3] and len(who) == min(max(threads, 1), 4)


def test_the_first_of_several_errors_is_raised():
    def work(part):
        if part in (1, 2, 3):
            raise ValueError(part)

    for threads in (1, 4):
        with pytest.raises(ValueError, match="1"):
            share_out(work, range(8), threads)
