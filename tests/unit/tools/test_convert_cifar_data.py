import io
import tarfile
from itertools import islice

import numpy as np
import pytest

from pycaffe_dist.data.database import records_of
from pycaffe_dist.errors import FileError
from pycaffe_dist.proto import caffe_pb2
from pycaffe_dist.tools import convert_cifar_data as module
from pycaffe_dist.tools.convert_cifar_data import (
    BATCH_FOLDER,
    TEST_BATCHES,
    TRAIN_BATCHES,
    cifar_records,
    convert_cifar_data,
    parse_batch,
)

BATCH_BYTES = 30_730_000


def batch(first_label=0):
    """A batch whose labels count up from ``first_label``; image i has pixels i, i + 1, ..."""
    rows = np.zeros((10000, 3073), np.uint8)
    rows[:, 0] = (np.arange(10000) + first_label) % 10
    rows[:3, 1:] = np.arange(3)[:, np.newaxis] + np.arange(3072)
    return rows.tobytes()


def fill(folder, names):
    folder.mkdir(exist_ok=True)
    for number, name in enumerate(names):
        (folder / name).write_bytes(batch(number))
    return folder


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "cifar.tar.gz"
    content = batch(4)
    with tarfile.open(path, "w:gz", compresslevel=1) as tar:
        member = tarfile.TarInfo(f"{BATCH_FOLDER}/{TEST_BATCHES[0]}")
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))
    return path


def test_records_are_caffes(tmp_path):
    fill(tmp_path, TEST_BATCHES)
    records = list(islice(cifar_records(tmp_path, TEST_BATCHES), 3))
    assert [key for key, _ in records] == [b"00000", b"00001", b"00002"]
    for i, (_, value) in enumerate(records):
        pixels = (i + np.arange(3072)).astype(np.uint8).tobytes()
        expected = caffe_pb2.Datum(channels=3, height=32, width=32, data=pixels, label=i)
        assert value == expected.SerializeToString()


def test_two_databases(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "IMAGES_PER_BATCH", 3)
    monkeypatch.setattr(module, "BATCH_SIZE", 3 * 3073)
    for number, name in enumerate(TRAIN_BATCHES + TEST_BATCHES):
        (tmp_path / name).write_bytes(batch(number)[: 3 * 3073])
    made = convert_cifar_data(tmp_path, tmp_path / "out", "lmdb")
    assert [(path.name, count) for path, count in made.items()] == [
        ("cifar10_train_lmdb", 15),
        ("cifar10_test_lmdb", 3),
    ]
    for path, batches in zip(made, (TRAIN_BATCHES, TEST_BATCHES), strict=True):
        assert list(records_of(str(path), "lmdb")) == list(cifar_records(tmp_path, batches))


def test_keys_go_on_from_batch_to_batch(tmp_path):
    names = TRAIN_BATCHES[:2]
    fill(tmp_path, names)
    records = list(cifar_records(tmp_path, names))
    assert [key for key, _ in records] == [b"%05d" % i for i in range(20000)]
    assert caffe_pb2.Datum.FromString(records[10000][1]).label == 1


def test_batches_in_the_archives_own_folder(tmp_path):
    fill(tmp_path / BATCH_FOLDER, TEST_BATCHES)
    key, _ = next(cifar_records(tmp_path, TEST_BATCHES))
    assert key == b"00000"


def test_archive_is_read_as_the_folder_is(archive, tmp_path):
    fill(tmp_path / "unpacked", TEST_BATCHES)
    from_archive = list(islice(cifar_records(archive, TEST_BATCHES), 5))
    labels = [caffe_pb2.Datum.FromString(value).label for _, value in from_archive]
    assert labels == [4, 5, 6, 7, 8]
    from_folder = list(islice(cifar_records(tmp_path / "unpacked", TEST_BATCHES), 5))
    assert [caffe_pb2.Datum.FromString(v).data for _, v in from_archive] == [
        caffe_pb2.Datum.FromString(v).data for _, v in from_folder
    ]


def test_archive_without_the_batch(archive):
    with pytest.raises(FileError, match=r"holds no batch of CIFAR-10: .*data_batch_1.bin"):
        list(cifar_records(archive, TRAIN_BATCHES))


def test_damaged_archive(archive):
    content = archive.read_bytes()
    archive.write_bytes(content[: len(content) // 2])
    with pytest.raises(FileError, match="damaged or not a tar archive"):
        list(cifar_records(archive, TEST_BATCHES))
    archive.write_bytes(b"<html>not here</html>")
    with pytest.raises(FileError, match="damaged or not a tar archive"):
        list(cifar_records(archive, TEST_BATCHES))


def test_missing_batch(tmp_path):
    with pytest.raises(FileError, match=r"test_batch.bin: cannot be read: No such file"):
        list(cifar_records(tmp_path, TEST_BATCHES))


@pytest.mark.parametrize("change", [-1, +1])
def test_size_must_be_that_of_ten_thousand_images(change):
    content = bytes(BATCH_BYTES + change)
    with pytest.raises(
        FileError, match=f"here: has {BATCH_BYTES + change} bytes, expected {BATCH_BYTES}"
    ):
        parse_batch(content, "here")


def test_label_out_of_range():
    content = bytearray(BATCH_BYTES)
    content[3073 * 2] = 10
    with pytest.raises(FileError, match="here: label 10 of image 2 is out of range"):
        parse_batch(bytes(content), "here")
