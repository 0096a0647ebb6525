# ruff: noqa: E501
import numpy as np
import pytest

from pycaffe_dist.proto.blobs import BlobArray, blob_parts, read_blob, size_of
from pycaffe_dist.proto.caffe_pb2 import BlobProto
from pycaffe_dist.proto.wire_format import WireError, head, varint


def read(message):
    data = message if isinstance(message, bytes) else message.SerializeToString()
    return read_blob(memoryview(b"##" + data + b"##"), 2, 2 + len(data))


def shape(*dims):
    packed = b"".join(map(varint, dims))
    packed = head(1, len(packed)) + packed
    return head(7, len(packed)) + packed


def floats(number, values, dtype="<f4"):
    data = np.array(values, dtype).tobytes()
    return head(number, len(data)) + data


# -- reading ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("blob", "dims", "values", "legacy"),
    [
        (BlobProto(data=[1, 2, 3, 4, 5, 6], shape={"dim": [2, 3]}), (2, 3), range(1, 7), False),
        (BlobProto(data=[7]), (), [7], False),
        (BlobProto(data=[7], shape={}), (), [7], False),
        (BlobProto(data=[7], shape={"dim": [1]}), (1,), [7], False),
        (BlobProto(data=[1, 2]), (2,), [1, 2], False),
        (BlobProto(), (0,), [], False),
        (BlobProto(shape={"dim": [3, 0]}), (3, 0), [], False),
        (BlobProto(num=1, channels=2, height=1, width=3, data=range(6)), (1, 2, 1, 3), range(6), True),
        (BlobProto(num=2, data=[]), (2, 0, 0, 0), [], True),
        (BlobProto(num=1, channels=1, height=1, width=2, data=[1, 2], shape={"dim": [2]}), (1, 1, 1, 2), [1, 2], True),
        (BlobProto(double_data=[1.5], data=[9]), (), [1.5], False),
        (BlobProto(data=range(32), shape={"dim": [1, 2] * 2 + [2, 4]}), (1, 2, 1, 2, 2, 4), range(32), False),
        (b"\x2d\0\0\x80\x3f" + b"\x2d\0\0\0\x40", (2,), [1, 2], False),  # unpacked
        (b"\x2d\0\0\x80\x3f" + floats(5, [2, 3]) + b"\x2d\0\0\x80\x40", (4,), [1, 2, 3, 4], False),
        (shape(2) + floats(5, [1, 2]), (2,), [1, 2], False),  # fields in another order
        (head(7, 4) + b"\x08\x02\x08\x01" + floats(5, [1, 2]), (2, 1), [1, 2], False),  # unpacked dims
    ],
)  # fmt: skip
def test_data(blob, dims, values, legacy):
    array = read(blob)
    assert array.shape == array.data.shape == dims
    assert array.data.reshape(-1).tolist() == list(values)
    assert array.legacy is legacy
    assert array.diff is None


@pytest.mark.parametrize(
    ("blob", "data", "diff"),
    [
        (BlobProto(data=[1, 2], diff=[3, 4]), "f4", "f4"),
        (BlobProto(double_data=[1, 2], double_diff=[3, 4]), "f8", "f8"),
        (BlobProto(data=[1, 2], double_diff=[3, 4]), "f4", "f8"),
        (BlobProto(double_data=[1, 2], data=[9, 9], diff=[3, 4]), "f8", "f4"),
    ],
)
def test_diff(blob, data, diff):
    array = read(blob)
    assert (array.data.tolist(), array.diff.tolist()) == ([1, 2], [3, 4])
    assert (array.data.dtype, array.diff.dtype) == (data, diff)


