import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from pycaffe_dist import threads
from pycaffe_dist.engines import create
from pycaffe_dist.errors import NetError

TINY = np.full(4, 1e-39, np.float32)  # denormal


@pytest.fixture(autouse=True)
def restored():
    yield
    threads.set_threads(None)


def test_denormals_are_zero_only_while_it_is_entered():
    half = np.float32(0.5)
    assert (TINY * half).max() > 0
    with threads.flush_denormals():
        assert (TINY * half).max() == 0
        with threads.flush_denormals():
            assert (TINY * half).max() == 0
        assert (TINY * half).max() == 0
    assert (TINY * half).max() > 0


def test_denormals_are_zero_in_the_threads_of_blas_and_of_our_own():
    threads.set_threads(2)
    a = np.full((512, 512), 1e-20, np.float32)
    with threads.flush_denormals():
        assert (a @ (a * np.float32(1e-3))).max() == 0  # products near 1e-40
    products = {}

    def work(i):
        products[i, threading.get_ident()] = (TINY * np.float32(0.5)).max()

    with threads.flush_denormals():
        threads.run(work, range(4))
    assert len(products) == 4
    assert len({thread for _, thread in products}) == 2
    assert set(products.values()) == {0}


def test_shares_are_nearly_equal_and_not_too_small():
    threads.set_threads(3)
    assert threads.shares(10, 1) == [slice(0, 3), slice(3, 6), slice(6, 10)]
    assert threads.shares(10, 5) == [slice(0, 5), slice(5, 10)]
    assert threads.shares(10, 100) == [slice(0, 10)]


def test_work_is_shared_out_and_errors_come_back():
    threads.set_threads(2)
    done = []
    threads.run(done.append, range(5))
    assert sorted(done) == [0, 1, 2, 3, 4]
    with pytest.raises(ZeroDivisionError):
        threads.run(lambda i: 1 / i, [1, 0])


def test_no_threads_at_all_is_refused():
    with pytest.raises(NetError, match="--threads 0"):
        threads.set_threads(0)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, threads.cores()),
        ({"OMP_NUM_THREADS": "3"}, 3),
        ({"OMPI_COMM_WORLD_LOCAL_SIZE": str(threads.cores())}, 1),
        ({"MPI_LOCALNRANKS": "64"}, 1),
    ],
)
def test_threads_are_the_cores_divided_by_the_ranks_of_the_node(variables, expected):
    command = [sys.executable, "-c", "from pycaffe_dist.threads import threads; print(threads())"]
    environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"} | variables
    printed = subprocess.run(command, env=environment, capture_output=True, timeout=150, text=True)
    assert printed.stdout.split() == [str(expected)]


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork")
def test_a_forked_process_computes_with_threads_of_its_own(in_child):
    """OpenMP's, OpenBLAS's and the pool's: all three have worked before the process forks."""
    threads.set_threads(2)
    a = np.ones((512, 512), np.float32)

    def compute():
        out, rows = np.empty((512, 512), np.float32), np.ones((4, 512), np.float32)
        create("auto").outer(rows, rows, out)
        idents = set()
        threads.run(lambda _: idents.add(threading.get_ident()), range(2))
        return out[0, 0] == 4 and (a @ a)[0, 0] == 512 and len(idents) == 2

    assert compute()
    for _ in range(5):
        in_child(compute)
        assert compute()


def test_where_threads_compute_is_told(tmp_path, monkeypatch):
    def nodes(*lists):
        for i, cores in enumerate(lists):
            (tmp_path / f"node{i}").mkdir(exist_ok=True)
            (tmp_path / f"node{i}" / "cpulist").write_text(cores + "\n")
        return threads.placement(tmp_path)

    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3, 8})
    threads.set_threads(4)
    try:
        assert nodes("0-15") == "4 threads on cores 0-3,8 of NUMA node 0"
        told = nodes("0-1,4-7", "2-3,8-9")
        assert told.startswith("4 threads on cores 0-3,8: 2 of node 0, 3 of node 1; memory of")
        assert "a rank for each node is faster" in told
        threads.set_threads(6)
        assert nodes("0-15", "").endswith("of NUMA node 0; 6 threads share 5 cores")
    finally:
        threads.set_threads()


@pytest.mark.parametrize(
    ("mine", "of_mpirun", "ranks", "expected"),
    [
        (8, 8, 1, 8),
        (8, 8, 4, 2),
        (2, 8, 4, 2),
        (4, 8, 4, 2),
        (1, 8, 2, 1),
        (8, 4, 2, 4),
        (1, 1, 4, 1),
    ],
    ids=["alone", "unbound", "bound", "shared", "one core", "smaller parent", "too many"],
)
def test_ranks_share_cores_once(monkeypatch, mine, of_mpirun, ranks, expected):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv(threads.LOCAL_RANKS[0], str(ranks))
    monkeypatch.setattr(
        os, "sched_getaffinity", lambda process: set(range(of_mpirun if process else mine))
    )
    assert threads._default.__wrapped__() == expected
