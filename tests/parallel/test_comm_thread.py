"""The communication thread."""

import threading
import time
from collections.abc import Iterator

import pytest

from pycaffe_dist.parallel.job.watchdog import Stall, Watchdog
from pycaffe_dist.parallel.transport.comm_thread import MOST_UNDER_WAY, CommThread
from pycaffe_dist.parallel.transport.communicator import Steps
from pycaffe_dist.parallel.transport.solo import SoloCommunicator


@pytest.fixture
def thread() -> Iterator[CommThread]:
    thread = CommThread(SoloCommunicator()).start()
    yield thread
    thread.close()


def after(gate: threading.Event, result: int = 0) -> Steps[int]:
    while not gate.is_set():
        yield False
    return result


def test_jobs_run_beside_the_caller_and_give_results(thread: CommThread) -> None:
    gate = threading.Event()
    job = thread.submit(after(gate, 7), "a")
    assert not job.done
    gate.set()
    assert thread.wait(job) == 7


def test_few_jobs_are_under_way_at_once_but_urgent_ones_do_not_wait(thread: CommThread) -> None:
    gate = threading.Event()
    jobs = [thread.submit(after(gate, i), str(i)) for i in range(MOST_UNDER_WAY)]
    opened = threading.Event()
    opened.set()
    late = thread.submit(after(opened), "late")
    assert thread.do(after(opened, 5), "urgent") == 5
    time.sleep(0.01)
    assert not late.done
    gate.set()
    assert [thread.wait(job) for job in jobs] == list(range(MOST_UNDER_WAY))
    thread.wait(late)


def test_a_waiter_does_other_work_meanwhile(thread: CommThread) -> None:
    gate = threading.Event()
    done: list[int] = []

    def meanwhile() -> bool:
        if len(done) == 3:
            gate.set()
            return False
        done.append(1)
        return True

    thread.wait(thread.submit(after(gate), "a"), meanwhile)
    assert len(done) == 3


def test_what_goes_on_in_the_background_ends_before_the_thread_does() -> None:
    steps: list[int] = []
    closing = threading.Event()

    def background() -> Steps[None]:
        while not closing.is_set():
            yield False
        for i in range(5):
            steps.append(i)
            yield i % 2 == 0

    thread = CommThread(SoloCommunicator()).start()
    thread.serve(background())
    closing.set()
    thread.close()
    assert steps == list(range(5))


def test_an_error_comes_out_where_somebody_waits() -> None:
    def fails() -> Steps[None]:
        yield True
        raise RuntimeError("cable cut")

    thread = CommThread(SoloCommunicator()).start()
    never = thread.submit(after(threading.Event()), "never")
    thread.submit(fails(), "fails")
    with pytest.raises(RuntimeError, match="cable cut"):
        thread.wait(never)
    with pytest.raises(RuntimeError, match="cable cut"):
        thread.close()


def test_the_watchdog_hears_who_is_waited_for() -> None:
    barked = threading.Event()
    said: list[Stall] = []

    def bark(stall: Stall) -> None:
        said.append(stall)
        barked.set()

    gate = threading.Event()
    with Watchdog(0.2, ["here"], bark) as watchdog:
        thread = CommThread(SoloCommunicator(), watchdog=watchdog).start()
        job = thread.submit(after(gate), "fc6", "sfb")
        assert barked.wait(50)
        gate.set()
        thread.wait(job)
        thread.close()
    assert said[0].what == "fc6 (sfb)"