@pytest.mark.parametrize(
    "extra",
    [
        b"\x38\x01\x40\x05",  # PMLS-Caffe: blob_mode and global_id as numbers on 7 and 8
        b"\x3d1234",  # shape as 4 bytes
        b"\x4512341234"[:5],  # double_data as 4 bytes
        b"\x4d1234",  # double_diff as 4 bytes
        b"\x2912345678",  # data as 8 bytes
        b"\x3112345678",  # diff as 8 bytes
        b"\x0a\x01x",  # num as a string
        b"\x52\x01x",  # raw_data_type as a string
        b"\x60\x01",  # raw_data as a number
        b"\x68\x01\x72\x02ab\x7d1234",  # numbers nobody has
        b"\x88\xa1\xb4\xca\x01\x01",  # ours, on 52800001
    ],
)
@pytest.mark.parametrize("before", [True, False])
def test_what_forks_put_into_a_blob_does_not_matter(extra, before):
    plain = floats(5, [1, 2, 3]) + shape(3)
    array = read(extra + plain if before else plain + extra)
    assert array.data.tolist() == [1, 2, 3]
    assert array.diff is None
    assert not array.legacy


@pytest.mark.parametrize("empty", [head(8, 0), head(6, 0), head(9, 0)])
def test_packed_fields_without_values_are_as_good_as_absent(empty):
    array = read(floats(5, [1, 2, 3]) + shape(3) + empty)
    assert array.data.tolist() == [1, 2, 3]
    assert array.diff is None


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [(b"", "<f4"), (b"\x50\x00", "<f8"), (b"\x50\x01", "<f4"), (b"\x50\x02", "<f2")],
)
def test_raw_values_of_nvcaffe(kind, dtype):
    array = read(kind + floats(12, [1.5, -2, 65504], dtype) + shape(3))
    assert array.data.tolist() == [1.5, -2, 65504]
    assert array.data.dtype == np.float32


@pytest.mark.parametrize("before", [True, False])
def test_what_forks_put_beside_raw_values_does_not_matter(before):
    raw, extra = floats(12, [1.5, -2]) + shape(2), head(14, 8) + b"abcdefgh"
    assert read(extra + raw if before else raw + extra).data.tolist() == [1.5, -2]
    assert read(extra).data.size == 0


def test_data_goes_before_raw_data():
    assert read(floats(5, [1]) + floats(12, [2])).data.tolist() == 1


@pytest.mark.parametrize(
    ("blob", "at", "message"),
    [
        (BlobProto(data=[1], shape={"dim": [2]}), 2, "has 1 values for a shape of 2 (2 values)"),
        (BlobProto(data=[1, 2], shape={}), 2, "has 2 values for a shape of a scalar (1 values)"),
        (BlobProto(data=[1, 2], diff=[1], shape={"dim": [2]}), 2, "has 1 values for a shape of 2 (2 values)"),
        (BlobProto(num=2, data=[1, 2]), 2, "has 2 values for a shape of 2 x 0 x 0 x 0 (0 values)"),
        (BlobProto(shape={"dim": [1 << 40, 1 << 40]}), 2, f"has 0 values for a shape of {1 << 40} x {1 << 40} ({1 << 80:,} values)"),
        (BlobProto(data=[1], shape={"dim": [-1, -1]}), 2, "has an impossible shape: 2 axes, [-1, -1] ..."),
        (BlobProto(data=[1], width=-1), 2, "has an impossible shape: 4 axes, [0, 0, 0, -1] ..."),
        (BlobProto(data=[1], shape={"dim": [1] * 33}), 2, "has an impossible shape: 33 axes, [1, 1, 1, 1] ..."),
        (head(5, 5) + b"12345", 4, "has 5 bytes of values, not a multiple of 4"),
        (head(8, 4) + b"1234", 4, "has 4 bytes of values, not a multiple of 8"),
        (b"\x50\x07" + head(12, 4) + b"1234", 6, "stores its values in an unknown raw type (7)"),
        (b"\x2d\0\0", 5, "ends in the middle of a value of 4 bytes (2 are there)"),
        (head(5, 8) + b"1234", 8, "ends in the middle of a value of 8 bytes (4 are there)"),
        (head(7, 2) + b"\x08\x80", 6, "ends in the middle of a number"),
    ],
)  # fmt: skip
def test_blobs_that_make_no_sense(blob, at, message):
    with pytest.raises(WireError) as e:
        read(blob)
    assert (e.value.at, str(e.value)) == (at, message)


@pytest.mark.parametrize("dims", [(0, 1 << 62, 1 << 62), (0, (1 << 63) - 1), (1 << 62, 0)])
def test_a_shape_that_no_array_can_have(dims):
    with pytest.raises(WireError):
        read(shape(*dims))


