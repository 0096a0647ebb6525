import threading
import time

import pytest

from pycaffe_dist.tools.ordered_map import AHEAD, ordered_map


@pytest.mark.parametrize("threads", [1, 3])
def test_results_are_in_order(threads):
    def slow_first(i):
        time.sleep(0.01 if i % 3 == 0 else 0)
        return i, threading.get_ident()

    results = list(ordered_map(slow_first, range(30), threads))
    assert [i for i, _ in results] == list(range(30))
    assert (threading.get_ident() in {thread for _, thread in results}) == (threads == 1)


def test_items_are_taken_only_as_results_are_read():
    taken = []
    results = ordered_map(str, (taken.append(i) or i for i in range(1000)), 2)
    next(results)
    assert len(taken) == 2 * AHEAD + 1
    results.close()


@pytest.mark.parametrize("threads", [1, 2])
def test_failure_comes_in_its_place(threads):
    results = ordered_map(lambda i: 1 // (3 - i), range(100), threads)
    assert [next(results) for _ in range(3)] == [0, 0, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)
