"""A Slurm cluster of several node names on one machine, to try `srun` and `sbatch` on.

    python scripts/slurmlab.py start FOLDER [--nodes 2]   # prints: export SLURM_CONF=...
    python scripts/slurmlab.py stop FOLDER

Needs root, and Debian's packages slurm-wlm, munge and libpmix-dev (whose libpmix.so Slurm loads).
Everything listens on loopback, and all of its files are in FOLDER.
"""

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

PORTS = 16817  # the controller's; those of the nodes follow
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun")
CONF = """
ClusterName=lab
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
TmpFS={folder}/tmp-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=pmix
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
KillWait=60
MinJobAge=300
{nodes}
PartitionName=lab Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
"""


def why_not() -> str:
    """Why there can be no lab here; "" if there can."""
    missing = [name for name in PROGRAMS if shutil.which(name, path=_path()) is None]
    if missing:
        return f"{', '.join(missing)}: not installed (Debian: slurm-wlm munge libpmix-dev)"
    return "" if os.geteuid() == 0 else "it needs root"


def _path() -> str:
    return f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


class Lab:
    """A cluster as long as the context lasts; ``env`` has what srun needs to find it."""

    def __init__(self, folder: str | os.PathLike[str], nodes: int = 2) -> None:
        self.folder, self.nodes = Path(folder).absolute(), nodes
        self.conf = self.folder / "slurm.conf"
        self.env = {**os.environ, "PATH": _path(), "SLURM_CONF": str(self.conf)}

    def __enter__(self) -> "Lab":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        folder = self.folder
        names = [f"lab{i}" for i in range(1, self.nodes + 1)]
        for part in ("munge", "state", *(f"tmp-{name}" for name in names)):
            (folder / part).mkdir(parents=True, exist_ok=True)
        (folder / "munge").chmod(0o700)
        key = folder / "munge" / "key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        host = socket.gethostname().split(".")[0]
        rows = [
            f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={PORTS + i} "
            f"CPUs={os.cpu_count()}"
            for i, name in enumerate(names, 1)
        ]
        text = CONF.format(host=host, port=PORTS, folder=folder, nodes="\n".join(rows))
        self.conf.write_text(text)
        munge = [f"--{what}-file={folder}/munge/{what}" for what in ("key", "pid", "log", "seed")]
        self.run("munged", "--force", f"--socket={folder}/munge/socket", *munge)
        self.run("slurmctld", "-f", str(self.conf))
        for name in names:
            self.run("slurmd", "-f", str(self.conf), "-N", name)
        self._wait(lambda: self.run("sinfo", "-h", "-o", "%T").split() == ["idle"], "its nodes")

    def run(self, *command: str) -> str:
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout

    def _wait(self, there, what: str, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while not there():
            if time.monotonic() > end:
                raise RuntimeError(f"the lab waited {seconds:.0f} s for {what}: see {self.folder}")
            time.sleep(0.2)

    def stop(self) -> None:
        """End its daemons, the controller last."""
        pids = [*self.folder.glob("slurmd-*.pid"), self.folder / "slurmctld.pid"]
        for file in (*pids, self.folder / "munge" / "pid"):
            try:
                os.kill(int(file.read_text()), signal.SIGTERM)
            except (OSError, ValueError):
                continue


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("start", "stop"))
    parser.add_argument("folder")
    parser.add_argument("--nodes", type=int, default=2)
    args = parser.parse_args(argv)
    lab = Lab(args.folder, args.nodes)
    if args.what == "stop":
        lab.stop()
        return 0
    if refused := why_not():
        print(f"no Slurm here: {refused}", file=sys.stderr)
        return 1
    lab.start()
    print(f"export SLURM_CONF={lab.conf}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
