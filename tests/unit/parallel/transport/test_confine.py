import errno
import os
import socket
import subprocess
import sys
from ipaddress import IPv4Interface

import pytest

from pycaffe_dist.parallel.transport import confine as module
from pycaffe_dist.parallel.transport.confine import confine, hear_only, shared_network

SERVER = """
import socket, sys
with socket.create_server(("", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
    print("ready", flush=True)
    sys.stdin.readline()
    for server in (one, two):
        device = server.getsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16)
        print(device.rstrip(b"\\0").decode())
    print(one.getsockname()[1], flush=True)
    one.accept()
"""


@pytest.fixture
def allowed():
    with socket.create_server(("", 0)) as server:
        try:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo\0")
        except OSError:
            pytest.skip("this system ties no sockets to interfaces")


def device(server):
    return server.getsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16).rstrip(b"\0")


def test_what_listens_everywhere_listens_on_loopback(allowed):
    with (
        socket.create_server(("", 0)) as everywhere,
        socket.create_server(("127.0.0.1", 0)) as here,
    ):
        tied, forbidden = confine(os.getpid())
        assert tied >= 1
        assert not forbidden
        assert (device(everywhere), device(here)) == (b"lo", b"")
        with socket.create_connection(("127.0.0.1", everywhere.getsockname()[1]), 10):
            everywhere.accept()[0].close()


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="no IPv6")
def test_of_both_families(allowed):
    with socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True) as server:
        confine(os.getpid())
        assert device(server) == b"lo"


def test_sockets_of_a_child(allowed):
    with subprocess.Popen(
        [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        child.stdout.readline()
        if not confine(child.pid)[0]:
            child.kill()
            pytest.skip("this system lends no sockets of other processes")
        child.stdin.write("\n")
        child.stdin.flush()
        assert [child.stdout.readline() for _ in range(2)] == ["lo\n", "\n"]
        socket.create_connection(("127.0.0.1", int(child.stdout.readline())), 10).close()


def test_a_process_that_has_ended():
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert confine(child.pid) == (0, 0)


# -- several hosts ---------------------------------------------------------------------------------


def interfaces(monkeypatch, **addresses):
    found = [(i, IPv4Interface(address)) for i, address in enumerate(addresses.values(), 1)]
    monkeypatch.setattr(module, "_interfaces", lambda: iter(found))


@pytest.mark.parametrize(
    ("hosts", "network"),
    [
        (["10.1.0.1", "10.1.0.9"], "10.1.0.0/24"),
        (["192.168.7.3"], "192.168.0.0/16"),
        (["127.0.1.1", "10.1.0.9"], "10.1.0.0/24"),  # Debian's address of a host for itself
        (["127.0.0.1", "localhost"], "127.0.0.0/8"),
        (["10.1.0.1", "192.168.7.3"], ""),
        (["10.2.0.1"], ""),
        (["10.1.0.1", "no such host"], ""),
        (["x" * 70 + ".y"], ""),
    ],
    ids=str,
)
def test_the_network_that_has_all_hosts(monkeypatch, hosts, network):
    interfaces(monkeypatch, lo="127.0.0.1/8", eth0="10.1.0.1/24", eth1="192.168.0.1/16")
    assert shared_network(hosts) == network


def test_interfaces_of_this_host():
    assert "127.0.0.1/8" in [str(interface) for _, interface in module._interfaces()]


def test_who_comes_by_another_interface_is_not_heard(monkeypatch):
    """Loopback takes the part of the other one here; tests/parallel/test_netlab.py has two."""
    with socket.create_server(("", 0)) as server:
        interfaces(monkeypatch, none="127.0.0.2/8", eth9="10.1.0.1/24")
        assert hear_only("10.2.0.0/24") == (0, 0)  # we are not in it: nothing is changed
        socket.create_connection(server.getsockname(), 10).close()
        interfaces(monkeypatch, **{f"n{i}": "8.8.8.8/32" for i in range(8)}, eth9="10.1.0.1/24")
        filtered, forbidden = hear_only("10.1.0.0/24")
        if forbidden:
            pytest.skip("this system allows users no filters on sockets")
        assert filtered >= 1
        with pytest.raises(TimeoutError):
            socket.create_connection(server.getsockname(), 0.2)


def test_a_system_that_forbids_filters_is_told(monkeypatch):
    def setsockopt(self, *_):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    interfaces(monkeypatch, eth9="10.1.0.1/24")
    monkeypatch.setattr(socket.socket, "setsockopt", setsockopt)
    with socket.socket() as server:
        server.bind(("", 0))
        server.listen()
        filtered, forbidden = hear_only("10.1.0.0/24")
    assert filtered == 0
    assert forbidden >= 1


ONE_RANK = """
import logging
from pycaffe_dist.parallel.transport import confine
from pycaffe_dist.parallel.transport.mpi import MpiCommunicator
logging.basicConfig()
confine.hear_only = lambda network: (0, 2)
MpiCommunicator()
"""


def test_rank_0_says_that_its_sockets_are_open():
    environment = os.environ | {module.VARIABLE: "10.1.0.0/24"}
    ended = subprocess.run(
        [sys.executable, "-c", ONE_RANK], env=environment, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    said = "2 sockets of this rank listen on all interfaces, not on 10.1.0.0/24 alone"
    assert ended.stderr.count(said) == 1
