"""Files of MATLAB, version 5: one array of numbers, not compressed."""

from __future__ import annotations

import os
import struct

from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import atomic_write

HEAD = b"MATLAB 5.0 MAT-file, written by pycaffe_dist".ljust(124) + struct.pack(
    "<H2s", 0x100, b"IM"
)
# Types of elements, and of arrays.
INT8, INT32, UINT32, MATRIX = 1, 5, 6, 14
NUMBERS = {"float32": (7, 7), "float64": (9, 6)}  # of an element of such numbers, of an array
MOST = 2**31  # bytes of an array, and more, are not for this format


def write(path: str | os.PathLike[str], name: str, values: Array) -> None:
    """Write an array so that MATLAB has its axes in reverse: (N, C, H, W) becomes (W, H, C, N).

    So the numbers stay in their order, as MATLAB counts the first axis fastest.
    """
    if values.nbytes >= MOST:
        raise FileError(
            f"{path}: an array of {values.nbytes} bytes does not fit a MAT file (2 GiB)"
        )
    element, kind = NUMBERS[values.dtype.name]
    array = b"".join(
        (
            _element(UINT32, struct.pack("<II", kind, 0)),
            _element(INT32, struct.pack(f"<{values.ndim}i", *values.shape[::-1])),
            _element(INT8, name.encode()),
            _element(element, values.astype(values.dtype.newbyteorder("<")).tobytes()),
        )
    )
    with atomic_write(path) as file:
        file.write(HEAD)
        file.write(struct.pack("<II", MATRIX, len(array)))
        file.write(array)


def _element(kind: int, data: bytes) -> bytes:
    return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)
