"""Users' scripts that join the ranks which mpirun has started."""

import sys

import pytest
from runs import ENV, Run

from pycaffe_dist.parallel.job.mpirun import environment, find_mpirun

GATHER = """
from dataclasses import dataclass
from pycaffe_dist.parallel.cluster import connect
from pycaffe_dist.parallel.transport.collectives import gather_objects
from pycaffe_dist.parallel.transport.communicator import run

@dataclass
class Mine:
    x: int

ranks = connect()
BODY
print("through")
"""


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("run(gather_objects(ranks, Mine(1)))", "rank 1: Mine does not go from rank to rank"),
        ("ranks.rank == 0 or 1 / 0; run(gather_objects(ranks, 1))", "division by zero"),
    ],
)
def test_an_error_that_nobody_catches_on_one_rank_ends_all(tmp_path, body, says):
    (tmp_path / "script.py").write_text(GATHER.replace("BODY", body))
    command = find_mpirun().command(2, [sys.executable, str(tmp_path / "script.py")])
    run = Run(tmp_path, command=command, env=environment(2, ENV))
    assert says in run.end(1)
    assert "through" not in (tmp_path / "stdout.txt").read_text()
