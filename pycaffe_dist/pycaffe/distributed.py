"""Scripts that train together: ``caffe.distribute(solver)`` under mpirun or srun."""

from __future__ import annotations

import atexit
import sys
from contextlib import ExitStack
from typing import Any

from pycaffe_dist.parallel import cluster
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.pycaffe.modes import SETTINGS, begin_log
from pycaffe_dist.pycaffe.solver import Solver


def distribute(solver: Solver, comm: str = "auto", **settings: Any) -> int:
    """Make a script's solver one of the ranks that mpirun or srun has started; how many there are.

    Every rank calls it once, before the first step.  From then on ``solver.step`` and ``solve``
    train one net with all ranks: each reads its own records, and all start from rank 0's weights.
    Without a launcher nothing changes, so a script may be run alone, too.  Ranks leave together
    when the script ends.

    Args:
        solver: of this rank.
        comm: how gradients travel.
        settings: other flags of training on several ranks, by their names in ``ClusterSettings``.
    """
    asked = ClusterSettings(comm=comm, **settings)
    ranks = cluster.connect()
    if ranks.size == 1:
        return 1
    SETTINGS.rank, SETTINGS.ranks = ranks.rank, ranks.size
    begin_log()  # from now on rank 0 speaks for all
    solver.deal(ranks.rank, ranks.size)
    stack = ExitStack()
    stack.enter_context(cluster.distribute(solver.core, asked, ranks))
    atexit.register(_leave, stack)  # before MPI's own end, which was registered earlier
    return ranks.size


def _leave(stack: ExitStack) -> None:
    """Leave together with the others; after an error nobody waits."""
    if not hasattr(sys, "last_type"):
        stack.close()
