"""The sockets of a job on one host hear this host alone.

Open MPI's launcher and ranks bind the sockets on which they wait for each other to all interfaces;
its settings choose what is told to others, not what is listened on.  But a socket can be tied to an
interface after the fact, also that of another process of ours: Linux lends it to us.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
from pathlib import Path

LOOPBACK = b"lo\0"
LISTEN = "0A"  # the state, in /proc/net/tcp
GETFD = 438  # pidfd_getfd, whose number is the same on every machine


def confine(pid: int) -> int:
    """Tie what a process listens on at all interfaces to loopback; how many sockets that were.

    Nothing happens where the system does not let us: not Linux, or one that is older than 5.7, or a
    container that forbids it.
    """
    try:
        anywhere, open_ones = _anywhere(pid), os.listdir(f"/proc/{pid}/fd")
    except OSError:  # it has ended
        return 0
    count = 0
    for fd in open_ones:
        with contextlib.suppress(OSError):  # closed meanwhile, or not lent
            if os.readlink(f"/proc/{pid}/fd/{fd}") in anywhere:
                with socket.socket(fileno=_borrowed(pid, int(fd))) as listener:
                    listener.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, LOOPBACK)
                count += 1
    return count


def _anywhere(pid: int) -> set[str]:
    """The sockets of a process's network that listen on all interfaces."""
    found = set()
    for table in ("tcp", "tcp6"):
        for row in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state, *more = row.split()
            if state == LISTEN and not int(local.split(":")[0], 16):
                found.add(f"socket:[{more[5]}]")
    return found


def _borrowed(pid: int, fd: int) -> int:
    """A handle of ours for what another process has open."""
    process = os.pidfd_open(pid)
    try:
        mine = ctypes.CDLL(None, use_errno=True).syscall(GETFD, process, fd, 0)
    finally:
        os.close(process)
    if mine < 0:
        raise OSError(ctypes.get_errno(), "pidfd_getfd")
    return int(mine)
