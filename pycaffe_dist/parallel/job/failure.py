"""When a rank fails, all end: exit codes, and the one way out that cannot hang.

MPI's own way out, MPI_Finalize, waits for all ranks, and Python runs it at exit.  So a rank that
has failed must not exit as Python does: it leaves at once with a code that is not 0, which makes
mpirun end the others.  (MPI_Abort would do the same, but another thread may be inside MPI.)
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from types import TracebackType
from typing import NoReturn

from pycaffe_dist.errors import PcdError, visible
from pycaffe_dist.parallel.job import lifeline
from pycaffe_dist.parallel.job.launcher import rank_and_size

FAILED = 1  # an error, said in words
STALLED = 124  # what timeout(1) reports: waited too long for another rank
INTERRUPTED = 130
SAME_WORDS = 1.0  # seconds by which rank 0 may be first with what all ranks would say


def end_job(code: int) -> NoReturn:
    """Leave now; the launcher ends the other ranks."""
    _say_failed(code)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    logging.shutdown()
    os._exit(code)


def _say_failed(code: int) -> None:
    name = rank_name(rank_and_size()[0])
    lifeline.say(lifeline.FAILED, f"{code} {lifeline.Place.iteration} {name}")


def rank_name(rank: int) -> str:
    return f"rank {rank} on {socket.gethostname()}"


@contextlib.contextmanager
def told() -> Iterator[None]:
    """A launcher is told of what is raised inside, and which is then raised again."""
    try:
        yield
    except BaseException:
        _say_failed(FAILED)
        raise


NO_THREAD = "can't start new thread"  # Python's words


@contextlib.contextmanager
def all_or_none(rank: int) -> Iterator[None]:
    """Whatever is raised inside is said, with this rank's name, and ends the whole job.

    What is wrong with a file is wrong on every rank: rank 0 says it, and the others are ended
    before they repeat it.
    """
    crash_ends_job()
    try:
        yield
    except SystemExit as e:  # argparse has said what is wrong
        end_job(e.code if isinstance(e.code, int) else FAILED)
    except KeyboardInterrupt:
        end_job(INTERRUPTED)
    except BaseException as e:
        words = in_words(e)
        time.sleep(SAME_WORDS if rank and isinstance(e, PcdError) else 0)
        if words:
            print(f"pcd train: {rank_name(rank)}: {words}", file=sys.stderr)
        else:
            print(f"{rank_name(rank)}:\n{traceback.format_exc()}", end="", file=sys.stderr)
        end_job(FAILED)


def in_words(error: BaseException) -> str:
    """What is wrong, if it is the world and not our code; an error of the code has a traceback."""
    if isinstance(error, PcdError):
        return str(error)
    what = f" ({visible(str(error))})" if str(error) else ""
    if isinstance(error, MemoryError):
        return f"out of memory{what}. Try a smaller batch_size, or fewer ranks on this host."
    if isinstance(error, RuntimeError) and str(error) == NO_THREAD:
        return f"{error}: this user or host may have no more (ulimit -u). End other programs."
    if isinstance(error, UnicodeEncodeError) and error.reason == "surrogates not allowed":
        return (
            f"the name {error.object!a} is no UTF-8, and Caffe's files keep names as such: rename"
        )
    if type(error).__module__.startswith("mpi4py"):
        return (
            f"MPI cannot continue{what}. A host or a link may be gone, or hosts do not reach each "
            "other: a firewall, or an interface that not all of them have"
        )
    return ""


def crash_ends_job() -> None:
    """From now on an exception that nobody catches, in any thread, ends the whole job."""
    in_main, in_thread = sys.excepthook, threading.excepthook
    if getattr(in_main, "ends_job", False):
        return

    def crash(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        in_main(kind, error, trace)
        end_job(FAILED)

    def crash_in_thread(args: threading.ExceptHookArgs) -> None:
        in_thread(args)
        end_job(FAILED)

    crash.ends_job = True  # type: ignore[attr-defined]
    sys.excepthook, threading.excepthook = crash, crash_in_thread