def test_values_are_views_of_the_buffer():
    buffer = np.frombuffer(
        bytearray(BlobProto(data=range(100), diff=range(100)).SerializeToString()), "u1"
    )
    array = read_blob(memoryview(buffer), 0, buffer.size)
    assert np.shares_memory(array.data, buffer)
    assert np.shares_memory(array.diff, buffer)


def test_unpacked_values_are_views_of_the_buffer():
    buffer = np.frombuffer(b"\x2d\0\0\x80\x3f" * 100, "u1")
    array = read_blob(memoryview(buffer), 0, buffer.size)
    assert array.data.tolist() == [1.0] * 100
    assert np.shares_memory(array.data, buffer)


# -- fitting ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stored", "legacy", "target", "fits"),
    [
        ((1, 1, 3, 2), True, (3, 2), True),
        ((0, 1, 3, 2), True, (3, 2), False),
        ((3, 1, 3, 2), True, (3, 2), False),
        ((1, 1, 3, 2), True, (2, 3, 2), False),
        ((1, 2, 3, 2), True, (2, 3, 2), True),
        ((1, 1, 1, 3), True, (3,), True),
        ((1, 1, 3, 1), True, (3,), False),
        ((1, 1, 1, 1), True, (), True),
        ((5, 4, 3, 2), True, (5, 4, 3, 2), True),
        ((5, 4, 3, 2), True, (1, 5, 4, 3, 2), False),
        ((3, 2), False, (3, 2), True),
        ((1, 1, 3, 2), False, (3, 2), False),
        ((3, 2), False, (1, 1, 3, 2), False),
        ((6,), False, (3, 2), False),
        ((), False, (), True),
        ((1,), False, (), False),
        ((2, 3, 4, 5, 6), False, (2, 3, 4, 5, 6), True),
    ],
)
def test_fits(stored, legacy, target, fits):
    blob = BlobArray(np.zeros(stored, "f4"), legacy=legacy)
    assert blob.fits(target) is fits
    assert blob.fits(list(target)) is fits


# -- writing ---------------------------------------------------------------------------------------

ARRAYS = {
    "vector": np.float32([1, 2, 3]),
    "matrix": np.arange(6, dtype="f4").reshape(2, 3),
    "5-D": np.arange(120, dtype="f4").reshape(1, 2, 3, 4, 5),
    "scalar": np.float32(7).reshape(()),
    "empty": np.zeros((3, 0), "f4"),
    "no rows": np.zeros(0, "f4"),
    "double": np.float64([0.1, 0.2]),
    "double scalar": np.float64(0.1).reshape(()),
    "transposed": np.arange(6, dtype="f4").reshape(2, 3).T,
    "every other": np.arange(6, dtype="f4")[::2],
    "big endian": np.array([1, 2], ">f4"),
    "big endian double": np.array([0.1, 2], ">f8"),
    "half": np.float16([1.5, 2]),
    "read only": np.frombuffer(b"\0\0\x80\x3f", "<f4"),
    "unaligned": np.frombuffer(b"!\0\0\x80\x3f", "<f4", 1, 1),
}


@pytest.mark.parametrize("diff", [False, True])
@pytest.mark.parametrize("name", ARRAYS)
def test_parts_are_what_protobuf_writes(name, diff):
    data = ARRAYS[name]
    gradient = data * 2 if diff else None
    values, gradients = ("double_data", "double_diff") if data.dtype == "f8" else ("data", "diff")
    blob = BlobProto(**{values: np.ravel(data).tolist()})
    if diff:
        getattr(blob, gradients).extend(np.ravel(gradient).tolist())
    blob.shape.dim.extend(data.shape)
    if not data.shape:
        blob.ClearField("shape")
    parts = blob_parts(data, gradient)
    assert b"".join(parts) == blob.SerializeToString()
    assert size_of(parts) == blob.ByteSize()


def test_contiguous_floats_are_not_copied():
    data = np.arange(1000, dtype="f4").reshape(10, 100)
    assert any(
        np.shares_memory(np.frombuffer(part, "u1"), data) for part in blob_parts(data) if part
    )
