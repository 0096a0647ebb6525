"""Named arrays in the safetensors format, and files that only look like it."""

import json

import numpy as np
import pytest

from pycaffe_dist.errors import FileError
from pycaffe_dist.safetensors import read_safetensors, write_safetensors


def raw(header, values=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + values


def entry(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u1", "?"])
def test_arrays_come_back(tmp_path, dtype):
    arrays = {
        "conv1/0": np.arange(6).reshape(1, 2, 3).astype(dtype),
        "é/1": np.array(1, dtype),
        "empty/0": np.zeros((0, 3), dtype),
    }
    write_safetensors(tmp_path / "a", arrays, {"net": "n"})
    found, about = read_safetensors(tmp_path / "a")
    assert about == {"net": "n"}
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_the_bytes_are_those_of_the_format(tmp_path):
    write_safetensors(tmp_path / "a", {"w": np.array([1, 2], ">f4")})
    text = b'{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}  '
    want = len(text).to_bytes(8, "little") + text + np.array([1, 2], "<f4").tobytes()
    assert (tmp_path / "a").read_bytes() == want


def test_bfloat16_is_read(tmp_path):
    values = np.array([1.5, -2], "<f4").view("<u4") >> 16
    (tmp_path / "a").write_bytes(
        raw({"w": entry("BF16", (2,), (0, 4))}, values.astype("<u2").tobytes())
    )
    np.testing.assert_array_equal(read_safetensors(tmp_path / "a")[0]["w"], [1.5, -2])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"abc", "shorter than the length"),
        (raw({"w": entry()}, b"1234"), "bytes 0 to 8 of 4"),
        (raw({"w": entry(shape=(3,))}, b"12345678"), r"of the shape \[3\] has bytes"),
        (raw({"w": entry(shape=(-1, -2))}, b"12345678"), "impossible shape"),
        (raw({"w": entry(offsets=(-8, 0))}, b"12345678"), "impossible shape or place"),
        (raw({"w": entry(shape=(True,), offsets=(0, 4))}, b"12345678"), "impossible shape"),
        (raw({"w": entry("F8")}, b"12345678"), "unknown type 'F8'"),
        (raw({"w": 3}), "lacks its type"),
        (raw({"w": {"dtype": "F32"}}), "lacks its type"),
        (raw([1]), "header is no table"),
        (raw({"__metadata__": 3}), "metadata is no table"),
        (raw(b"[" * 100000), "nested too deeply|Expecting|recursion"),
        ((1 << 60).to_bytes(8, "little") + b"{}", "header claims"),
    ],
)
def test_damaged_files_are_told(tmp_path, data, message):
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(FileError, match=message):
        read_safetensors(tmp_path / "a")


def test_what_cannot_be_written_is_told_and_nothing_is_lost(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(FileError, match="complex128 cannot be written"):
        write_safetensors(tmp_path / "a", {"w": np.zeros(2, complex)})
    assert (tmp_path / "a").read_bytes() == b"old"
