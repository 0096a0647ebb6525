"""The hosts of a cluster: PMLS-Caffe's file (``id ip port``) or MPI's own (``host slots=4``)."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass

from pycaffe_dist.errors import FileError
from pycaffe_dist.files import read_bytes

NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.:-]*[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\]")
MOST_SLOTS = 1 << 16
MOST_DIGITS = 9  # of a number
MOST_LETTERS = 63  # between the dots of a name: Python asks no name server for more
SHOWN = 80  # letters of what is no name


@dataclass(frozen=True)
class Host:
    """A machine, and how many ranks it takes."""

    name: str
    slots: int


def read_hostfile(path: str, ranks: int | None = None) -> list[Host]:
    """The hosts of a file, of either form; ranks are numbered in their order.

    Args:
        path: the file.
        ranks: take the first so many only.

    Raises:
        FileError: with file and line of the first thing that is wrong.
    """
    lines = read_bytes(path).decode(errors="replace").splitlines()
    rows = [(n, line.split("#")[0].split()) for n, line in enumerate(lines, 1)]
    rows = [(n, words) for n, words in rows if words]
    if not rows:
        raise FileError(f"{path}: names no host")
    clients = len(rows[0][1]) == 3 and rows[0][1][0].isdecimal()
    hosts = _clients(path, rows) if clients else _slots(path, rows)
    return hosts if ranks is None else _first(path, hosts, ranks)


def unknown(hosts: Iterable[Host]) -> list[str]:
    """The hosts that have no address here.  (ssh may have a name of its own for a host.)"""
    found = []
    for host in hosts:
        try:
            socket.getaddrinfo(host.name.strip("[]"), None)
        except OSError as e:
            found.append(f"{host.name} ({e.strerror or e})")
    return found


def _clients(path: str, rows: list[tuple[int, list[str]]]) -> list[Host]:
    """Lines ``id ip port``.  MPI chooses its ports itself: these are checked and not used."""
    lines: dict[int, tuple[int, str]] = {}
    for n, words in rows:
        where = f"{path}:{n}: "
        if len(words) != 3 or not words[0].isdecimal() or not words[2].isdecimal():
            raise FileError(f'{where}expected "id ip port", found "{" ".join(words)}"')
        if any(len(word) > MOST_DIGITS for word in (words[0], words[2])):
            raise FileError(f"{where}a number has more than {MOST_DIGITS} digits")
        client = int(words[0])
        if client in lines:
            raise FileError(f"{where}client {client} was in line {lines[client][0]} already")
        if int(words[2]) > 65535:
            raise FileError(f"{where}a port is at most 65535, not {words[2]}")
        lines[client] = (n, _name(where, words[1]))
    hosts: list[Host] = []
    for client in range(len(lines)):
        if client not in lines:
            raise FileError(
                f"{path}: {len(lines)} clients are numbered 0 to {len(lines) - 1}; "
                f"{client} is missing"
            )
        n, name = lines[client]
        if hosts and hosts[-1].name == name:
            hosts[-1] = Host(name, hosts[-1].slots + 1)
        elif any(host.name == name for host in hosts):
            raise FileError(f"{path}:{n}: the clients on {name} need numbers in one row")
        else:
            hosts.append(Host(name, 1))
    return hosts


def _slots(path: str, rows: list[tuple[int, list[str]]]) -> list[Host]:
    """Lines ``host``, ``host slots=4`` (Open MPI) or ``host:4`` (MPICH)."""
    found: dict[str, int] = {}
    for n, words in rows:
        where = f"{path}:{n}: "
        name, slots = words[0], 1
        if re.fullmatch(r"[^:\[]+:\d+", name):
            name, number = name.split(":")
            slots = _count(where, number)
        for word in words[1:]:
            key, _, value = word.partition("=")
            if key == "slots":
                slots = _count(where, value)
            elif key not in ("max_slots", "max-slots"):
                raise FileError(
                    f'{where}"{word}" is not known; write "host slots=4", "host:4" or "id ip port"'
                )
        name = _name(where, name)
        found[name] = found.get(name, 0) + slots
    return [Host(name, slots) for name, slots in found.items()]


def _name(where: str, name: str) -> str:
    lengths = map(len, name.split("."))
    if not NAME.fullmatch(name) or not all(0 < length <= MOST_LETTERS for length in lengths):
        raise FileError(f'{where}"{name[:SHOWN]}" is not a host')
    return name


def _count(where: str, number: str) -> int:
    short = number.isdecimal() and len(number) <= MOST_DIGITS
    if not short or not 0 < int(number) <= MOST_SLOTS:
        raise FileError(f'{where}a number of ranks, from 1 on, belongs where "{number[:20]}" is')
    return int(number)


def _first(path: str, hosts: list[Host], ranks: int) -> list[Host]:
    taken: list[Host] = []
    for host in hosts:
        left = ranks - sum(h.slots for h in taken)
        if left > 0:
            taken.append(Host(host.name, min(host.slots, left)))
    there = sum(host.slots for host in taken)
    if there < ranks:
        raise FileError(f"{path}: has room for {there} ranks, {ranks} are asked for")
    return taken
