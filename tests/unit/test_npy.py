import io
import zipfile

import numpy as np
import pytest

from pycaffe_dist.errors import FileError
from pycaffe_dist.npy import read_npy, read_npz

ARRAYS = [np.arange(6.0).reshape(2, 3), np.float32(3), np.zeros((0, 4), "i2"), np.eye(3)[:, :2].T]


def bytes_of(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: str(a.shape))
def test_arrays(tmp_path, array):
    np.save(tmp_path / "a.npy", array)
    read = read_npy(tmp_path / "a.npy")
    np.testing.assert_array_equal(read, array)
    assert read.dtype == array.dtype
    np.savez(tmp_path / "a.npz", x=array, y=array)
    assert sorted(read_npz(tmp_path / "a.npz")) == ["x", "y"]


@pytest.mark.parametrize("order", "CF")
def test_orders(tmp_path, order):
    array = np.asarray(np.arange(6).reshape(2, 3), order=order)
    np.save(tmp_path / "a.npy", array)
    np.testing.assert_array_equal(read_npy(tmp_path / "a.npy"), array)


GOOD = bytes_of(np.zeros(4, "f4"))
SHAPES = [b"(9999999999999999,)", b"(-1,)", b"(1 << 70,)", b"[4]", b"((((", b"4" * 5000]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\x93NUMPY",
        GOOD[:-1],
        GOOD.replace(b"\x93NUMPY\x01", b"\x93NUMPY\x09"),
        GOOD.replace(b"'<f4'", b"'<q9'"),
        GOOD.replace(b"{", b"("),
        *(GOOD.replace(b"(4,)".ljust(len(shape)), shape) for shape in SHAPES),
        bytes_of(np.array(["text"])),
        bytes_of(np.array([1j])),
        bytes_of(np.array([{}, []], object)),
        b"PK\3\4 an archive",
    ],
    ids=len,
)
def test_files_that_are_refused(tmp_path, raw):
    raw = raw if raw != GOOD else GOOD.replace(b"(4,)", b"(4, ")
    (tmp_path / "a.npy").write_bytes(raw)
    with pytest.raises(FileError, match=r"a\.npy: "):
        read_npy(tmp_path / "a.npy")


def test_no_more_memory_is_taken_than_the_file_has(tmp_path):
    """NumPy would allocate four terabytes first."""
    shape = b"(1099511627776,), }"
    head = GOOD[: GOOD.index(b"(4,)")]
    raw = (head + shape).ljust(127) + b"\n" + bytes(16)
    (tmp_path / "a.npy").write_bytes(raw)
    with pytest.raises(FileError, match="claims 4,398,046,511,104 bytes of values and has 16"):
        read_npy(tmp_path / "a.npy")


def test_compressed_archives_are_refused(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", x=np.zeros(1 << 20))
    with pytest.raises(FileError, match="compressed"):
        read_npz(tmp_path / "a.npz")


def test_archives_whose_members_share_their_bytes(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("x.npy", bytes_of(np.zeros(1 << 16)))
        member = archive.filelist[0]
        for i in range(100):
            again = zipfile.ZipInfo(f"{i}.npy")
            for name in ("CRC", "compress_size", "file_size", "header_offset", "external_attr"):
                setattr(again, name, getattr(member, name))
            archive.filelist.append(again)
        archive._didModify = True
    with pytest.raises(FileError, match="claim more bytes than it has"):
        read_npz(tmp_path / "a.npz")
