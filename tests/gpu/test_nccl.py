"""NCCL: what devices do together, on a stand-in that is checked against the real module."""

import os
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

from pycaffe_dist.engines import create
from pycaffe_dist.engines.cupy import backend
from pycaffe_dist.engines.cupy import nccl as ours
from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.testing import cupy_standin as xp
from pycaffe_dist.testing.cupy_standin import runtime
from pycaffe_dist.testing.cupy_standin.cuda import nccl
from pycaffe_dist.testing.gpu import emulated
from pycaffe_dist.testing.ranks import run_ranks

RANKS = 3


@pytest.fixture(autouse=True)
def devices(monkeypatch):
    monkeypatch.setattr(runtime, "DEVICES", RANKS)
    with emulated():
        yield


def together(work, ranks=RANKS):
    """What ``work`` returns on each of so many ranks, each with a device of its own."""
    name = nccl.get_unique_id()

    def rank(communicator):
        engine = create("cupy", communicator.rank)
        return work(ours.Nccl(engine, communicator.rank, ranks, name))

    return run_ranks(ranks, rank)


def numbers(mine, *values):
    mine.engine.enter()
    return mine.engine.xp.asarray(np.array(values, np.float32))


def after(mine, issue):
    """Run something on the communication stream, and let the compute stream come after it."""
    mine.begin(issue).wait()


# -- operations ------------------------------------------------------------------------------------


def test_ranks_add_up_and_see_that_they_do():
    def work(mine):
        sums, means = numbers(mine, mine.rank, 10), numbers(mine, mine.rank)
        after(mine, lambda: mine.all_reduce([sums], mean=False))
        after(mine, lambda: mine.all_reduce([means, sums], mean=True))
        assert mine.check()
        return sums.get().tolist(), means.get().tolist()

    assert together(work) == [([3, 30], [1])] * RANKS


def test_parts_are_scattered_gathered_and_swapped():
    def work(mine):
        r = mine.rank
        whole, part = numbers(mine, *range(6)), numbers(mine, 0, 0)
        after(mine, lambda: mine.reduce_scatter(whole, part, mean=False))
        assert part.get().tolist() == [3 * (2 * r), 3 * (2 * r + 1)]
        after(mine, lambda: mine.all_gather([(part, whole)]))
        assert whole.get().tolist() == [0, 3, 6, 9, 12, 15]
        in_place = numbers(mine, *[r] * 6)
        after(mine, lambda: mine.all_gather([(in_place[2 * r : 2 * r + 2], in_place)]))
        assert in_place.get().tolist() == [0, 0, 1, 1, 2, 2]
        out, into = numbers(mine, *(10 * r + to for to in range(RANKS))), numbers(mine, 0, 0, 0)
        after(mine, lambda: mine.all_to_all(out, into))
        return into.get().tolist()

    assert together(work) == [[r, 10 + r, 20 + r] for r in range(RANKS)]


def test_one_gathers_and_sends_to_all():
    def work(mine):
        r = mine.rank
        whole = numbers(mine, *([r] * RANKS))
        after(mine, lambda: mine.gather(whole[r : r + 1], whole, root=1))
        gathered = whole.get().tolist()
        after(mine, lambda: mine.broadcast([whole], root=1))
        return gathered, whole.get().tolist()

    found = together(work)
    assert found[1][0] == [0, 1, 2] and found[0][0] == [0, 0, 0]
    assert [everybody for _, everybody in found] == [[0, 1, 2]] * RANKS


def test_bits_travel_as_they_are():
    def work(mine):
        mine.engine.enter()
        packed = xp.asarray(np.array([0x7BFF, 0xFFFF], np.uint16) - np.uint16(mine.rank))
        everybody = xp.zeros(2 * RANKS, np.uint16)
        after(mine, lambda: mine.all_gather([(packed, everybody)]))
        return everybody.get().tolist()

    want = [bits - r for r in range(RANKS) for bits in (0x7BFF, 0xFFFF)]
    assert together(work) == [want] * RANKS


# -- order -----------------------------------------------------------------------------------------


def test_the_compute_stream_goes_on_beside_an_exchange_and_must_wait_for_what_comes_of_it():
    def work(mine):
        x, other = numbers(mine, 1), numbers(mine, 1)
        pending = mine.begin(lambda: mine.all_reduce([x], mean=False))
        other += 1  # no part of it
        with pytest.raises(xp.RaceError, match="reads what is being written"):
            x + 1
        pending.wait()
        twice = x + x
        return float(twice.get()[0])

    assert together(work) == [2.0 * RANKS] * RANKS


