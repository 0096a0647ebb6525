"""MPI through mpi4py; the only module that imports it.

``python -m pycaffe_dist.parallel.transport.mpi`` prints which MPI is here, as JSON.  It is a
process of its own because a broken MPI ends the process that initialises it.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import sys
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike

from pycaffe_dist import caffe_log as log
from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import MissingPartError, PcdError
from pycaffe_dist.files import mapped
from pycaffe_dist.optional import require
from pycaffe_dist.parallel.job import lifeline
from pycaffe_dist.parallel.job.failure import crash_ends_job
from pycaffe_dist.parallel.job.launcher import tune_mpi
from pycaffe_dist.parallel.transport import confine
from pycaffe_dist.parallel.transport.communicator import Communicator, Nodes, Request, as_bytes

if TYPE_CHECKING:
    from mpi4py import MPI

PURPOSE = "Training on several ranks"
SMALLEST_WINDOW = 1 << 20
MOST_NAME = 256  # bytes of a host's name
ALIGNED = 64  # bytes at whose multiples arrays in a window begin
OPEN_SOCKETS = (
    "%d sockets of this rank listen on all interfaces, not on %s alone: this system lets users put "
    "no filters on sockets; other networks of this host can reach them, unless there is a firewall"
)
THREAD_LEVELS = ("SINGLE", "FUNNELED", "SERIALIZED", "MULTIPLE")


class _MpiRequest:
    __slots__ = ("_request",)

    def __init__(self, request: MPI.Request) -> None:
        self._request = request

    def test(self) -> bool:
        done: bool = self._request.Test()
        return done


class MpiCommunicator(Communicator):
    """The ranks of MPI_COMM_WORLD, each on the node that its host name and MPI both say.

    Args:
        host: the name of this rank's host; by default what the system says.
        ranks: how many of them, from rank 0 on, take part; all by default.
    """

    def __init__(self, host: str | None = None, ranks: int | None = None) -> None:
        tune_mpi()
        self._mpi = _start()
        crash_ends_job()  # at exit MPI waits for all ranks, and they wait for this one
        network = os.environ.get(confine.VARIABLE)
        open_to_all = confine.hear_only(network)[1] if network else 0
        level = self._mpi.Query_thread()
        if level < self._mpi.THREAD_SERIALIZED:
            raise PcdError(
                "this MPI library lets only its first thread communicate "
                f"(MPI_THREAD_{THREAD_LEVELS[level]}); exchanges during backward need "
                "MPI_THREAD_SERIALIZED. Use an MPI built with support for threads."
            )
        world = self._mpi.COMM_WORLD
        some = world.Get_group().Incl(range(ranks or world.Get_size()))
        self._comm = world.Create_group(some)
        near = self._comm.Split_type(self._mpi.COMM_TYPE_SHARED, self._comm.Get_rank())
        nodes = _nodes(self._places(near, host or socket.gethostname()))
        super().__init__(self._comm.Get_rank(), self._comm.Get_size(), nodes)
        if open_to_all and self.rank == 0:
            log.warning("parallel.cpp", OPEN_SOCKETS, open_to_all, network)
        self._node = self._comm.Split(nodes.of_rank[self.rank], self.rank)
        if self._node.Get_rank() == 0:
            for file in mapped("/dev/shm/"):
                lifeline.say(lifeline.MEMORY, os.path.basename(file))
        self._windows: list[MPI.Win] = []
        self._room: Array = np.empty(0, np.uint8)  # of the newest window, what is still free

    def _places(self, near: MPI.Comm, host: str) -> list[tuple[int, str]]:
        """For each rank, the first one that shares its memory, and its host's name."""
        first = np.array([self._comm.Get_rank()], np.int64)
        near.Bcast(first)
        firsts = np.empty(self._comm.Get_size(), np.int64)
        self._comm.Allgather(first, firsts)
        name = np.zeros(MOST_NAME, np.uint8)
        letters = np.frombuffer(host.encode()[:MOST_NAME], np.uint8)
        name[: letters.size] = letters
        names = np.empty((firsts.size, MOST_NAME), np.uint8)
        self._comm.Allgather(name, names)
        hosts = [row.tobytes().rstrip(b"\0").decode(errors="replace") for row in names]
        return list(zip(firsts.tolist(), hosts, strict=True))

    def _isend(self, array: Array, to: int, tag: int) -> Request:
        return _MpiRequest(self._comm.Isend([as_bytes(array), self._mpi.BYTE], to, tag))

    def _irecv(self, array: Array, source: int, tag: int) -> Request:
        return _MpiRequest(self._comm.Irecv([as_bytes(array), self._mpi.BYTE], source, tag))

    def share(self, count: int, dtype: DTypeLike) -> Array:
        if self._node.Get_size() == 1:
            return np.zeros(count, dtype)
        size = -(-count * np.dtype(dtype).itemsize // ALIGNED) * ALIGNED
        if size > self._room.size:
            self._open_window(max(size, SMALLEST_WINDOW))
        piece, self._room = self._room[:size], self._room[size:]
        array: Array = piece.view(dtype)[:count]
        return array

    def _open_window(self, size: int) -> None:
        first = self._node.Get_rank() == 0
        window = self._mpi.Win.Allocate_shared(size if first else 0, 1, comm=self._node)
        self._windows.append(window)
        memory, _ = window.Shared_query(0)
        self._room = np.frombuffer(memory, np.uint8)
        if first:
            self._room[...] = 0
        self._node.Barrier()

    def abort(self, code: int) -> None:
        self._comm.Abort(code)

    def close(self) -> None:
        self._room = np.empty(0, np.uint8)
        for window in self._windows:
            window.Free()
        self._windows.clear()
        self._node.Free()
        self._comm.Free()


def _load() -> ModuleType:
    """The module mpi4py.MPI; it does not start MPI, but ends it at exit if somebody has."""
    settings = require("mpi4py", "mpi", PURPOSE).rc
    settings.initialize, settings.finalize = False, True
    return require("mpi4py.MPI", "mpi", PURPOSE)


def _start() -> ModuleType:
    """The module mpi4py.MPI, of an MPI that is started.

    More than one thread calls it, one after the other: no more is asked of the library.
    """
    MPI = _load()
    if not MPI.Is_initialized():
        # All ranks wait for each other here.  mpi4py would let no other thread of ours run
        # meanwhile, not even the one that watches how long it takes; ctypes does.
        start = ctypes.CDLL(library()[1]).MPI_Init_thread
        start(None, None, MPI.THREAD_SERIALIZED, ctypes.byref(ctypes.c_int()))
        MPI.COMM_WORLD.Set_errhandler(MPI.ERRORS_RETURN)  # mpi4py makes exceptions of them
    return MPI


def _nodes(places: list[tuple[int, str]]) -> Nodes:
    """Nodes from what each rank says: the first rank that shares its memory, and its host name."""
    known = list(dict.fromkeys(places))
    return Nodes(tuple(known.index(p) for p in places), tuple(host for _, host in known))


def facts() -> dict[str, str]:
    """Vendor, library version, mpi4py version and thread level."""
    # Open MPI would open shared memory with nobody, and leave it behind.
    os.environ.setdefault("OMPI_MCA_btl", "self")
    mpi4py = require("mpi4py", "mpi", PURPOSE)
    MPI = require("mpi4py.MPI", "mpi", PURPOSE)
    name, version = MPI.get_vendor()
    level = [MPI.THREAD_SINGLE, MPI.THREAD_FUNNELED, MPI.THREAD_SERIALIZED, MPI.THREAD_MULTIPLE]
    return {
        "vendor": f"{name} {'.'.join(map(str, version))}",
        "library": MPI.Get_library_version().splitlines()[0].rstrip("\0 "),
        "mpi4py": mpi4py.__version__,
        "thread level": THREAD_LEVELS[level.index(MPI.Query_thread())],
    }


def library() -> tuple[str, str]:
    """Whose MPI it is and the file that was loaded; MPI is not started."""
    MPI = _load()
    files = [path for path in mapped() if "/libmpi" in path]
    return MPI.get_vendor()[0], min(files, key=len, default=str(MPI.__file__))


if __name__ == "__main__":
    try:
        print(json.dumps(library() if "--library" in sys.argv else facts()))
    except MissingPartError as e:
        sys.exit(str(e.__cause__))  # the reason alone: who asks says how to install it
