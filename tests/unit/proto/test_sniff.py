# ruff: noqa: E501
import io
import zipfile

import numpy as np
import pytest

from pycaffe_dist.proto.caffe_pb2 import (
    BlobProto,
    BlobProtoVector,
    Datum,
    NetParameter,
    SolverState,
)
from pycaffe_dist.proto.sniff import describe, message_kind

FLOATS = np.random.default_rng(0).standard_normal(40).tolist()
BLOB = {"data": FLOATS, "shape": {"dim": [40]}}


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"", "empty"),
        (b"\x89HDF\r\n\x1a\n\0\0", "an HDF5 file"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "a Git LFS pointer, not the file itself (run: git lfs pull)"),
        (b"PK\x03\x04..", "a zip archive (unpack it first)"),
        (b"\x1f\x8b\x08", "a gzip archive (unpack it first)"),
        (b"BZh91AY", "a bzip2 archive (unpack it first)"),
        (b"\xfd7zXZ\0", "an xz archive (unpack it first)"),
        (b"\x89PNG\r\n", "a PNG image"),
        (b"\xff\xd8\xff\xe0", "a JPEG image"),
        (b"\x93NUMPY\1\0", "a NumPy .npy file"),
        (b"\x80\x02}q", "a Python pickle"),
        (b"\x80\x05\x95", "a Python pickle"),
        (b"\x7fELF\2", "a program"),
        (b"%PDF-1.4", "a PDF document"),
        (b"<!DOCTYPE html>", "an HTML page (a failed download, perhaps)"),
        (b"\r\n <HTML><head>", "an HTML page (a failed download, perhaps)"),
        (b"<?xml version='1.0'?>", "an HTML page (a failed download, perhaps)"),
        (b"name: 'a'\r\n\tlayer {}", "text"),
        ("# 网络 café".encode(), "text"),
        ("# café".encode("latin-1"), "text"),
        ("# 网络".encode("gb18030"), "text"),
        (b"\x1b[0m\x0c", "text"),
        (b"<name: 'a'>", "text"),
        (b"name\0", "binary"),
        (b"\x0a\x03abc\x08\x01", "binary"),
        (b"\x89HDF", "text"),
    ],
)  # fmt: skip
def test_describe(head, kind):
    assert describe(head) == kind


def zipped(name):
    head = io.BytesIO()
    with zipfile.ZipFile(head, "w") as archive:
        archive.writestr(name, b"x" * 100)
    return head.getvalue()


