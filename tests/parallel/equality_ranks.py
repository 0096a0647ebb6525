"""What ranks of mpirun do in tests of equality: all cases, one after the other."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from cases import Case, distance, identical, reference, trained

from pycaffe_dist.engines import NUMPY, create
from pycaffe_dist.parallel.exchange import parcel
from pycaffe_dist.parallel.schemes import sf_push
from pycaffe_dist.parallel.transport import comm_thread, streams
from pycaffe_dist.parallel.transport.collectives import gather_objects
from pycaffe_dist.parallel.transport.communicator import Communicator, run

CHUNK = 20  # values


@contextmanager
def many_pieces(case: Case) -> Iterator[None]:
    """Parameters of small nets travel and are updated in as many pieces as those of large ones."""
    pieces = (
        (streams, "CHUNK", CHUNK),
        (parcel, "BLOCK", 3 * CHUNK),
        (sf_push, "BLOCK", 3 * CHUNK),
    )
    with ExitStack() as stack:
        for module, name, values in pieces if case.net != "lenet" else ():
            stack.enter_context(patch.object(module, name, values))
        yield


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
        with many_pieces(case):
            mine = trained(case, communicator, engine=engine)
        everybody = run(gather_objects(communicator, mine))
        if communicator.rank == 0:
            far = distance(mine, reference(case, communicator.size))
            found.append((far, identical(everybody), str(case)))
    return found
