"""What mpirun says of its own, between lines of ranks: understood, and left out.

Open MPI's words stand in blocks between two lines of dashes, MPICH's between a line of equals signs
and a last line that is always the same.  A block that tells what we say in words of our own is left
out; every other is shown as it is.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from threading import Lock

DASHES = re.compile(rb"-{50,}\n?")
# The first lines of blocks that we have words for.
OPENINGS = (
    b"prterun noticed that process rank",
    b"mpirun noticed that process rank",
    b"prterun has exited due to process rank",
    b"mpirun has exited due to process rank",
    b"prterun detected that one or more processes exited",
    b"mpirun detected that one or more processes exited",
    b"Primary job  terminated normally",
    b"A daemon failed to report back",
    b"ORTE was unable to reliably start one or more daemons",
    b"PRTE has lost communication with a remote daemon",
    b"ORTE has lost communication with a remote daemon",
)
# How MPICH's block begins and ends.
EQUALS, BAD_END = (
    re.compile(rb"={50,}\n?"),
    b"=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES",
)
FAQ = b"Please see the FAQ page"
NOISE = re.compile(rb"\[\S+:\d+\] plm:(ssh|rsh): Warning: setpgid")
KILLED = re.compile(r"rank (\d+) with PID \d+ on node (\S+) exited on\s+signal (\d+)")
LEFT = re.compile(r"process rank (\d+) with PID \d+ on node (\S+) exiting\s+improperly")
KILLED_BY_HYDRA = re.compile(r"PID (\d+) RUNNING AT (\S+).*\(signal (\d+)\)", re.DOTALL)
NOT_REACHED = re.compile(r"Remote host:\s+(\S+)")
LOST = re.compile(r"Remote daemon:\s+\S+ on node (\S+)")


class Words:
    """Takes lines apart, of standard output and of standard error.

    Attributes:
        killed: which rank was ended by which signal, or left MPI without a word; "" as long as
            none did.
        not_reached: hosts on which nothing could be started.
        lost: hosts that were heard of no more.
        ranks: by process number; MPICH tells only that.
    """

    def __init__(self) -> None:
        self.killed = ""
        self.not_reached: list[str] = []
        self.lost: list[str] = []
        self.ranks: dict[int, str] = {}
        self._lock = Lock()

    def reader(self, show: Callable[[bytes], None]) -> Reader:
        """Whoever reads one of the streams; what is no word of mpirun goes to ``show``."""
        return Reader(self, show)

    def note(self, block: str) -> None:
        with self._lock:
            if (found := KILLED.search(block)) and not self.killed:
                self.killed = f"rank {found[1]} on {found[2]} was {by_signal(int(found[3]))}"
            elif (found := LEFT.search(block)) and not self.killed:
                self.killed = f"rank {found[1]} on {found[2]} exited without calling MPI_Finalize"
            elif (found := KILLED_BY_HYDRA.search(block)) and not self.killed:
                who = self.ranks.get(int(found[1]), f"of process {found[1]}")
                self.killed = f"rank {who} on {found[2]} was {by_signal(int(found[3]))}"
            self.not_reached += NOT_REACHED.findall(block)
            self.lost += LOST.findall(block)


class Reader:
    """One stream of mpirun, line by line."""

    def __init__(self, words: Words, show: Callable[[bytes], None]) -> None:
        self._words, self._show = words, show
        self._held: list[bytes] = []  # a ruled line, and what follows if it is a block of ours

    def line(self, line: bytes) -> None:
        if not self._held:
            if DASHES.fullmatch(line) or EQUALS.fullmatch(line):
                self._held.append(line)
            elif not NOISE.match(line):
                self._show(line)
            return
        by_hydra = self._held[0].startswith(b"=")
        if len(self._held) == 1 and not line.startswith(BAD_END if by_hydra else OPENINGS):
            self.end()
            self.line(line)
        else:
            self._held.append(line)
            if line.startswith(FAQ) if by_hydra else DASHES.fullmatch(line):
                self._words.note(b"".join(self._held).decode(errors="replace"))
                self._held.clear()

    def end(self) -> None:
        """Nothing more will come: what is held back was not a block."""
        held, self._held = self._held, []
        for line in held:
            self._show(line)


def by_signal(number: int) -> str:
    known = number in set(signal.Signals)
    return f"killed by {signal.Signals(number).name if known else f'signal {number}'}"
