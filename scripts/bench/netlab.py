"""A cluster on one machine: nodes are network namespaces on a switch, their links as slow as asked.

with Lab(2, "1gbit") as lab:
    lab.popen(lab.nodes[0], ["python", "program.py"], env)
    lab.popen(lab.nodes[0], lab.mpirun(mpirun, 2, ["python", "program.py"], env), env)

A node has a host name, an address and one interface, eth0; no route leads out.  Both directions of
a link are shaped by a token bucket.  Root and Linux's ``ip``, ``tc`` and ``unshare`` are needed.
As a program, ``netlab.py HOST COMMAND`` does for mpirun what ssh would.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

NETWORK = "10.77.0"
SWITCH = "sw"
TOOLS = ("ip", "tc", "unshare")
# A burst covers the largest packet that the kernel hands over (64 KB); the queue is a switch's.
SHAPE = ("burst", "256kb", "latency", "20ms")
SENT = "/sys/class/net/eth0/statistics/tx_bytes"  # as seen on a node
FILES = Path("/etc/netns")  # what `ip netns exec` lays over /etc, by namespace
# Open MPI over the shaped interface and nothing else, as over Ethernet.
OPEN_MPI = {"pml": "ob1", "btl": "tcp,self,sm", "btl_tcp_if_include": "eth0"}
PRTE = {
    "plm_ssh_agent": f"{sys.executable} {Path(__file__).resolve()}",
    "prte_if_include": "eth0",
}
SSH_WITH_VALUE = ("-o", "-p", "-l", "-i", "-F")
ENTER = 'hostname "$1" && shift && exec "$@"'


def why_not() -> str | None:
    """Why this machine cannot have a lab; None if it can."""
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        return f"{', '.join(missing)} not found"
    if os.geteuid():
        return "only root may make network namespaces"
    probe = f"lab{os.getpid()}probe"
    made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, text=True)
    subprocess.run(["ip", "netns", "del", probe], capture_output=True)
    return f"no network namespaces: {made.stderr.strip()}" if made.returncode else None


class Lab:
    """Nodes on a switch; they vanish, with all that runs in them, when the context ends.

    Args:
        count: how many nodes.
        rate: of each link in each direction, in the words of tc: 1gbit, 200mbit; none.

    Attributes:
        nodes: their host names, which are also the names of their namespaces.
    """

    def __init__(self, count: int, rate: str) -> None:
        self.rate = rate
        self._name = f"lab{os.getpid()}n"
        self.nodes = [f"{self._name}{i}" for i in range(count)]

    @staticmethod
    def address(node: int) -> str:
        return f"{NETWORK}.{node + 1}"

    def __enter__(self) -> Lab:
        sweep()
        try:
            self._build()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        remove([*self.nodes, self._name + SWITCH])

    def _build(self) -> None:
        switch = self._name + SWITCH
        _call("ip", "netns", "add", switch)
        _call("ip", "-n", switch, "link", "add", "br0", "type", "bridge")
        _call("ip", "-n", switch, "link", "set", "br0", "up")
        hosts = "127.0.0.1 localhost\n" + "".join(
            f"{self.address(i)} {node}\n" for i, node in enumerate(self.nodes)
        )
        for i, node in enumerate(self.nodes):
            _call("ip", "netns", "add", node)
            (FILES / node).mkdir(parents=True, exist_ok=True)
            (FILES / node / "hosts").write_text(hosts)
            _call("ip", "-n", node, "link", "set", "lo", "up")
            peer = ("peer", "name", f"p{i}", "netns", switch)
            _call("ip", "-n", node, "link", "add", "eth0", "type", "veth", *peer)
            _call("ip", "-n", switch, "link", "set", f"p{i}", "master", "br0", "up")
            _call("ip", "-n", node, "addr", "add", f"{self.address(i)}/24", "dev", "eth0")
            _call("ip", "-n", node, "link", "set", "eth0", "up")
        self.shape(self.rate)

    def shape(self, rate: str) -> None:
        """Make all links as fast as ``rate`` from now on."""
        self.rate = rate
        for i, node in enumerate(self.nodes):
            for where, interface in ((node, "eth0"), (self._name + SWITCH, f"p{i}")):
                tc = ("tc", "-n", where, "qdisc")
                subprocess.run([*tc, "del", "dev", interface, "root"], capture_output=True)
                if rate != "none":
                    _call(*tc, "add", "dev", interface, "root", "tbf", "rate", rate, *SHAPE)

    def sent(self, node: int) -> int:
        """Bytes that have left a node through its interface."""
        found = _call("ip", "netns", "exec", self.nodes[node], "cat", SENT)
        return int(found)

    # -- what runs in it -------------------------------------------------------------------------

    def popen(
        self, node: str, command: Sequence[str], env: Mapping[str, str], **options: Any
    ) -> subprocess.Popen[Any]:
        """Start a program on a node."""
        return subprocess.Popen(inside(node, command), env=dict(env), **options)

    def mpirun(
        self, mpirun: str, ranks: int, program: Sequence[str], env: Mapping[str, str]
    ) -> list[str]:
        """The command, to be run on the first node, by which Open MPI starts ranks on all.

        Ranks fill the first node, then the next.  Variables of ``env`` that our environment has
        not, or has otherwise, are passed on.
        """
        each = -(-ranks // len(self.nodes))
        command = [mpirun, "-n", str(ranks), "--bind-to", "none"]
        command += ["--host", ",".join(f"{node}:{each}" for node in self.nodes)]
        for kind, settings in (("--prtemca", PRTE), ("--mca", OPEN_MPI)):
            for name, value in settings.items():
                command += [kind, name, value]
        for name, value in env.items():
            if os.environ.get(name) != value:
                command += ["-x", name]
        return [*command, *program]

    @staticmethod
    def variables() -> dict[str, str]:
        """The same settings for an mpirun that another program starts."""
        prte = {f"PRTE_MCA_{name}": value for name, value in PRTE.items()}
        return prte | {f"OMPI_MCA_{name}": value for name, value in OPEN_MPI.items()}


def inside(node: str, command: Sequence[str]) -> list[str]:
    """The command that runs another in a namespace, under its host name."""
    enter = ["ip", "netns", "exec", node, "unshare", "--uts", "sh", "-c", ENTER]
    return [*enter, "sh", node, *command]


def sweep() -> None:
    """Remove what labs have left whose process is gone."""
    names = [line.split()[0] for line in _call("ip", "netns", "list").splitlines() if line]
    remove(
        name
        for name in names
        if (lab := re.fullmatch(r"lab(\d+)n(\d+|sw)", name))
        and not Path(f"/proc/{lab[1]}").exists()
    )


def remove(namespaces: Any) -> None:
    """Delete namespaces of ours and end what still runs in them."""
    for name in namespaces:
        found = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True)
        for pid in found.stdout.split():
            _kill(int(pid))
        subprocess.run(["ip", "netns", "del", name], capture_output=True)
        shutil.rmtree(FILES / name, ignore_errors=True)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGTERM)
        for _ in range(20):
            time.sleep(0.1)
            os.kill(pid, 0)
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _call(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{shlex.join(command)}: {done.stderr.strip()}")
    return done.stdout


def agent(arguments: list[str]) -> None:
    """Be ssh: leave out options, go to the host, let a shell run the rest."""
    while arguments and arguments[0].startswith("-"):
        del arguments[: 2 if arguments[0] in SSH_WITH_VALUE else 1]
    host, *words = arguments
    command = inside(host, ["sh", "-c", " ".join(words)])
    os.execvp(command[0], command)


if __name__ == "__main__":
    agent(sys.argv[1:])
