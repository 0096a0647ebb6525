"""MPI through mpi4py; the only module that imports it.

``python -m pycaffe_dist.parallel.mpi`` prints what this machine's MPI is, as JSON.  It is a process
of its own because a broken MPI ends the process that initialises it.
"""

from __future__ import annotations

import json

from pycaffe_dist.optional import require

THREAD_LEVELS = ("SINGLE", "FUNNELED", "SERIALIZED", "MULTIPLE")


def facts() -> dict[str, str]:
    """Vendor, library version, mpi4py version and thread level."""
    mpi4py = require("mpi4py", "mpi", "Training on several ranks")
    MPI = require("mpi4py.MPI", "mpi", "Training on several ranks")
    name, version = MPI.get_vendor()
    level = [MPI.THREAD_SINGLE, MPI.THREAD_FUNNELED, MPI.THREAD_SERIALIZED, MPI.THREAD_MULTIPLE]
    return {
        "vendor": f"{name} {'.'.join(map(str, version))}",
        "library": MPI.Get_library_version().splitlines()[0].rstrip("\0 "),
        "mpi4py": mpi4py.__version__,
        "thread level": THREAD_LEVELS[level.index(MPI.Query_thread())],
    }


if __name__ == "__main__":
    print(json.dumps(facts()))
