"""Shapes by onnx's own inference, in a forked process.

The library asserts what a damaged file does not keep to, and an assertion ends the process.  It
believes the sizes that a file claims, and takes seconds and gigabytes for them.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import signal
import warnings
from pathlib import Path
from typing import NoReturn

import onnx
from onnx import shape_inference

SECONDS = 5  # of the processor
MEMORY = 256 << 20  # addresses, and so many times what the model has without its weights:
MEMORY_PER_BYTE = 16
DONE, FAILED = b"+", b"-"


def inferred(model: onnx.ModelProto) -> onnx.GraphProto:
    """The graph with the types and shapes of its values.

    Raises:
        ValueError: the library says why not, or does not survive it.
    """
    there, here = os.pipe()
    with warnings.catch_warnings():  # of threads, which the child has no need of
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        _answer(model, here)
    os.close(here)
    with os.fdopen(there, "rb") as answer:
        found = answer.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code < 0:
        ended = f"{signal.Signals(-code).name} ends onnx's shape inference"
        raise ValueError("onnx infers shapes for too long" if -code == signal.SIGXCPU else ended)
    if found[:1] != DONE:
        raise ValueError(found[1:].decode(errors="replace") or f"onnx ends with exit code {code}")
    return onnx.ModelProto.FromString(found[1:]).graph


def _answer(model: onnx.ModelProto, here: int) -> NoReturn:
    """In the child: nothing of the parent's is closed or written."""
    try:
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        faulthandler.disable()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        _limit_memory(MEMORY + MEMORY_PER_BYTE * model.ByteSize())
        try:
            made = shape_inference.infer_shapes(model, data_prop=True)
            said = DONE + made.SerializeToString()
        except MemoryError:
            said = FAILED + b"onnx's shape inference takes too much memory"
        except Exception as e:  # the library raises what it likes
            said = FAILED + (str(e) or type(e).__name__).encode(errors="replace")
        with os.fdopen(here, "wb") as answer:
            answer.write(said)
    finally:
        os._exit(0)


def _limit_memory(more: int) -> None:
    """What this process may have from now on, besides what it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + more
    limits = resource.getrlimit(resource.RLIMIT_AS)
    if any(limit != resource.RLIM_INFINITY and limit < most for limit in limits):
        return  # what there is, is less
    resource.setrlimit(resource.RLIMIT_AS, (most, limits[1]))
