"""The GPU engine without a GPU: the stand-in for CuPy in its place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pycaffe_dist.engines import create
from pycaffe_dist.engines.base import chosen_engine, set_default_engine
from pycaffe_dist.engines.cupy import CupyEngine, backend
from pycaffe_dist.testing import cupy_standin


@contextmanager
def emulated() -> Iterator[CupyEngine]:
    """Nets built within compute on the emulated device, unless their context says otherwise."""
    before = chosen_engine()
    backend.install(cupy_standin)
    try:
        engine = create("cupy")
        assert isinstance(engine, CupyEngine)
        set_default_engine(engine)
        yield engine
    finally:
        set_default_engine(before)
        backend.remove()
