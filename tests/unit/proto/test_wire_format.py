# ruff: noqa: E501
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pycaffe_dist.proto import wire_format
from pycaffe_dist.proto.caffe_pb2 import BlobProto, BlobShape, NetParameter
from pycaffe_dist.proto.wire_format import I32, I64, LEN, VARINT, WireError

ONES = b"\xff" * 9 + b"\x01"


def failure(call, *arguments):
    with pytest.raises(WireError) as e:
        call(*arguments)
    return e.value.at, str(e.value)


@pytest.mark.parametrize(
    ("data", "value"),
    [(b"\0", 0), (b"\x7f", 127), (b"\x80\x01", 128), (b"\xac\x02", 300), (b"\x80\0", 0), (ONES, 2**64 - 1)],
)  # fmt: skip
def test_varints(data, value):
    assert wire_format.read_varint(memoryview(b"!" + data + b"!"), 1, 11) == (value, 1 + len(data))


@pytest.mark.parametrize(
    ("data", "at", "message"),
    [
        (b"", 0, "ends in the middle of a number"),
        (b"\x80", 1, "ends in the middle of a number"),
        (b"\xff" * 9, 9, "ends in the middle of a number"),
        (b"\xff" * 10, 0, "holds a number longer than 10 bytes"),
        (b"\xff" * 11, 0, "holds a number longer than 10 bytes"),
    ],
)
def test_broken_varints(data, at, message):
    assert failure(wire_format.read_varint, memoryview(data), 0, len(data)) == (at, message)


@settings(derandomize=True, database=None, deadline=None)
@given(st.integers(-(2**63), 2**63 - 1))
def test_varints_are_protobufs(value):
    data = wire_format.varint(value)
    assert BlobShape(dim=[value]).SerializeToString() == wire_format.head(1, len(data)) + data
    assert wire_format.signed(wire_format.read_varint(memoryview(data), 0, len(data))[0]) == value


@settings(derandomize=True, database=None, deadline=None)
@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_packed_varints(values):
    data = b"x" + b"".join(map(wire_format.varint, values))
    assert wire_format.packed_varints(memoryview(data), 1, len(data)) == values


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (b"\x08\x05", (1, VARINT, 5, 2, 2)),
        (b"\x0a\x02ab", (1, LEN, 0, 2, 4)),
        (b"\x0a\x00", (1, LEN, 0, 2, 2)),
        (b"\x0d1234", (1, I32, 0, 1, 5)),
        (b"\x0912345678", (1, I64, 0, 1, 9)),
        (b"\xa2\x06\x01a", (100, LEN, 0, 3, 4)),
        (b"\xf8\xff\xff\xff\x0f\x07", ((1 << 29) - 1, VARINT, 7, 6, 6)),
    ],
)
def test_fields(data, field):
    assert wire_format.next_field(memoryview(data + b"more"), 0, len(data)) == field
    first, second = wire_format.fields(memoryview(data * 2), 0, len(data) * 2)
    assert first == field
    assert second[:3] == field[:3]


@pytest.mark.parametrize(
    ("data", "at", "message"),
    [
        (b"\x00\x01", 0, "holds the impossible field number 0"),
        (b"\x80\x80\x80\x80\x10\x01", 0, f"holds the impossible field number {1 << 29}"),
        (b"\x0b", 0, "holds field 1 with the unknown wire type 3"),
        (b"\x0c", 0, "holds field 1 with the unknown wire type 4"),
        (b"\x0e", 0, "holds field 1 with the unknown wire type 6"),
        (b"\x0f", 0, "holds field 1 with the unknown wire type 7"),
        (b"\x08", 1, "ends in the middle of a number"),
        (b"\x0a", 1, "ends in the middle of a number"),
        (b"\x0a\x03ab", 4, "ends in the middle of a value of 3 bytes (2 are there)"),
        (b"\x0d123", 4, "ends in the middle of a value of 4 bytes (3 are there)"),
        (b"\x091234567", 8, "ends in the middle of a value of 8 bytes (7 are there)"),
        (b"\x0a\xff\xff\xff\xff\x07x", 7, "ends in the middle of a value of 2,147,483,647 bytes (1 are there)"),
        (b"\x0a" + ONES, 11, "ends in the middle of a value of 18,446,744,073,709,551,615 bytes (0 are there)"),
    ],
)  # fmt: skip
def test_broken_fields(data, at, message):
    assert failure(wire_format.next_field, memoryview(data), 0, len(data)) == (at, message)


def test_a_field_may_not_reach_beyond_its_message():
    assert failure(wire_format.next_field, memoryview(b"\x0a\x02ab"), 0, 3)[0] == 3


@pytest.mark.parametrize(("dtype", "tag"), [("<f4", 0x2D), ("<f8", 0x41)])
def test_a_run_of_unpacked_values(dtype, tag):
    values = np.array([1.5, -2, 1e30], dtype)
    run = b"".join(bytes([tag]) + v.tobytes() for v in values)
    data = memoryview(b"\x08\x01" + run + b"\x10\x02rest")
    first = wire_format.next_field(data, 2, len(data))
    read, end = wire_format.repeated_run(data, first, len(data), dtype)
    assert read.tolist() == values.tolist()
    assert end == 2 + len(run)
    read, end = wire_format.repeated_run(data[: 2 + len(run)], first, 2 + len(run), dtype)
    assert read.tolist() == values.tolist()


@pytest.mark.parametrize("size", [0, 1, 127, 128, 2**31 - 1])
@pytest.mark.parametrize("number", [1, 15, 16, 100, 52800001])
def test_heads(number, size):
    data = memoryview(wire_format.head(number, size))
    tag, at = wire_format.read_varint(data, 0, len(data))
    assert (tag >> 3, tag & 7) == (number, LEN)
    assert wire_format.read_varint(data, at, len(data)) == (size, len(data))


def test_protobuf_reads_what_the_pieces_make():
    floats = np.float32([1, 2]).tobytes()
    blob = wire_format.head(5, len(floats)) + floats
    assert BlobProto.FromString(blob) == BlobProto(data=[1, 2])
    assert NetParameter.FromString(wire_format.head(1, 2) + b"ab") == NetParameter(name="ab")
