import queue
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.parallel.plan import links as links_module
from pycaffe_dist.parallel.plan.links import (
    bits_per_second,
    measure_devices,
    measure_links,
    measure_rank,
)
from pycaffe_dist.parallel.transport.communicator import Communicator, Nodes
from pycaffe_dist.parallel.transport.solo import SoloCommunicator

SECONDS = 60


class Sent:
    def test(self):
        return True


class Awaited:
    def __init__(self, box, array):
        self.box, self.array, self.here = box, array, False

    def test(self):
        if not self.here:
            try:
                self.array[...] = self.box.get_nowait()
            except queue.Empty:
                return False
            self.here = True
        return True


class Threads(Communicator):
    """Ranks that are threads of this process; messages between them wait in queues."""

    def __init__(self, rank, hosts, boxes, rooms):
        super().__init__(rank, len(hosts), Nodes.by_host(hosts))
        self.boxes, self.rooms = boxes, rooms

    def _isend(self, array, to, tag):
        self.boxes[self.rank, to, tag].put(array.copy())
        return Sent()

    def _irecv(self, array, source, tag):
        return Awaited(self.boxes[source, self.rank, tag], array)

    def share(self, count, dtype):
        """Once in a test, so that a node has one."""
        return self.rooms.setdefault(self.nodes.of_rank[self.rank], np.zeros(count, dtype))

    def abort(self, code):
        raise NotImplementedError

    def close(self):
        pass


def measure(hosts):
    ranks = range(len(hosts))
    boxes = {(a, b, tag): queue.Queue() for a in ranks for b in ranks for tag in range(16)}
    rooms = {}
    found = [None for _ in hosts]

    def work(rank):
        found[rank] = measure_links(Threads(rank, hosts, boxes, rooms))

    threads = [threading.Thread(target=work, args=(rank,), daemon=True) for rank in ranks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert all(box.empty() for box in boxes.values())
    return found


@pytest.mark.parametrize("hosts", [["a", "b"], ["a", "b", "c"], ["a", "a", "b", "b", "b"]])
def test_all_ranks_learn_the_same_of_the_links_between_nodes(hosts):
    found = measure(hosts)
    assert found[0] is not None and all(links == found[0] for links in found)
    links = found[0]
    assert links.between.alpha > 0 and links.between.beta > 0 and links.handling > 0
    assert links.gemm_flops > 1e6 and links.memory_bandwidth > 1e6
    assert (links.within.beta > 0) == (len(set(hosts)) < len(hosts))


def test_on_one_node_there_is_no_link_between_nodes():
    (links, _) = measure(["a", "a"])
    assert links.between.alpha == links.between.beta == 0
    assert links.within.beta > 0


def test_one_rank_measures_itself():
    links = measure_links(SoloCommunicator())
    assert links.between.beta == links.within.beta == 0
    assert links.gemm_flops > 1e6


def test_the_gemm_that_is_timed_is_the_gemm_that_is_counted():
    calls = []

    class Counting:
        ones, empty = staticmethod(np.ones), staticmethod(np.empty)

        @staticmethod
        def matmul(a, b, out):
            assert not np.shares_memory(a, b)  # or NumPy would compute half of it
            calls.append(2 * a.shape[0] * a.shape[1] * b.shape[1])
            return np.matmul(a, b, out=out)

    flops, _ = measure_rank(Counting)
    assert flops > 0 and set(calls) == {2 * 256 * 1024 * 1024}


def test_links_of_devices_are_the_seconds_and_bytes_to_each_other_device(monkeypatch):
    now = [0.0]

    def gather(pairs):
        ((part, whole),) = pairs
        assert whole.size == 3 * part.size
        now[0] += 2 * (1e-5 + 1e-9 * part.nbytes)  # to two others, one after the other

    def begin(work):
        work()
        return SimpleNamespace(wait=lambda: None)

    clock = SimpleNamespace(perf_counter=lambda: now[0])
    monkeypatch.setattr(links_module, "time", clock)
    monkeypatch.setattr(links_module, "measure_rank", lambda xp: (2e9, 4e9))
    monkeypatch.setattr(links_module, "_slowest", lambda comm, seconds: seconds)
    nccl = SimpleNamespace(engine=SimpleNamespace(xp=np), all_gather=gather, begin=begin)
    links = measure_devices(SimpleNamespace(size=3), nccl)
    assert links.between == links.within
    assert links.between.alpha == pytest.approx(1e-5, rel=1e-3)
    assert links.between.beta == pytest.approx(1e-9, rel=1e-3)
    assert (links.gemm_flops, links.memory_bandwidth) == pytest.approx((2e9, 4e9))
    assert links.handling == 0  # by the device


@pytest.mark.parametrize(
    ("text", "bits"),
    [("1gbit", 1e9), ("2.5Gbit/s", 2.5e9), ("200mbit", 2e8), ("10 kbit", 1e4), ("1e6", 1e6)],
)
def test_bandwidths_are_written_as_people_write_them(text, bits):
    assert bits_per_second(text) == bits


@pytest.mark.parametrize("text", ["", "fast", "0", "-1gbit", "1.2.3mbit", "1gbyte"])
def test_what_is_no_bandwidth_is_refused(text):
    with pytest.raises(NetError, match="is no bandwidth; write for example 1gbit"):
        bits_per_second(text)
