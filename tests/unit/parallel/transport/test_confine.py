import os
import socket
import subprocess
import sys

import pytest

from pycaffe_dist.parallel.transport.confine import confine

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
        assert confine(os.getpid()) >= 1
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
        if not confine(child.pid):
            child.kill()
            pytest.skip("this system lends no sockets of other processes")
        child.stdin.write("\n")
        child.stdin.flush()
        assert [child.stdout.readline() for _ in range(2)] == ["lo\n", "\n"]
        socket.create_connection(("127.0.0.1", int(child.stdout.readline())), 10).close()


def test_a_process_that_has_ended():
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert confine(child.pid) == 0
