"""The sockets of a job hear the hosts of the job alone, as far as interfaces tell them apart.

Open MPI's launcher and ranks bind the sockets on which they wait for each other to all interfaces;
its settings choose what is told to others, not what is listened on.  But a socket can be tied to an
interface after the fact, also that of another process of ours: Linux lends it to us.  So it is with
a job on one host, which needs loopback only.  Of a job on several hosts, each rank puts a filter on
its own sockets: who connects must come by the interface of the job's network, or from this host.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import ipaddress
import os
import socket
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

VARIABLE = "PCD_NETWORK"  # that of a job on several hosts, as 10.1.2.0/24
LOOPBACK = b"lo\0"
LISTEN = "0A"  # the state, in /proc/net/tcp
GETFD = 438  # pidfd_getfd, whose number is the same on every machine
FORBIDDEN = (errno.EPERM, errno.EACCES, errno.ENOSYS)
GET_ADDRESS, GET_MASK = 0x8915, 0x891B  # ioctl, of an interface
# Linux's packet filters: their words for "the interface's number", "if equal", "let pass or drop".
ATTACH_FILTER = 26
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
INTERFACE = 0xFFFFF000 + 8
ALL = 0xFFFFFFFF


def confine(pid: int) -> tuple[int, int]:
    """Tie what a process listens on at all interfaces to loopback.

    Returns:
        How many sockets were tied, and how many not because the system does not let us: a Linux
        older than 5.7, or a container that forbids it.
    """
    tied = forbidden = 0
    for fd in _listening(pid):
        try:
            with socket.socket(fileno=_borrowed(pid, fd)) as listener:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, LOOPBACK)
            tied += 1
        except OSError as e:  # others: it was closed meanwhile
            forbidden += e.errno in FORBIDDEN
    return tied, forbidden


def shared_network(hosts: Sequence[str]) -> str:
    """The network of one of our interfaces that has all these hosts; "" if there is none.

    A host whose own name is a loopback address to itself does not count.
    """
    try:
        found = {ipaddress.IPv4Address(socket.gethostbyname(name)) for name in hosts}
    except (OSError, UnicodeError):  # names that only ssh knows
        return ""
    wanted = {address for address in found if not address.is_loopback} or found
    networks = (interface.network for _, interface in _interfaces())
    return next((str(n) for n in networks if all(a in n for a in wanted)), "")


def hear_only(network: str) -> tuple[int, int]:
    """Let what this process listens on hear one network and this host.

    Returns:
        How many sockets have a filter, and how many not because the system does not let us.
    """
    known = list(_interfaces())
    within = [i for i, one in known if one.ip in ipaddress.IPv4Network(network)]
    if not within:  # this host is known to the others by another network
        return 0, 0
    passing = {*within, *(i for i, one in known if one.ip.is_loopback)}
    steps = [(LOAD, 0, 0, INTERFACE)]
    steps += [(EQUAL, len(passing) - i, 0, index) for i, index in enumerate(sorted(passing))]
    steps += [(RETURN, 0, 0, 0), (RETURN, 0, 0, ALL)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *s) for s in steps))
    filter_ = struct.pack("HP", len(steps), ctypes.addressof(program))
    filtered = forbidden = 0
    for fd in _listening(os.getpid()):
        try:
            with socket.socket(fileno=os.dup(fd)) as listener:
                listener.setsockopt(socket.SOL_SOCKET, ATTACH_FILTER, filter_)
            filtered += 1
        except OSError as e:  # others: it was closed meanwhile
            forbidden += e.errno in FORBIDDEN
    return filtered, forbidden


def _interfaces() -> Iterator[tuple[int, ipaddress.IPv4Interface]]:
    """Number and address of each interface that has one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for index, name in socket.if_nameindex():
            request = struct.pack("40s", name.encode())
            with contextlib.suppress(OSError):  # it has no address
                address, mask = (
                    socket.inet_ntoa(fcntl.ioctl(any_socket, what, request)[20:24])
                    for what in (GET_ADDRESS, GET_MASK)
                )
                yield index, ipaddress.IPv4Interface(f"{address}/{mask}")


def _listening(pid: int) -> list[int]:
    """What a process has open that listens on all interfaces; nothing if it has ended."""
    found = []
    with contextlib.suppress(OSError):
        anywhere = _anywhere(pid)
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):  # closed meanwhile
                if os.readlink(f"/proc/{pid}/fd/{fd}") in anywhere:
                    found.append(int(fd))
    return found


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
