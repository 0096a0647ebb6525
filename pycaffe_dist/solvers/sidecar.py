"""``.pcdstate`` as it comes from disk: arrays, and facts whose types are what we write."""

from __future__ import annotations

import json
import os
from typing import Any

from pycaffe_dist.files import reading
from pycaffe_dist.memory import Array
from pycaffe_dist.npy import read_npz

PROBLEM = "is damaged, or of another program; remove it to go on without it"
_KINDS: dict[str, type] = {"files": dict, "ranks": int, "notes": dict, "layers": dict}


def read_sidecar(path: str | os.PathLike[str]) -> tuple[dict[str, Array], dict[str, Any]]:
    """The arrays, and what is written beside them.

    Raises:
        FileError: it is damaged, or has another form than ours.
    """
    arrays = read_npz(path, PROBLEM)
    with reading(path, PROBLEM):
        facts = json.loads(arrays.pop("facts").tobytes())
        for name, kind in _KINDS.items():
            if not isinstance(facts.setdefault(name, kind()), kind):
                raise TypeError(f"its {name!r} is of another type")
        for name, stored in facts["files"].items():
            size, checksum = stored
            if not isinstance(size, int) or not isinstance(checksum, int):
                raise TypeError(f"size and checksum of {name!r} are not numbers")
        facts["ranks"] = facts["ranks"] or 1
    return arrays, facts
