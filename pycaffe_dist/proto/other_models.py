"""Models of other frameworks, told from their first bytes: they are not Caffe's, and we say so."""

from __future__ import annotations

import re

from pycaffe_dist.proto.wire_format import LEN, VARINT, WireError, next_field, read_varint

_NUMBER = rb"[\x80-\xff]*[\x00-\x7f]"  # of protobuf, in as many bytes as it needs
_PATTERNS = [
    # The number that old PyTorch files begin with, pickled.
    (rb"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19\.", "a PyTorch file"),
    (rb".{6}\0\0\{\s*\"", "a safetensors file"),  # a length of 8 bytes, then JSON
    (rb".\0\0\0TFL3", "a TensorFlow Lite model"),
    # A version and graphs, whose first field is a message: a .solverstate has the name of a file.
    (rb"\x08\x01\x12" + _NUMBER + rb"\n", "a TensorFlow SavedModel"),
    # Nodes of a name and an operation; field 1 of a .caffemodel is text, without line breaks.
    (rb"\n" + _NUMBER + rb"\n[\x01-\x7f][ -~]+?\x12[\x01-\x7f][A-Z]\w+", "a TensorFlow graph"),
    (rb"\s*node\s*\{\s*name\s*:[^\n]*\n\s*op\s*:", "a TensorFlow graph"),
]
_OTHERS = [(re.compile(pattern, re.DOTALL), name) for pattern, name in _PATTERNS]
_PICKLE = re.compile(rb"\x80[\x02-\x05]")
_IN_PYTORCH = (b"/data.pkl", b"/.format_version", b"/byteorder", b"/version")


def other_model(head: bytes) -> str | None:
    """What a file that begins with ``head`` is, with its article; None if it is none of these."""
    if head.startswith(b"PK\x03\x04"):
        return _zipped(head)
    for pattern, name in _OTHERS:
        if pattern.match(head):
            return _not_ours(name)
    if _is_onnx(memoryview(head)):
        return _not_ours("an ONNX model")
    return "a Python pickle" if _PICKLE.match(head) else None


def _not_ours(name: str) -> str:
    return f"{name} (convert it to a .prototxt and a .caffemodel first)"


def _zipped(head: bytes) -> str:
    """By the name of the archive's first member."""
    first = head[30 : 30 + int.from_bytes(head[26:28], "little")]
    if first.endswith(_IN_PYTORCH):
        return _not_ours("a PyTorch file")
    if first in (b"metadata.json", b"config.json"):
        return _not_ours("a Keras model")
    return "a NumPy .npz file" if first.endswith(b".npy") else "a zip archive (unpack it first)"


# ir_version, producer, domain, model_version, doc_string, graph, opset_import and newer ones.
_ONNX = {1: VARINT, 5: VARINT} | dict.fromkeys((2, 3, 4, 6, 7, 8, 14, 20, 25), LEN)
_ONNX_GRAPH = 7


def _is_onnx(head: memoryview) -> bool:
    """Whether its fields, of which the last may be cut off, are a version, a graph and others."""
    found: dict[int, int] = {}
    at = 0
    try:
        while at < len(head):
            tag, _ = read_varint(head, at, len(head))
            found[tag >> 3] = tag & 7
            at = next_field(head, at, len(head)).end
    except WireError:
        pass
    return {1, _ONNX_GRAPH} <= found.keys() and found.items() <= _ONNX.items()
