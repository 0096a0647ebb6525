import gzip
import struct

import numpy as np
import pytest

from pycaffe_dist.data.database import records_of
from pycaffe_dist.errors import FileError
from pycaffe_dist.proto import caffe_pb2
from pycaffe_dist.tools.convert_mnist_data import (
    convert_mnist_data,
    mnist_records,
    read_images,
    read_labels,
)

PIXELS = np.arange(3 * 4 * 5, dtype=np.uint8).reshape(3, 4, 5)
LABELS = [7, 0, 127]


def idx(magic, shape, content):
    return struct.pack(f">{1 + len(shape)}I", magic, *shape) + bytes(content)


IMAGES_FILE = idx(2051, (3, 4, 5), PIXELS.tobytes())
LABELS_FILE = idx(2049, (3,), LABELS)


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    return write


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_records_are_caffes(write, pack):
    records = list(mnist_records(write("i", pack(IMAGES_FILE)), write("l", pack(LABELS_FILE))))
    assert [key for key, _ in records] == [b"00000000", b"00000001", b"00000002"]
    for (_, value), pixels, label in zip(records, PIXELS, LABELS, strict=True):
        expected = caffe_pb2.Datum(
            channels=1, height=4, width=5, data=pixels.tobytes(), label=label
        )
        assert value == expected.SerializeToString()


def test_database(write, tmp_path):
    files = write("i", IMAGES_FILE), write("l", LABELS_FILE)
    assert convert_mnist_data(*files, str(tmp_path / "db"), "lmdb") == 3
    assert list(records_of(str(tmp_path / "db"), "lmdb")) == list(mnist_records(*files))


def test_values_have_caffes_bytes(write):
    images = write("i", idx(2051, (1, 1, 2), [9, 8]))
    labels = write("l", idx(2049, (1,), [3]))
    # fields 1 to 3: channels, height, width; 4: two bytes of data; 5: label
    expected = bytes([0x08, 1, 0x10, 1, 0x18, 2, 0x22, 2, 9, 8, 0x28, 3])
    assert list(mnist_records(images, labels)) == [(b"00000000", expected)]


def test_wrong_magic_names_found_and_expected(write):
    with pytest.raises(FileError, match=r"not an idx file of images: .* is 2049, expected 2051"):
        read_images(write("i", idx(2049, (3, 4, 5), PIXELS.tobytes())))
    with pytest.raises(FileError, match=r"not an idx file of labels: .* is 2051, expected 2049"):
        read_labels(write("l", IMAGES_FILE))


@pytest.mark.parametrize("change", [-1, +1])
def test_length_must_fit_the_header(write, change):
    content = (IMAGES_FILE + b"x")[: len(IMAGES_FILE) + change]
    with pytest.raises(FileError, match=f"has {76 + change} bytes, expected 76 .* 3x4x5"):
        read_images(write("i", content))


def test_header_that_claims_more_than_memory_holds(write):
    with pytest.raises(FileError, match=f"expected {16 + (2**32 - 1) ** 3} for"):
        read_images(write("i", idx(2051, (2**32 - 1,) * 3, b"")))


@pytest.mark.parametrize("size", [0, 15])
def test_cut_header(write, size):
    with pytest.raises(FileError, match=f"cut short: {size} bytes"):
        read_images(write("i", IMAGES_FILE[:size]))


@pytest.mark.parametrize("keep", [5, 25, -9])
def test_cut_gzip(write, keep):
    with pytest.raises(FileError, match="gzipped, but damaged or cut short"):
        read_images(write("i.gz", gzip.compress(IMAGES_FILE)[:keep]))


def test_damaged_gzip(write):
    packed = bytearray(gzip.compress(IMAGES_FILE))
    packed[-6] ^= 0xFF  # of the checksum
    with pytest.raises(FileError, match=r"i\.gz: is gzipped, but damaged or cut short: CRC"):
        read_images(write("i.gz", bytes(packed)))


def test_missing_file(tmp_path):
    with pytest.raises(FileError, match="none: cannot be read: No such file"):
        read_images(tmp_path / "none")


def test_label_out_of_range(write):
    with pytest.raises(FileError, match="label 128 of image 1 is out of range; expected 0 to 127"):
        read_labels(write("l", idx(2049, (3,), [0, 128, 255])))


def test_counts_must_agree(write):
    labels = write("l", idx(2049, (2,), [1, 2]))
    with pytest.raises(FileError, match=r"3 images, but .* 2 labels"):
        list(mnist_records(write("i", IMAGES_FILE), labels))
