"""The third file of a snapshot, ``.pcdstate``: what Caffe forgets, and which two files it is with.

It is NumPy's ``.npz`` with a seal behind its end.  ``facts`` among its arrays is JSON; of that,
``checksums`` are those of the weights and of the state, as their own seals have them.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from pathlib import Path

import numpy as np

from pycaffe_dist import caffe_log as log
from pycaffe_dist.aliases import Array, Facts
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import atomic_write, reading
from pycaffe_dist.npy import read_npz
from pycaffe_dist.proto.seal import load_end, seal_end

SUFFIX = ".pcdstate"
PROBLEM = "is damaged, or of another program; remove it to continue without it"
# What is written beside the arrays.  Earlier versions kept size and CRC-32 of both "files".
_KINDS: dict[str, type] = {"checksums": list, "files": dict, "ranks": int, "notes": dict}
_KINDS |= {"layers": dict, "arrays": dict}
_CHUNK = 1 << 20
Path_ = str | os.PathLike[str]


def beside(path: Path_) -> Path:
    """The one that belongs to a weights or state file."""
    return Path(stem(path) + SUFFIX)


def stem(path: Path_) -> str:
    """The name of a snapshot, which its files begin with."""
    return re.sub(r"\.(solverstate|caffemodel)(\.h5)?$", "", os.fspath(path))


def write(path: Path_, arrays: Facts, facts: Facts) -> None:
    arrays["facts"] = np.frombuffer(json.dumps(facts).encode(), np.uint8)
    with atomic_write(path) as file:
        np.savez(file, **arrays)
        seal_end(file)


def read(path: Path_) -> tuple[dict[str, Array], Facts]:
    """Arrays and facts.

    Raises:
        FileError: it is damaged, or has another form than ours.
    """
    try:
        load_end(path)  # nothing of a file that is damaged is looked at
    except FileError as e:
        raise FileError(f"{path}: {PROBLEM}: {e}") from e
    arrays = read_npz(path, PROBLEM)
    with reading(path, PROBLEM):
        facts = json.loads(arrays.pop("facts").tobytes())
        for name, kind in _KINDS.items():
            if not isinstance(facts.setdefault(name, kind()), kind):
                raise TypeError(f"its {name!r} is of another type")
        numbers = [facts["checksums"], *facts["files"].values(), facts["arrays"].values()]
        if any(not isinstance(n, int) for pair in numbers for n in pair):
            raise TypeError("sizes and checksums are not numbers")
        if any(len(pair) not in (0, 2) for pair in numbers[:-1]):
            raise TypeError("there are not two checksums")
        facts["ranks"] = facts["ranks"] or 1
    return arrays, facts


def fits(path: Path_, checksum: int | None, facts: Facts) -> bool:
    """Whether a file is the one that a sidecar with these facts was written with.

    Args:
        path: weights or a state.
        checksum: the one in the file.
        facts: of the sidecar; earlier versions kept the size and a CRC-32 of both whole files.
    """
    is_state = ".solverstate" in os.path.basename(path)
    if facts["checksums"]:
        return bool(facts["checksums"][is_state] == checksum)
    for name, (size, crc) in facts["files"].items():
        if (".solverstate" in name) == is_state:
            return bool(size == os.path.getsize(path) and crc == _crc32(path))
    return True


def compare(path: Path_, checksum: int | None, facts: Facts) -> None:
    """Say it if a file is not the one that a sidecar was written with.

    Raises:
        FileError: nothing else tells that it is sound.
    """
    if fits(path, checksum, facts):
        return
    if checksum is None and not facts["checksums"]:
        raise FileError(
            f"{path}: is not what was written (size or checksum differ): it is damaged, or another "
            f"program has changed it. If that was meant, remove {beside(path)}"
        )
    text = "%s: is not the file that %s was written with, but of another run, or changed since"
    log.warning("solver.cpp", text, path, beside(path))


def check_unsealed(path: Path_) -> None:
    """Compare a file that has no checksum of its own with what the sidecar beside it knows.

    Raises:
        FileError: they differ.
    """
    if not beside(path).exists():
        return
    try:
        facts = read(beside(path))[1]
    except FileError:  # it says nothing of the weights
        return
    if not facts["checksums"]:  # else the file had a seal, and was rewritten without it
        compare(path, None, facts)


def _crc32(path: Path_) -> int:
    crc = 0
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            crc = zlib.crc32(chunk, crc)
    return crc
