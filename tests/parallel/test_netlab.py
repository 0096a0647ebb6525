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