def test_an_exchange_begins_when_what_it_sends_is_there():
    def work(mine):
        x = numbers(mine, 1)
        mine.engine.enter()
        with mine.stream, pytest.raises(xp.RaceError, match="being written"):
            mine.all_reduce([x], mean=False)
        return True

    assert all(together(work))


# -- what goes wrong -------------------------------------------------------------------------------


def test_ranks_that_do_not_call_the_same_are_told():
    def work(mine):
        x = numbers(mine, 1, 2)
        part = x[:1] if mine.rank == 1 else x
        with pytest.raises(nccl.NcclError, match="different operations"):
            after(mine, lambda: mine.all_reduce([part], mean=False))
        mine.abort()
        return True

    assert all(together(work))


def test_a_rank_that_leaves_is_noticed_by_all():
    def work(mine):
        if mine.rank == 1:
            mine.abort()
            return True
        x = numbers(mine, 1)
        with pytest.raises(nccl.NcclError, match="another rank has left"):
            after(mine, lambda: mine.all_reduce([x], mean=False))
        mine.abort()
        return True

    assert all(together(work))


def test_two_ranks_on_one_device_are_refused():
    name = nccl.get_unique_id()

    def rank(communicator):
        with pytest.raises(nccl.NcclError, match="duplicate GPU"):
            ours.Nccl(create("cupy", 0), communicator.rank, 2, name)
        return True

    assert all(run_ranks(2, rank))


def test_memory_that_is_not_one_array_of_the_device_is_refused():
    def work(mine):
        x = numbers(mine, 1, 2)
        stream = mine.stream.ptr
        with pytest.raises(ValueError, match="not within one array"):
            mine._communicator.allReduce(x.data.ptr + 4, x.data.ptr + 4, 2, 7, 0, stream)
        with pytest.raises(nccl.NcclError, match="overlap"):
            mine._communicator.allGather(x.data.ptr + 4, x.data.ptr, 2, 7, stream)
        return True

    assert all(together(work, ranks=1))


def test_processes_meet_by_the_id_alone():
    code = """
import sys
import numpy as np
from pycaffe_dist.engines import create
from pycaffe_dist.engines.cupy.nccl import Nccl
rank, name = int(sys.argv[1]), bytes.fromhex(sys.argv[2])
mine = Nccl(create("cupy", rank), rank, 2, name)
x = mine.engine.xp.asarray(np.array([rank + 1.0]))
mine.begin(lambda: mine.all_reduce([x], mean=False)).wait()
print(x.get()[0])
mine.close()
"""
    name = nccl.get_unique_id().hex()
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(rank), name],
            env=os.environ | {backend.VARIABLE: "emulated"},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    assert [rank.communicate(timeout=150)[0] for rank in ranks] == ["3.0\n", "3.0\n"]


# -- against the real module -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def cupy_nccl():
    pytest.importorskip("cupy", reason="pip install cupy-cuda12x: no GPU is needed for it")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = pytest.importorskip("cupy.cuda.nccl")
    if not module.available:
        pytest.skip("pip install nvidia-nccl-cu12: no GPU is needed for it")
    return module


def test_every_name_and_signature_is_cupys(cupy_nccl):
    names = {n for n in vars(nccl) if re.match("NCCL_|get_|group|Nccl", n)}
    assert {"NCCL_AVG", "NcclCommunicator", "groupStart"} <= names
    for name in names:
        assert hasattr(cupy_nccl, name), name
        if name.startswith("NCCL_"):
            assert getattr(cupy_nccl, name) == getattr(nccl, name), name
    for name, method in vars(nccl.NcclCommunicator).items():
        if name.startswith("_"):
            continue
        text = getattr(cupy_nccl.NcclCommunicator, name).__doc__.split("\n")[0]
        inside = text[text.index("(") + 1 : text.rindex(")")]
        theirs = [part.split("=")[0].split()[-1] for part in inside.split(",")]
        code = method.__code__
        assert list(code.co_varnames[: code.co_argcount]) == theirs, name
    assert "bytes commId, int rank" in cupy_nccl.NcclCommunicator.__doc__


def test_the_real_library_has_a_version_and_makes_ids(cupy_nccl):
    import cupy

    backend.install(cupy)
    try:
        assert re.fullmatch(r"2\.\d+\.\d+", ours.version())
        assert len(ours.new_id()) == len(nccl.get_unique_id())
    finally:
        backend.remove()


def test_where_there_is_none_the_command_that_brings_it_is_named(monkeypatch):
    monkeypatch.setattr(nccl, "available", False)
    with pytest.raises(MissingPartError, match=r"no NCCL library.*pip install") as e:
        ours.version()
    assert "\n" not in str(e.value)
