"""What a file is, told from its bytes: for messages such as "is an HDF5 file; expected ..."."""

from __future__ import annotations

import re

from pycaffe_dist.proto.other_models import other_model
from pycaffe_dist.proto.wire_format import I32, I64, LEN, VARINT, WireError, fields

_MAGIC = [
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"version https://git-lfs", "a Git LFS pointer, not the file itself (run: git lfs pull)"),
    (b"\x1f\x8b", "a gzip archive (unpack it first)"),
    (b"BZh", "a bzip2 archive (unpack it first)"),
    (b"\xfd7zXZ\0", "an xz archive (unpack it first)"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"\x93NUMPY", "a NumPy .npy file"),
    (b"\x7fELF", "a program"),
    (b"%PDF", "a PDF document"),
]
_HTML = re.compile(rb"\s*(<!doctype html|<html|<head|<\?xml)", re.IGNORECASE)
_HEAD = 4096


def describe(head: bytes) -> str:
    """What a file that begins with ``head`` is: "text", "binary", or a name with its article."""
    if not head:
        return "empty"
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    if _HTML.match(head):
        return "an HTML page (a failed download, perhaps)"
    sample = head[:_HEAD]
    if other := other_model(sample):
        return other
    # Control characters do not occur in text, whatever its encoding; in protobuf they soon do.
    if re.search(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]", sample):
        return "binary"
    return "text"


# -- which message ---------------------------------------------------------------------------------

_V, _8, _L, _4 = VARINT, I64, LEN, I32
# The wire types that each top-level field may have.
_SHAPES: dict[str, dict[int, tuple[int, ...]]] = {
    "NetParameter": {1: (_L,), 2: (_L,), 3: (_L,), 4: (_V, _L), 5: (_V,), 6: (_L,), 7: (_V,)}
    | {8: (_L,), 100: (_L,)},
    "SolverState": {1: (_V,), 2: (_L,), 3: (_L,), 4: (_V,)},
    "BlobProto": dict.fromkeys((1, 2, 3, 4), (_V,))
    | {5: (_L, _4), 6: (_L, _4), 7: (_L, _V), 8: (_L, _8, _V), 9: (_L, _8)},  # 7, 8: PMLS-Caffe
    "BlobProtoVector": {1: (_L,)},
    "Datum": {1: (_V,), 2: (_V,), 3: (_V,), 4: (_L,), 5: (_V,), 6: (_L, _4), 7: (_V,)},
}
_NAMES = {
    "NetParameter": "looks like weights (.caffemodel)",
    "SolverState": "looks like a solver state (.solverstate)",
    "BlobProto": "looks like one array (.binaryproto)",
    "BlobProtoVector": "looks like a list of arrays",
    "Datum": "looks like one data record (Datum)",
}
_ENOUGH = 64  # fields looked at


def message_kind(buffer: memoryview, wanted: str) -> str:
    """``wanted`` if the buffer may hold that message, else a sentence that says what it holds."""
    seen = []
    broken = False
    try:
        for field in fields(buffer, 0, len(buffer)):
            seen.append((field.number, field.wire))
            if len(seen) == _ENOUGH:
                break
    except WireError as e:
        if not seen:
            return f"is no protobuf file: it {e}"
        broken = True

    def fits(shape: dict[int, tuple[int, ...]], unknown: bool) -> bool:
        return all(wire in shape.get(number, (wire,) if unknown else ()) for number, wire in seen)

    # All names and nothing else: a net with one name, or else arrays.
    names_only = len(seen) > 1 and set(seen) == {(1, LEN)} and wanted == "NetParameter"
    if fits(_SHAPES[wanted], unknown=False) and not names_only:
        return wanted  # if it breaks off, the reader says where
    if names_only:
        return _NAMES["BlobProtoVector"]
    other = next((name for name, shape in _SHAPES.items() if fits(shape, unknown=False)), None)
    if other:
        return _NAMES[other]
    # A fork's file: fields we do not know, but nothing that contradicts.
    known = any(number in _SHAPES[wanted] for number, _ in seen)
    if known and fits(_SHAPES[wanted], unknown=True):
        return wanted
    if known and broken:
        return wanted
    return "is no Caffe file that we know"
