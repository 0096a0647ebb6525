import os
import stat

import pytest

from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.parallel.cluster import connect
from pycaffe_dist.parallel.job import mpirun
from pycaffe_dist.parallel.job.hostfile import Host
from pycaffe_dist.parallel.job.launcher import VARIABLES
from pycaffe_dist.parallel.job.mpirun import (
    HYDRA,
    OPEN_MPI,
    Mpirun,
    environment,
    find_mpirun,
    passed_on,
)


def program(path, says):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\necho "{says}"\n')
    path.chmod(path.stat().st_mode | stat.S_IEXEC)


SAYS = {OPEN_MPI: "mpirun (Open MPI) 5.0.11", HYDRA: "HYDRA build details:"}


@pytest.mark.parametrize(("vendor", "kind"), [("Open MPI", OPEN_MPI), ("MPICH", HYDRA)])
def test_of_two_mpis_the_one_of_the_library_is_found(tmp_path, monkeypatch, vendor, kind):
    for folder, which in (("one", OPEN_MPI), ("two", HYDRA)):
        program(tmp_path / folder / "bin" / "mpirun", SAYS[which])
    home = "one" if kind == OPEN_MPI else "two"
    other = "two" if kind == OPEN_MPI else "one"
    library = tmp_path / home / "lib" / "libmpi.so"
    monkeypatch.setattr(mpirun, "_library", lambda: (vendor, str(library)))
    monkeypatch.setenv("PATH", str(tmp_path / other / "bin"), prepend=os.pathsep)
    assert find_mpirun() == Mpirun(str(tmp_path / home / "bin" / "mpirun"), kind)


def test_a_program_of_the_other_mpi_alone_is_refused_by_name(tmp_path, monkeypatch):
    program(tmp_path / "bin" / "mpirun", SAYS[HYDRA])
    found = [str(tmp_path / "bin" / "mpirun")]
    monkeypatch.setattr(mpirun, "_library", lambda: ("Open MPI", "/lib/libmpi.so.40"))
    monkeypatch.setattr(mpirun, "_candidates", lambda library: found)
    with pytest.raises(MissingPartError, match=r"bin/mpirun is of Hydra.*pip install"):
        find_mpirun()


def test_ranks_of_open_mpi_do_not_start_the_library_of_another(monkeypatch):
    mpi = pytest.importorskip("pycaffe_dist.parallel.transport.mpi")
    monkeypatch.setattr(mpi, "library", lambda: ("MPICH", "/lib/libmpi.so.12"))
    monkeypatch.setattr(mpi, "MpiCommunicator", lambda: pytest.fail("MPI was started"))
    monkeypatch.setattr(mpirun, "find_mpirun", lambda: Mpirun("/x/mpiexec", HYDRA))
    for name, value in zip(VARIABLES[0], "02", strict=True):
        monkeypatch.setenv(name, value)
    says = r"mpirun started 2 ranks, but .* is MPICH \(/lib/libmpi.so.12\).* Use: /x/mpiexec"
    with pytest.raises(MissingPartError, match=says):
        connect()


def test_without_mpi4py_the_command_that_brings_it(monkeypatch):
    monkeypatch.setattr(mpirun, "PROBE", ["/bin/sh", "-c", "echo no module mpi4py >&2; exit 1"])
    with pytest.raises(MissingPartError, match=r"no module mpi4py.*pip install"):
        find_mpirun()


def test_a_busy_machine_is_not_one_without_mpi(monkeypatch):
    monkeypatch.setattr(mpirun, "PROBE", ["/bin/sh", "-c", "exec sleep 60"])
    monkeypatch.setattr(mpirun, "PROBE_SECONDS", 0.1)
    with pytest.raises(MissingPartError, match=r"not been loaded within 0.1 s") as told:
        find_mpirun()
    assert "install" not in str(told.value).lower()


def test_the_command_that_brings_mpi_is_told_once(tmp_path, monkeypatch):
    (tmp_path / "mpi4py.py").write_text("raise ImportError('cut short')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(MissingPartError, match=r"loaded: cut short. Install it with") as told:
        find_mpirun()
    assert str(told.value).count("Install it with") == 1


def test_what_ranks_on_other_hosts_need_is_passed_on():
    env = {"PATH": "/bin", "PCD_JOB": "1", "NCCL_SOCKET_IFNAME": "eth1", "SECRET": "x"}
    assert passed_on(env) == ["PATH", "PCD_JOB", "NCCL_SOCKET_IFNAME"]


def test_commands():
    command = Mpirun("/x/mpirun", OPEN_MPI).command(3, ["pcd", "train"])
    assert command[:3] == ["/x/mpirun", "-n", "3"]
    assert command[-2:] == ["pcd", "train"]
    text = " ".join(command)
    assert "--oversubscribe --bind-to none" in text
    assert "-x" not in command
    far = Mpirun("/x/mpirun", OPEN_MPI).command(3, ["pcd"], "hosts", ["PCD_JOB"])
    assert "--hostfile hosts" in " ".join(far)
    assert "-x PCD_JOB" in " ".join(far)
    hydra = Mpirun("/x/mpiexec", HYDRA).command(3, ["pcd"], "hosts")
    assert hydra[:5] == ["/x/mpiexec", "-n", "3", "-f", "hosts"]


def test_hostfiles_of_each():
    hosts = [Host("a", 2), Host("b", 1)]
    assert Mpirun("", OPEN_MPI).hosts(hosts) == "a slots=2\nb slots=1\n"
    assert Mpirun("", HYDRA).hosts(hosts) == "a:2\nb:1\n"


def test_threads_are_shared_out_unless_somebody_has_chosen(monkeypatch):
    monkeypatch.setattr(mpirun, "cores", lambda: 8)
    env = environment(3, {"MKL_NUM_THREADS": "5"})
    assert env["OMP_NUM_THREADS"] == env["OPENBLAS_NUM_THREADS"] == "2"
    assert env["MKL_NUM_THREADS"] == "5"
    assert environment(16, {})["OMP_NUM_THREADS"] == "1"
    assert env["PRTE_ALLOW_RUN_AS_ROOT_CONFIRM"] == "1"
