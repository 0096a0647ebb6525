import os
import subprocess
import sys
import time

import pytest

from pycaffe_dist.parallel.job.reach import Probe, ways

# Starts its stand-in for ssh, once for each host, as mpirun does, and stays.
LAUNCHER = """
import subprocess, sys
for host in sys.argv[2:]:
    subprocess.Popen([sys.argv[1], "-x", host, "a daemon", "of mpirun"])
print("ready", flush=True)
sys.stdin.read()
"""
# "true" is answered by some hosts; the daemon of mpirun stays in any case.
SSH = """#!/bin/sh
case "$2-$3" in
near-true) exit 0;;
shut-true) exit 255;;
esac
sleep 60
"""


@pytest.fixture
def launcher(tmp_path):
    ssh = tmp_path / "ssh"
    ssh.write_text(SSH)
    ssh.chmod(0o755)
    command = [sys.executable, "-c", LAUNCHER, str(ssh), "near", "shut", "hangs"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout.readline() == b"ready\n"
    yield process.pid
    os.killpg(process.pid, 9)
    process.communicate()


def wait_for(condition):
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it took too long")


def test_the_way_to_a_host_is_the_launchers(launcher):
    hosts = ["near", "hangs", "unknown"]
    # A child may not have become its program yet.
    wait_for(lambda: set(ways(launcher, hosts)) == {"near", "hangs"})
    way = ways(launcher, hosts)["near"]
    assert [word.rpartition("/")[2] for word in way[-3:]] == ["ssh", "-x", "near"]


def test_who_does_not_answer(launcher):
    hosts = ["near", "shut", "hangs"]
    wait_for(lambda: len(ways(launcher, hosts)) == 3)
    probe = Probe(ways(launcher, hosts), os.environ)
    wait_for(lambda: "near" not in probe.silent())
    assert sorted(probe.silent()) == ["hangs", "shut"]
    probe.end()


def test_without_children_nobody_is_asked():
    probe = Probe(ways(2**22 + 1, ["near"]), os.environ)
    assert probe.hosts == probe.silent() == []
    probe.end()
