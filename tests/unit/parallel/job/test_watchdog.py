import itertools
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from types import SimpleNamespace

import pytest

from pycaffe_dist.parallel.job import watchdog as watchdog_module
from pycaffe_dist.parallel.job.failure import STALLED
from pycaffe_dist.parallel.job.watchdog import Stall, Watchdog, blame


@pytest.fixture
def clock(monkeypatch):
    """Time as the watchdog sees it."""
    clock = SimpleNamespace(now=0.0)
    clock.monotonic = lambda: clock.now
    monkeypatch.setattr(watchdog_module, "time", clock)
    return clock


def test_a_long_wait_names_rank_host_parameter_and_seconds():
    said = []
    barked = threading.Event()

    def bark(stall):
        said.append(stall)
        barked.set()

    with Watchdog(0.2, ["here", "there", "far"], bark) as watchdog:
        missing = [1, 2]
        watchdog.waiting("fc6 (sfb)", lambda: missing)
        missing.remove(1)  # it came while we waited
        assert barked.wait(50)
    assert len(said) == 1
    assert str(said[0]) == "waited 0 s for rank 2 on far, in the exchange of fc6 (sfb)"


def test_whom_everybody_waits_for_and_who_says_nothing_is_to_blame():
    names = {rank: f"rank {rank} on node{rank // 2}" for rank in range(4)}
    stalls = [
        Stall(0, {2: names[2]}, "fc6 (sfb)", 20.1),
        Stall(1, {0: names[0]}, "fc6 (sfb)", 20.0),
        Stall(2, {3: names[3]}, "conv1 (allreduce)", 20.2),
    ]
    text = blame([json.dumps(asdict(stall)) for stall in stalls], 4)
    expected = "rank 3 on node1 did not answer for 20 s, in the exchange of conv1 (allreduce)"
    assert text.startswith(expected)
    assert "--stall-timeout" in text


def test_ranks_that_all_wait_are_cut_off_from_each_other():
    stalls = [Stall(0, {1: "rank 1"}, "x", 9.0), Stall(1, {0: "rank 0"}, "x", 9.0)]
    text = blame([json.dumps(asdict(stall)) for stall in stalls], 2)
    assert text.startswith("no rank heard of another for 9 s, in the exchange of x")


def test_who_does_not_take_what_all_others_send_is_to_blame():
    stalls = [Stall(rank, {}, "the states of ranks", 5.0) for rank in (1, 2)]
    text = blame([json.dumps(asdict(stall)) for stall in stalls], 3)
    assert text.startswith("rank 0 did not answer for 5 s, in the exchange of the states of ranks")


def test_waits_that_end_or_move_on_are_no_stalls(clock):
    watchdog = Watchdog(10, ["a", "b"])
    for _ in range(8):
        watchdog.waiting("conv1", [1])
        clock.now += 9
        assert watchdog.late() is None
    watchdog.waiting("conv1", [1])
    clock.now += 11
    assert watchdog.late() == Stall(0, {1: "rank 1 on b"}, "conv1", 11)
    watchdog.done()
    clock.now += 60
    assert watchdog.late() is None


# What a rank's threads tell the watchdog; the main thread may see that an exchange is done before
# the communication thread has said so.
MAIN = [("waiting", "ip (updates)")]
THREAD = [("waiting", "losses"), ("done", "")]


def orders(first, second):
    """All orders of two lists in which each keeps its own."""
    for places in itertools.combinations(range(len(first) + len(second)), len(first)):
        rest = iter(second)
        own = iter(first)
        yield [("main", *next(own)) if i in places else ("thread", *next(rest))
               for i in range(len(first) + len(second))]  # fmt: skip


@pytest.mark.parametrize("order", [*orders(MAIN, THREAD)], ids=lambda order: order[0][0])
def test_a_wait_of_one_thread_is_not_over_because_that_of_another_is(clock, order):
    watchdog = Watchdog(10)
    with ThreadPoolExecutor(1) as main, ThreadPoolExecutor(1) as thread:
        for who, word, what in order:
            call = [watchdog.done] if word == "done" else [watchdog.waiting, what, [1]]
            (main if who == "main" else thread).submit(*call).result()
    clock.now += 11
    assert watchdog.late() == Stall(0, {1: "rank 1"}, "ip (updates)", 11)


def test_what_begins_a_run_is_granted_more_time(clock):
    watchdog = Watchdog(10)
    with watchdog.during("what all begin with", list, least=60):
        clock.now += 59
        assert watchdog.late() is None
        clock.now += 2
        assert watchdog.late().what == "what all begin with"
    with watchdog.during("what all begin with", lambda: [1], least=5):
        clock.now += 9
        assert watchdog.late() is None
        clock.now += 2
        assert watchdog.late().awaited == {1: "rank 1"}


def test_without_a_timeout_there_is_no_thread():
    before = threading.active_count()
    with Watchdog(0) as watchdog:
        watchdog.waiting("conv1", [1])
        assert watchdog.late() is None
        assert threading.active_count() == before


@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        ("w.Watchdog(0.1, ['a', 'b']).__enter__().waiting('fc6', [1])", "rank 1 on b", STALLED),
        ("f.crash_ends_job(); t.Thread(target=lambda: 1 / 0).start()", "ZeroDivisionError", 1),
        ("f.crash_ends_job(); 1 / 0", "ZeroDivisionError", 1),
    ],
)
def test_the_process_leaves_although_it_would_hang(code, text, expected):
    hang = "import atexit, time; atexit.register(time.sleep, 600);"
    imports = "import threading as t, pycaffe_dist.parallel.job.watchdog as w;"
    imports += "import pycaffe_dist.parallel.job.failure as f, logging; logging.basicConfig();"
    run = subprocess.run(
        [sys.executable, "-c", f"{hang}{imports}{code}; time.sleep(600)"],
        capture_output=True,
        text=True,
    )
    assert run.returncode == expected
    assert text in run.stderr
