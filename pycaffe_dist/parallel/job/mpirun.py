"""The mpirun that belongs to the MPI library which mpi4py uses, and how it starts ranks."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.optional import install_command
from pycaffe_dist.parallel.job.hostfile import Host
from pycaffe_dist.threads import cores

OPEN_MPI, HYDRA = "Open MPI", "Hydra"  # Hydra: the launcher of MPICH and of all that grew from it
NAMES = ("mpirun", "mpiexec", "mpirun.openmpi", "mpirun.mpich", "mpiexec.hydra")
PROBE = [sys.executable, "-m", "pycaffe_dist.parallel.transport.mpi", "--library"]
PROBE_SECONDS = 60
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# Open MPI refuses root unless it is told twice, in the words of both of its halves.
ROOT = ("ALLOW_RUN_AS_ROOT", "ALLOW_RUN_AS_ROOT_CONFIRM")
# What a rank on another host needs to know; there Open MPI passes on only what it is told to.
PASSED_ON = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", *THREADS)
KINDS_PASSED_ON = ("PCD_", "NCCL_", "CUPY_")  # the first letters of others


@dataclass(frozen=True)
class Mpirun:
    """A launcher.

    Attributes:
        path: the program.
        kind: whose it is, OPEN_MPI or HYDRA.
    """

    path: str
    kind: str

    @property
    def stop(self) -> signal.Signals:
        """The signal that it hands to all ranks, and after which it does not kill them."""
        return signal.SIGUSR2 if self.kind == OPEN_MPI else signal.SIGTERM

    @property
    def snapshot(self) -> signal.Signals:
        """Another one."""
        return signal.SIGUSR1

    def command(
        self,
        ranks: int,
        program: Sequence[str],
        hostfile: str | None = None,
        passed_on: Sequence[str] = (),
    ) -> list[str]:
        """Start ``program`` on so many ranks, here or on the hosts of a file.

        Ranks are not bound to cores (we choose threads ourselves) and may be more than cores.
        Variables named in ``passed_on`` are set on other hosts too.
        """
        command = [self.path, "-n", str(ranks)]
        if self.kind == HYDRA:
            command += ["-f", hostfile] if hostfile else []
            return [*command, "-wdir", os.getcwd(), *program]
        command += ["--oversubscribe", "--bind-to", "none", "--wdir", os.getcwd()]
        if hostfile:
            command += ["--hostfile", hostfile]
            for name in passed_on:
                command += ["-x", name]
        return [*command, *program]

    def hosts(self, hosts: Sequence[Host]) -> str:
        """The text of a hostfile in its own form."""
        form = "{} slots={}\n" if self.kind == OPEN_MPI else "{}:{}\n"
        return "".join(form.format(host.name, host.slots) for host in hosts)


def passed_on(env: Mapping[str, str]) -> list[str]:
    """The variables that ranks on other hosts get as they are here."""
    return [name for name in env if name in PASSED_ON or name.startswith(KINDS_PASSED_ON)]


def environment(ranks_here: int, base: Mapping[str, str]) -> dict[str, str]:
    """The variables of ranks: root is allowed, and each computes with its share of the cores."""
    env = dict(base)
    for half in ("OMPI", "PRTE"):
        env |= {f"{half}_{word}": "1" for word in ROOT}
    for name in THREADS:
        env.setdefault(name, str(max(1, cores() // ranks_here)))
    return env


def find_mpirun() -> Mpirun:
    """The launcher beside the library that mpi4py loads.

    Where two MPIs are installed, the mpirun that PATH finds first may be the other one's: it
    would start so many runs of one rank each.

    Raises:
        MissingPartError: mpi4py, its library or the launcher is missing.
    """
    vendor, library = _library()
    kind = OPEN_MPI if vendor == "Open MPI" else HYDRA
    others = []
    for path in _candidates(library):
        found = _kind(path)
        if found == kind:
            return Mpirun(path, kind)
        if found:
            others.append(f"{path} is of {found}")
    raise MissingPartError(
        f"mpi4py uses {vendor} ({library}), but no mpirun of it was found"
        + (f"; {', '.join(others)}" if others else "")
        + f". Put it on PATH, or install one: {install_command('mpi')}"
    )


def another_mpi(ranks: int, library: str) -> MissingPartError:
    """What to say of ranks whose mpirun and library do not belong together."""
    return MissingPartError(
        f"mpirun started {ranks} ranks, but the MPI library of mpi4py {library}: "
        f"the two are not of one MPI. Use: {find_mpirun().path}"
    )


def _library() -> tuple[str, str]:
    """Whose MPI mpi4py loads, and the library's file.  Asked of a process of its own."""
    try:
        probe = subprocess.run(PROBE, capture_output=True, text=True, timeout=PROBE_SECONDS)
        vendor, library = json.loads(probe.stdout)
    except subprocess.TimeoutExpired as e:
        raise MissingPartError(
            f"MPI has not been loaded within {PROBE_SECONDS} s: the machine is too busy, or "
            f"'{sys.executable} -c \"from mpi4py import MPI\"' hangs. Try it, and then again"
        ) from e
    except ValueError as e:
        words = probe.stderr.strip().splitlines()
        raise MissingPartError(
            "several ranks need MPI, which cannot be loaded"
            + (f": {words[-1]}" if words else "")
            + f". Install it with: {install_command('mpi')}"
        ) from e
    return vendor, library


def _candidates(library: str) -> list[str]:
    """Programs that may be the one, those nearest to the library first."""
    folders = [parent / "bin" for parent in Path(library).resolve().parents]
    folders += [parent / "bin" for parent in Path(library).parents]
    folders.append(Path(sys.executable).parent)
    found = [str(folder / name) for folder in folders for name in NAMES]
    found += [path for name in NAMES if (path := shutil.which(name))]
    return [path for path in dict.fromkeys(found) if os.access(path, os.X_OK)]


def _kind(path: str) -> str | None:
    try:
        run = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    text = run.stdout + run.stderr
    if "HYDRA" in text or "Intel(R) MPI" in text:
        return HYDRA
    return OPEN_MPI if "Open MPI" in text or "OpenRTE" in text else None
