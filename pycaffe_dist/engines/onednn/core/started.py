"""The library at work: its engine and stream, and the room that each thread lends to primitives."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.engines.onednn.core import library
from pycaffe_dist.engines.onednn.core.library import Library, OneDnnError
from pycaffe_dist.memory import aligned

PostOp = tuple[Any, ...]  # the name of its append function, and what that takes
USER_SCRATCHPAD = 1
CPU = 1


class Runtime:
    """The library with its engine and stream, and what each thread keeps."""

    def __init__(self, lib: Library) -> None:
        self.lib = lib
        self.engine = lib.create("engine_create", CPU, 0)
        self.stream = lib.create("stream_create", self.engine, 1)
        self.execute = lib.primitive_execute
        self._local = threading.local()

    def scratch(self, size: int) -> Array:
        """Room of at least ``size`` bytes that any primitive of this thread may overwrite."""
        room: Array | None = getattr(self._local, "scratch", None)
        if room is None or room.nbytes < size:
            room = self._local.scratch = aligned(-(-size // 4), np.dtype(np.float32))
        return room

    def attributes(self, post_ops: Sequence[PostOp] = ()) -> int:
        """Attributes with these post-operations; scratchpads are ours in any case."""
        attr = self.lib.create("primitive_attr_create")
        self.lib.primitive_attr_set_scratchpad_mode(attr, USER_SCRATCHPAD)
        if post_ops:
            chain = self.lib.create("post_ops_create")
            for kind, *args in post_ops:
                if getattr(self.lib, f"post_ops_append_{kind}")(chain, *args):
                    raise OneDnnError(f"post-operation {kind} is refused")
            self.lib.primitive_attr_set_post_ops(attr, chain)
            self.lib.post_ops_destroy(chain)
        return attr


_RUNTIME: list[Runtime] = []  # the first of them is everybody's


def runtime() -> Runtime:
    """The same for all threads: what one engine of the library has made is not for another."""
    if not _RUNTIME:
        _RUNTIME.append(Runtime(library.load()))
    return _RUNTIME[0]
