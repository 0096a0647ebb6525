import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.parallel.job.failure import in_words


class OfMpi(Exception):
    pass


OfMpi.__module__ = "mpi4py.MPI"

SURROGATE = UnicodeEncodeError("utf-8", "run\udcff", 3, 4, "surrogates not allowed")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (NetError("no net"), "no net"),
        (MemoryError(), "out of memory. Try a smaller batch_size"),
        (MemoryError("1 GiB"), "out of memory (1 GiB). Try"),
        (RuntimeError("can't start new thread"), "can't start new thread: this user or host may"),
        (SURROGATE, r"the name 'run\udcff' is no UTF-8"),
        (OfMpi("MPI_ERR_INTERN"), "MPI cannot continue (MPI_ERR_INTERN). A host or a link"),
    ],
)
def test_what_is_wrong_with_the_world_is_said_in_words(error, words):
    assert in_words(error).startswith(words)


def test_an_error_of_the_code_keeps_its_traceback():
    assert in_words(ZeroDivisionError("x")) == ""
