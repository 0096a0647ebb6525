"""Which hosts do not answer: asked in the way in which mpirun asks them."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


class Probe:
    """Runs ``true`` on every host on which a launcher wants to start something.

    By the launcher's own command: its children are ``ssh -x HOST ...`` or what stands in for ssh.
    One that hangs tells nothing by itself, as it stays as long as the job does.

    Args:
        ways: the first words of a command on each host.
        env: variables for ssh.
    """

    def __init__(self, ways: Mapping[str, Sequence[str]], env: Mapping[str, str]) -> None:
        self._asked = {
            host: subprocess.Popen(
                [*command, "true"],
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # no terminal: nobody is asked for a password
            )
            for host, command in ways.items()
        }

    @property
    def hosts(self) -> list[str]:
        """Those that are asked."""
        return list(self._asked)

    def silent(self) -> list[str]:
        """The hosts that have not answered yet, or with an error."""
        return [host for host, asked in self._asked.items() if asked.poll() != 0]

    def end(self) -> None:
        for asked in self._asked.values():
            asked.kill()
            asked.wait()


def ways(launcher: int, hosts: Sequence[str]) -> dict[str, list[str]]:
    """How a launcher gets to hosts: the first words of its children's commands, host included."""
    found = {}
    for child in _children(launcher):
        for i, word in enumerate(child):
            if word in hosts:
                found[word] = child[: i + 1]
                break
    return found


def _children(parent: int) -> list[list[str]]:
    commands = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # After the name, which may hold anything: state and parent.
            mother = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            if int(mother) == parent:
                command = (folder / "cmdline").read_bytes().decode(errors="replace")
                commands.append(command.rstrip("\0").split("\0"))
        except OSError:  # it has ended
            continue
    return commands
