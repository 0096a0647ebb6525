"""Run by mpirun: all cases of equality, one after the other.

    mpirun -n 4 python equality_ranks.py 2      # as on nodes of two ranks each
    mpirun -n 2 python equality_ranks.py 2 cupy # some of them, on a device for each rank

Rank 0 prints a line for every case: the distance from the joint batch, whether all ranks have the
same weights, and the case.
"""

import sys

from cases import distance, equality_cases, identical, reference, small_cases, trained

from pycaffe_dist.engines import NUMPY, create
from pycaffe_dist.parallel.job.launcher import rank_and_size
from pycaffe_dist.parallel.transport import comm_thread
from pycaffe_dist.parallel.transport.collectives import gather_objects
from pycaffe_dist.parallel.transport.communicator import run
from pycaffe_dist.parallel.transport.mpi import MpiCommunicator

comm_thread.go_before = lambda thread: None  # there are more ranks than cores
rank, _ = rank_and_size()
communicator = MpiCommunicator(f"node{rank // int(sys.argv[1])}")
on_devices = "cupy" in sys.argv
engine = create("cupy", rank) if on_devices else NUMPY
for case in [c for c in small_cases() if c.solver == "Adam"] if on_devices else equality_cases():
    mine = trained(case, communicator, engine=engine)
    everybody = run(gather_objects(communicator, mine))
    if communicator.rank == 0:
        far = distance(mine, reference(case, communicator.size))
        print(f"{far:.3g} {identical(everybody)} {case}", flush=True)
communicator.close()
