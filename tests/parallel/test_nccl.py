"""Who exchanges from device to device, who through the hosts' memory, and what is said of it."""

import re
import signal
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from cases import Case, build, plan_for, small_cases
from equality_ranks import compared
from runs import ENDLESS, ENV, LONG, TRAIN, Run, kill_rank, processes, wait_for, write

from pycaffe_dist.engines import create
from pycaffe_dist.engines.base import NUMPY, Engine
from pycaffe_dist.engines.cupy import backend, updates
from pycaffe_dist.engines.cupy import nccl as library
from pycaffe_dist.engines.cupy.nccl import Nccl
from pycaffe_dist.errors import PcdError
from pycaffe_dist.parallel.cluster import distribute
from pycaffe_dist.parallel.exchange.nccl import DeviceWay
from pycaffe_dist.parallel.job.device_watch import DeviceWatch
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.parallel.transport.communicator import Communicator
from pycaffe_dist.testing.cupy_standin import runtime
from pycaffe_dist.testing.cupy_standin.cuda import nccl
from pycaffe_dist.testing.gpu import emulated
from pycaffe_dist.testing.mpi_ranks import MpiRanks
from pycaffe_dist.testing.ranks import run_ranks


@pytest.fixture(autouse=True)
def devices(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(runtime, "DEVICES", 4)
    with emulated():
        yield


def words(settings: ClusterSettings, *engines: int | Engine) -> str:
    """What ranks on these devices, or engines, say of their way."""
    case = Case("conv", "SGD", "", settings)

    def rank(communicator: Communicator) -> str:
        mine = engines[communicator.rank]
        engine = create("cupy", mine) if isinstance(mine, int) else mine
        solver = build(case, [communicator.rank], communicator.size, engine=engine)
        plan = plan_for(case, solver, communicator)
        with distribute(solver, settings, communicator, plan) as cluster:
            return cluster.way.words

    said = run_ranks(["host"] * len(engines), rank)
    assert said == [said[0]] * len(said)
    return said[0]


def test_a_device_for_each_rank_means_nccl() -> None:
    assert words(ClusterSettings(), 0, 1, 3) == "GPU ranks exchange by NCCL 2.27.3"


def test_ranks_of_the_cpu_have_nothing_to_say() -> None:
    assert words(ClusterSettings(), NUMPY, NUMPY) == ""


HOSTS = "GPU ranks exchange through host memory: "


def test_why_it_is_not_nccl_is_said() -> None:
    assert words(ClusterSettings(nccl=False), 0, 1) == HOSTS + "--nccl off"
    shared = words(ClusterSettings(), 0, 1, 1)
    assert shared == HOSTS + "ranks 1 and 2 share the device 0000:02:00.0"
    assert "--staleness" in words(ClusterSettings(staleness=1), 0, 1)
    assert "--bandwidth" in words(ClusterSettings(bandwidth=1e9), 0, 1)


def test_ranks_must_have_the_same_nccl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "version", lambda: f"2.{runtime.getDevice()}.0")
    assert words(ClusterSettings(), 0, 1) == HOSTS + "rank 1 has NCCL 2.1.0, rank 0 has 2.0.0"


def test_a_rule_without_a_kernel_is_left_to_the_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(updates.RULES, "SGD")
    assert words(ClusterSettings(), 0, 1) == HOSTS + "rank 0 has no kernel for the rule SGD"


def test_a_machine_without_nccl_says_what_would_bring_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nccl, "available", False)
    said = words(ClusterSettings(), 0, 1)
    assert said.startswith(HOSTS + "rank 0 says: CuPy finds no NCCL library")
    assert "pip install" in said


def test_a_plan_is_made_from_what_devices_measure() -> None:
    def rank(communicator: Communicator) -> tuple[str, int, float]:
        engine = create("cupy", communicator.rank)
        solver = build(Case(), [communicator.rank], communicator.size, engine=engine)
        with distribute(solver, ClusterSettings(comm="dense"), communicator) as cluster:
            links = cluster.way.links(communicator)
            return str(cluster.plan), cluster.plan.nodes, links.between.beta

    (plan, nodes, beta), other = run_ranks(["a", "a"], rank)
    assert plan == other[0]
    assert nodes == 1 and 0 < beta == other[2]


