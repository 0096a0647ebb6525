"""What ranks of mpirun do in tests of equality: all cases, one after the other."""

from collections.abc import Sequence

from cases import Case, distance, identical, reference, trained

from pycaffe_dist.engines import NUMPY, create
from pycaffe_dist.parallel.transport import comm_thread
from pycaffe_dist.parallel.transport.collectives import gather_objects
from pycaffe_dist.parallel.transport.communicator import Communicator, run


def compared(
    cases: Sequence[Case], on_devices: bool, communicator: Communicator
) -> list[tuple[float, bool, str]]:
    """Of each case: how far it is from the joint batch, whether all ranks agree, and its name.

    Only rank 0 knows.
    """
    comm_thread.go_before = lambda thread: None  # there are more ranks than cores
    engine = create("cupy", communicator.rank) if on_devices else NUMPY
    found = []
    for case in cases:
        mine = trained(case, communicator, engine=engine)
        everybody = run(gather_objects(communicator, mine))
        if communicator.rank == 0:
            far = distance(mine, reference(case, communicator.size))
            found.append((far, identical(everybody), str(case)))
    return found
