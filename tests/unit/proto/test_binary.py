"""Whole binary messages, and files that are none."""

import pytest

from pycaffe_dist.errors import FileError
from pycaffe_dist.proto.binary import read_binary
from pycaffe_dist.proto.caffe_pb2 import NetParameter

NET = NetParameter(name="small")
NET.layer.add(name="ip", type="InnerProduct").blobs.add(data=[1, 2, 3])


def test_every_field_is_read(tmp_path):
    (tmp_path / "net").write_bytes(NET.SerializeToString())
    assert read_binary(tmp_path / "net", NetParameter()) == NET


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b'name: "small"\nlayer { name: "ip" }\n', r"a text file \(.*\)"),
        (NET.SerializeToString()[:-2], r"cut short, damaged or of another kind \(.*\)"),
        (b"\x89HDF\r\n\x1a\n" + bytes(100), "an? .*HDF5.*"),
        (b"", "empty"),
    ],
    ids=["text", "cut short", "HDF5", "empty"],
)
def test_what_it_is_instead_is_said(tmp_path, content, found):
    (tmp_path / "net").write_bytes(content)
    says = f"net: is {found}; a binary NetParameter was expected here$"
    with pytest.raises(FileError, match=says):
        read_binary(tmp_path / "net", NetParameter())