def test_an_nccl_that_does_not_add_up_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Nccl, "check", lambda self: False)
    with pytest.raises(PcdError, match=r"does not add up.*--nccl off"):
        words(ClusterSettings(), 0, 1)


# -- failure ---------------------------------------------------------------------------------------


def test_when_a_rank_fails_the_others_do_not_hang() -> None:
    class Crash(Exception):
        pass

    def rank(communicator: Communicator) -> str:
        case = Case("conv", "SGD", "")
        engine = create("cupy", communicator.rank)
        solver = build(case, [communicator.rank], communicator.size, engine=engine)
        plan = plan_for(case, solver, communicator)
        try:
            with distribute(solver, case.settings, communicator, plan) as cluster:
                assert isinstance(cluster.way, DeviceWay)
                solver.step(2)
                if communicator.rank == 1:
                    raise Crash
                solver.step(2)
        except (Crash, nccl.NcclError) as e:
            return type(e).__name__
        return "went on"

    assert run_ranks(2, rank) == ["NcclError", "Crash"]


class Event:
    """Of an exchange that may never end."""

    done = False


def test_a_device_that_waits_too_long_is_noticed_and_all_others_are_named() -> None:
    def rank(communicator: Communicator) -> None:
        if communicator.rank != 1:
            return
        watch = DeviceWatch(0.05, communicator)
        event = Event()
        assert watch.late() is None
        watch.begin("fc6 (allreduce)", SimpleNamespace(begin=lambda issue: event), print)  # type: ignore[arg-type]
        assert watch.late() is None
        time.sleep(0.1)
        stall = watch.late()
        assert stall is not None
        assert stall.what == "fc6 (allreduce)"
        assert stall.awaited == {0: "rank 0 on a", 2: "rank 2 on b"}
        event.done = True
        assert watch.late() is None, "it has ended, and nobody was told"

    run_ranks(["a", "a", "b"], rank)


# -- from start to end -----------------------------------------------------------------------------

EMULATED = ENV | {backend.VARIABLE: "emulated"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pytest.importorskip("mpi4py")
    return tmp_path


def losses(log: str) -> list[float]:
    return [float(line.split("loss = ")[1]) for line in log.splitlines() if ", loss =" in line]


def test_processes_of_mpirun_train_alike_by_nccl_and_through_host_memory(folder: Path) -> None:
    write(folder, 15)
    by_mpi = Run(folder, *TRAIN, "--ranks", "2", "--comm", "sharded").end(0, 120)
    assert "GPU ranks" not in by_mpi
    assert len(losses(by_mpi)) == 4
    for devices, words in [
        ("0,1", "by NCCL 2.27.3"),
        ("0,0", "through host memory: ranks 0 and 1"),
    ]:
        run = Run(folder, *TRAIN, "-gpu", devices, "--comm", "sharded", env=EMULATED)
        log = run.end(0, 120)
        assert f"GPU ranks exchange {words}" in log
        np.testing.assert_allclose(losses(log), losses(by_mpi), rtol=1e-4)


@pytest.mark.timeout(400)
def test_processes_of_mpirun_step_as_one_with_the_joint_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(backend.VARIABLE, "emulated")
    cases = [case for case in small_cases() if case.solver == "Adam"]
    with MpiRanks(2) as ranks:
        found = ranks.run(["a", "a"], partial(compared, cases, True), 300)[0]
    assert len(found) == len(cases) > 4
    assert not [result for result in found if result[0] > 1e-5 or not result[1]]


def test_a_rank_that_is_stopped_is_named(folder: Path) -> None:
    write(folder, ENDLESS, 0)
    run = Run(folder, *TRAIN, "-gpu", "0,1", "--stall-timeout", "2", env=EMULATED)
    run.until("Iteration 20,")
    kill_rank(folder, 1, signal.SIGSTOP)
    assert re.search(r"rank 1 on \S+ did not answer for \d+ s, in the exchange of", run.end(124))


def test_a_rank_that_is_killed_ends_the_others(folder: Path) -> None:
    write(folder, ENDLESS, 0, "if rank and self.count == 4: os.kill(os.getpid(), signal.SIGKILL)")
    run = Run(folder, *TRAIN, "-gpu", "0,1", env=EMULATED)
    assert wait_for(lambda: run.over, LONG), run.tail
    assert run.process.returncode != 0
    assert "by NCCL" in run.log.read_text()
    assert not processes(folder)
