"""Which rank this process is, told by the launcher's variables: no MPI library is needed."""

from __future__ import annotations

import ctypes
import os
import signal

from pycaffe_dist.parallel.transport import confine

# Of Open MPI's and of MPICH's mpirun, and of Slurm's srun.
VARIABLES = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("PMIX_RANK", "SLURM_NTASKS"),
)
LOCAL = ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID")
PR_SET_PDEATHSIG = 1
# Open MPI's settings: two ranks that send to each other over TCP would take turns; ranks that wait
# would keep others from the cores; and a component that we do not use complains at every start.
OPEN_MPI = {"btl_tcp_flags": "send,inplace", "mpi_yield_when_idle": "1", "osc": "^ucx"}


def rank_and_size() -> tuple[int, int]:
    """(rank, number of ranks); (0, 1) without a launcher."""
    for rank, size in VARIABLES:
        if rank in os.environ and size in os.environ:
            return int(os.environ[rank]), int(os.environ[size])
    return 0, 1


def launched() -> bool:
    """Whether mpirun or the like has started us."""
    return any(rank in os.environ and size in os.environ for rank, size in VARIABLES)


def by_open_mpi() -> bool:
    """Whether it was Open MPI's mpirun."""
    return VARIABLES[0][0] in os.environ


def local_rank() -> int:
    """Which of the ranks on this host we are; the launcher's word for it, or the rank itself."""
    for name in LOCAL:
        if name in os.environ:
            return int(os.environ[name])
    return rank_and_size()[0]


def tune_mpi() -> None:
    """Settings for the MPI library, before it starts, where nobody has chosen others."""
    for name, value in OPEN_MPI.items():
        os.environ.setdefault(f"OMPI_MCA_{name}", value)
    if network := os.environ.get(confine.VARIABLE):
        os.environ.setdefault("OMPI_MCA_btl_tcp_if_include", network)


def die_with_parent() -> None:
    """Be killed when the process that started us, mpirun or its daemon, is gone.

    Open MPI's ranks would otherwise train on, unseen, after a kill -9 of mpirun.
    """
    parent = os.getppid()
    try:
        prctl = ctypes.CDLL(None).prctl
    except AttributeError:  # not Linux
        return
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died while we asked
        os.kill(os.getpid(), signal.SIGKILL)
