"""What leaves a node, counted at its interface, is what the formulas of the schemes say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mpi4py")

from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.parallel.job.mpirun import OPEN_MPI, environment, find_mpirun

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "scripts")]

from bench.netlab import Lab, why_not  # noqa: E402
from netlab_rank import INPUTS, OUTPUTS, ROWS  # noqa: E402

RANKS = 3  # not a power of two
STEPS = 10
SECONDS = 30
DENSE = 2 * (RANKS - 1) / RANKS * 4 * INPUTS * OUTPUTS
SFB = 4 * ROWS * (RANKS - 1) * (INPUTS + OUTPUTS)


@pytest.fixture(scope="module")
def lab():
    refused = why_not()
    if refused:
        pytest.skip(f"no network lab here: {refused}")
    with Lab(RANKS, "1gbit") as lab:
        yield lab


@pytest.fixture(scope="module")
def mpirun():
    try:
        found = find_mpirun()
    except MissingPartError as e:
        pytest.skip(str(e))
    if found.kind != OPEN_MPI:
        pytest.skip(f"the lab starts ranks by Open MPI's mpirun, not by {found.kind}'s")
    return found.path


@pytest.mark.parametrize(
    ("scheme", "formula"), [("allreduce", DENSE), ("sharded", DENSE), ("sfb", SFB)]
)
def test_bytes_at_the_interface_of_every_rank_are_those_of_the_formula(
    lab, mpirun, scheme, formula
):
    env = environment(1, dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1"))
    program = [sys.executable, str(HERE / "netlab_rank.py"), scheme, str(STEPS)]
    command = lab.mpirun(mpirun, RANKS, program, env)
    with lab.popen(
        lab.nodes[0], command, env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            out, err = process.communicate(timeout=SECONDS)
        finally:
            process.kill()
    assert process.returncode == 0, err
    assert json.loads(out) == [pytest.approx(formula, rel=0.05)] * RANKS


# -- who can connect -------------------------------------------------------------------------------

CONNECT = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 3).close()"
ELSEWHERE = "10.78.0"  # a second network of node 1, of which the job knows nothing


@pytest.fixture
def second_network(lab):
    """Node 1 and node 2 are on another network, too: the address of node 1 there."""
    one, two = lab.nodes[1:3]
    link = ["ip", "-n", one, "link"]
    subprocess.run(
        [*link, "add", "x0", "type", "veth", "peer", "name", "x0", "netns", two], check=True
    )
    for i, node in enumerate((one, two), 1):
        subprocess.run(
            ["ip", "-n", node, "addr", "add", f"{ELSEWHERE}.{i}/24", "dev", "x0"], check=True
        )
        subprocess.run(["ip", "-n", node, "link", "set", "x0", "up"], check=True)
    yield f"{ELSEWHERE}.1"
    subprocess.run([*link, "del", "x0"], check=True)


def test_ranks_hear_the_network_of_the_job_alone(lab, mpirun, second_network, tmp_path):
    env = environment(1, dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1"))
    env["PCD_NETWORK"] = f"{lab.address(0).rpartition('.')[0]}.0/24"
    program = [sys.executable, str(HERE / "netlab_listener.py"), str(tmp_path / "go")]
    command = lab.mpirun(mpirun, RANKS, program, env)
    at = command.index("btl_tcp_if_include")  # which a rank then sets by itself
    del command[at - 1 : at + 2]

    def reached(node, address, port):
        ask = [sys.executable, "-c", CONNECT, address, port]
        with lab.popen(lab.nodes[node], ask, env, stderr=subprocess.DEVNULL) as process:
            return process.wait(SECONDS) == 0

    with lab.popen(
        lab.nodes[0], command, env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            ports = process.stdout.readline().split()
            assert ports
            for port in ports:
                assert reached(2, lab.address(1), port)
                assert reached(1, second_network, port)  # from the host itself
                assert not reached(2, second_network, port)
            (tmp_path / "go").touch()
            _, err = process.communicate(timeout=SECONDS)
        finally:
            process.kill()
    assert process.returncode == 0, err
