"""NumPy's files, .npy and .npz: nothing is run, and no more memory is taken than they have bytes.

NumPy itself allocates what a header claims, and unpacks what an archive holds.
"""

from __future__ import annotations

import io
import math
import os
import zipfile

import numpy as np
from numpy.lib import format as npy

from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import check_is_file, read_bytes, reading

Path_ = str | os.PathLike[str]
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_npy(path: Path_) -> Array:
    """The array of a .npy file: numbers only.

    Raises:
        FileError: it cannot be read, is damaged, or holds something else.
    """
    raw = read_bytes(path)
    with reading(path, "cannot be read as .npy"):
        array = _parsed(raw)
    if array.dtype.kind not in "fiub":
        raise FileError(f"{path}: holds values of the type {array.dtype}; numbers are needed")
    return array


def read_npz(path: Path_, problem: str = "cannot be read as .npz") -> dict[str, Array]:
    """The arrays of an uncompressed .npz file, by name.

    Raises:
        FileError: it cannot be read, is damaged, or is compressed.
    """
    check_is_file(path)
    with reading(path, problem), zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if any(m.compress_type != zipfile.ZIP_STORED for m in members):
            raise ValueError("it is compressed, which no file of ours is")
        if sum(m.file_size for m in members) > os.path.getsize(path):
            raise ValueError("its arrays claim more bytes than it has")
        return {m.filename.removesuffix(".npy"): _parsed(archive.read(m)) for m in members}


def _parsed(raw: bytes) -> Array:
    file = io.BytesIO(raw)
    version = npy.read_magic(file)
    if version not in _HEADERS:
        raise ValueError(f"its format has the unknown version {version}")
    shape, by_columns, dtype = _HEADERS[version](file)
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are not loaded")
    if any(not 0 <= n < 1 << 63 for n in shape):
        raise ValueError(f"it has the impossible shape {shape}")
    needed = math.prod(shape) * dtype.itemsize
    values = memoryview(raw)[file.tell() :]
    if needed > len(values):
        raise ValueError(f"it claims {needed:,} bytes of values and has {len(values):,}")
    array: Array = np.frombuffer(values[:needed], dtype) if needed else np.empty(0, dtype)
    return array.reshape(shape, order="F" if by_columns else "C").copy()