OTHERS = {
    "a PyTorch file": [zipped("net/data.pkl"), b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03."],
    "a Keras model": [zipped("metadata.json")],
    "a safetensors file": [b'\x38\0\0\0\0\0\0\0{"w":{"dtype":"F32"}}'],
    "a TensorFlow Lite model": [b"\x1c\0\0\0TFL3\x14\0\x20\0"],
    "a TensorFlow SavedModel": [b"\x08\x01\x12\xc0\x3e\x0a\x10\x12\x05serve"],
    "a TensorFlow graph": [
        b"\x0a\x1c\x0a\x05input\x12\x0bPlaceholder\x2a\x06\x0a\x01a\x12\x01b",
        b"\x0a\x80\x21\x0a\x03w/b\x12\x05Const\x2a\xf1\x20",  # cut off
        b'node {\n  name: "input"\n  op: "Placeholder"\n}\n',
    ],
    "an ONNX model": [
        b"\x08\x0e\x12\x07pytorch\x1a\x051.9.0\x3a\xe3\x9c\x01\x0a\x0c\x0a\x01x\x12\x01y",  # cut off
        b"\x08\x03\x3a\x03\x12\x01g\x42\x02\x10\x09",
    ],
}  # fmt: skip


@pytest.mark.parametrize(("name", "head"), [(n, h) for n, heads in OTHERS.items() for h in heads])
def test_models_of_other_frameworks(name, head):
    assert describe(head) == f"{name} (convert it to a .prototxt and a .caffemodel first)"


def test_a_numpy_archive():
    assert describe(zipped("x.npy")) == "a NumPy .npz file"


@pytest.mark.parametrize("message", [
    SolverState(iter=1, learned_net="a.caffemodel", history=[BLOB], current_step=1),
    SolverState(iter=3, history=[{"data": [1], "shape": {"dim": [1]}}]),
    NetParameter(name="Const", layer=[{"name": "a", "type": "Input"}]),
    NetParameter(name="n", input_dim=[1, 2], layer=[{"name": "a", "blobs": [BLOB]}]),
    BlobProtoVector(blobs=[BLOB]),
    BlobProto(num=1, channels=1, height=1, width=40, data=FLOATS),
    Datum(channels=1, height=2, width=2, data=b"abcd", label=3),
])  # fmt: skip
def test_what_is_caffes_is_not_taken_for_anothers(message):
    assert describe(message.SerializeToString()) == "binary"


def test_only_the_beginning_counts():
    assert describe(b"# long\n" * 1000 + b"\0") == "text"


FILES = {
    "NetParameter": NetParameter(name="n", input_dim=[1, 2], layer=[{"name": "a", "blobs": [BLOB]}]),
    "SolverState": SolverState(iter=5, learned_net="a", history=[BLOB], current_step=1),
    "BlobProto": BlobProto(**BLOB),
    "Datum": Datum(channels=1, height=2, width=2, data=b"abcd", label=3),
}  # fmt: skip
SAID = {
    "NetParameter": "looks like weights (.caffemodel)",
    "SolverState": "looks like a solver state (.solverstate)",
    "BlobProto": "looks like one array (.binaryproto)",
    "Datum": "looks like one data record (Datum)",
}


def kind(message, wanted):
    data = message if isinstance(message, bytes) else message.SerializeToString()
    return message_kind(memoryview(data), wanted)


@pytest.mark.parametrize("wanted", SAID)
@pytest.mark.parametrize("held", SAID)
def test_each_message_is_told_from_the_others(held, wanted):
    assert kind(FILES[held], wanted) == (wanted if held == wanted else SAID[held])


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        (NetParameter(layers=[{"layer": {"name": "a"}}]), "NetParameter"),
        (NetParameter(input_shape=[{"dim": [1]}]), "NetParameter"),
        (BlobProto(num=1, channels=1, height=1, width=1, data=[1]), "BlobProto"),
        (BlobProto(double_data=[1], double_diff=[1]), "BlobProto"),
        (b"\x2d\0\0\x80\x3f" * 3, "BlobProto"),  # unpacked floats
        (
            BlobProto(num=1, data=[1]).SerializeToString() + b"\x38\0\x40\5",
            "BlobProto",
        ),  # PMLS-Caffe
        (b"\x3a\3\x0a\1\1\x50\2\x62\2ab", "BlobProto"),  # NVCaffe
        (SolverState(history=[BLOB]), "SolverState"),
        (BlobProtoVector(blobs=[BLOB]), "BlobProtoVector"),
        (b"\x0a\x01n\xa8\x06\x01", "NetParameter"),  # with a field of a fork, number 101
        (b"\x08\x05\x1a\x00\xaa\x06\x01x", "SolverState"),
    ],
)
def test_what_may_be_what_is_wanted(message, wanted):
    assert kind(message, wanted) == wanted


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xa8\x06\x01", "is no Caffe file that we know"),  # field 101 alone
        (b"\x0b", "is no protobuf file: it holds field 1 with the unknown wire type 3"),
        (b"\x00\x01", "is no protobuf file: it holds the impossible field number 0"),
        (b"\x08", "is no protobuf file: it ends in the middle of a number"),
        (b"\x0a\x05ab", "is no protobuf file: it ends in the middle of a value of 5 bytes (2 are there)"),
    ],
)  # fmt: skip
def test_what_is_nothing(data, said):
    assert kind(data, "NetParameter") == said


def test_a_field_of_another_kind_is_not_what_is_wanted():
    data = b"\x08\x05\x18\x01\x30\x07"  # its history, field 3, is a number
    assert kind(data, "SolverState") == "is no Caffe file that we know"


@pytest.mark.parametrize("wanted", FILES)
def test_what_begins_well_and_breaks_off_is_left_to_the_reader(wanted):
    assert kind(FILES[wanted].SerializeToString()[:-1], wanted) == wanted


@pytest.mark.parametrize(
    ("held", "wanted"), [("SolverState", "NetParameter"), ("NetParameter", "SolverState")]
)
def test_what_breaks_off_is_not_taken_for_something_that_its_beginning_contradicts(held, wanted):
    assert kind(FILES[held].SerializeToString()[:-20], wanted) == SAID[held]
