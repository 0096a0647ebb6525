"""Several ranks that are processes of one mpirun, started once for many pieces of work.

    with MpiRanks(5) as ranks:
        results = ranks.run(["a", "a", "b"], work)  # by three of them, as if on two hosts

``work`` is a function of a module, or a partial of one, that takes a communicator: it is pickled.
Work that fails ends all ranks; the next piece of work gets new ones.
"""

from __future__ import annotations

import faulthandler
import itertools
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from pycaffe_dist.parallel.job.launcher import die_with_parent, rank_and_size
from pycaffe_dist.parallel.job.mpirun import environment, find_mpirun
from pycaffe_dist.parallel.transport.communicator import Communicator

T = TypeVar("T")
POLL_SECONDS = 0.01
START_SECONDS = 300
HUNG = "Timeout ("  # faulthandler's first word


class MpiRanks:
    """Up to ``most`` ranks with one thread each, which wait for work."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._process: subprocess.Popen[bytes] | None = None
        self._folder = Path()
        self._number = 0

    def __enter__(self) -> MpiRanks:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(
        self, hosts: Sequence[str], work: Callable[[Communicator], T], seconds: float = 150
    ) -> list[T]:
        """What ``work`` returns on each rank, of which there is one for each host.

        Raises:
            TimeoutError: ranks hang; it says where they are.
            RuntimeError: a rank has failed.
        """
        if self._process is None or self._process.poll() is not None:
            self._start()
        assert self._process is not None
        number, self._number = self._number, self._number + 1
        _put(self._folder / f"{number}.work", (list(hosts), work, seconds))
        results = [self._folder / f"{number}.{rank}" for rank in range(len(hosts))]
        while not all(path.exists() for path in results):
            if self._process.poll() is not None:
                said = (self._folder / "log").read_text(errors="replace")
                kind = TimeoutError if HUNG in said else RuntimeError
                raise kind(f"ranks ended with {self._process.returncode}: {said[-5000:]}")
            time.sleep(POLL_SECONDS)
        return [pickle.loads(path.read_bytes()) for path in results]

    def _start(self) -> None:
        self.close()
        self._folder, self._number = Path(tempfile.mkdtemp(prefix="mpi-ranks-")), 0
        program = [sys.executable, "-m", __name__, str(self._folder), str(os.getpid())]
        env = environment(self._most, {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        env |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        with (self._folder / "log").open("wb") as log:
            command = find_mpirun().command(self._most, program)
            self._process = subprocess.Popen(command, env=env, stdout=log, stderr=log)

    def close(self) -> None:
        """Let the ranks leave."""
        if self._process is not None:
            (self._folder / "over").touch()
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self._process.kill()
            shutil.rmtree(self._folder, ignore_errors=True)
            self._process = None


def _put(path: Path, value: object) -> None:
    """A file that is there when it is whole."""
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(pickle.dumps(value))
    part.rename(path)


def _serve(folder: Path, owner: int) -> None:
    """What a rank does: work, one piece after the other."""
    from pycaffe_dist.parallel.transport.mpi import MpiCommunicator

    die_with_parent()
    rank = rank_and_size()[0]
    faulthandler.dump_traceback_later(START_SECONDS, exit=True)
    MpiCommunicator().close()  # MPI starts on all ranks or none
    faulthandler.cancel_dump_traceback_later()
    for number in itertools.count():
        work = folder / f"{number}.work"
        while not work.exists():
            if (folder / "over").exists() or not Path(f"/proc/{owner}").exists():
                return
            time.sleep(POLL_SECONDS)
        hosts, function, seconds = pickle.loads(work.read_bytes())
        if rank < len(hosts):
            faulthandler.dump_traceback_later(seconds, exit=True)
            _put(folder / f"{number}.{rank}", _as_rank(hosts, rank, function))
            faulthandler.cancel_dump_traceback_later()


def _as_rank(hosts: list[str], rank: int, work: Callable[[Communicator], T]) -> T:
    from pycaffe_dist.parallel.transport.mpi import MpiCommunicator

    communicator = MpiCommunicator(hosts[rank], len(hosts))
    try:
        result = work(communicator)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        communicator.abort(1)
        raise
    communicator.close()
    return result


if __name__ == "__main__":
    _serve(Path(sys.argv[1]), int(sys.argv[2]))
