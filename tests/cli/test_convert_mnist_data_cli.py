import gzip
import struct

import numpy as np
import pytest
import warm

from pycaffe_dist.data.database import kind_of, records_of
from pycaffe_dist.data.datum import datum_pixels, parse_datum


def run(verb, folder, *args):
    return warm.pcd(verb, *args, cwd=folder)


@pytest.fixture
def folder(tmp_path):
    pixels = np.arange(5 * 6, dtype=np.uint8).tobytes()
    images = struct.pack(">4I", 2051, 5, 2, 3) + pixels
    (tmp_path / "images").write_bytes(gzip.compress(images))
    (tmp_path / "labels").write_bytes(struct.pack(">2I", 2049, 5) + bytes([7, 2, 1, 0, 4]))
    return tmp_path


def test_images(folder):
    done = run("convert_mnist_data", folder, "-backend", "lmdb", "images", "labels", "db")
    assert (done.returncode, done.stdout) == (0, "db: 5 records\n"), done.stderr
    records = list(records_of(str(folder / "db"), "lmdb"))
    assert [key for key, _ in records] == [b"%08d" % i for i in range(5)]
    assert [parse_datum(value).label for _, value in records] == [7, 2, 1, 0, 4]


def test_pairs_are_a_leveldb_unless_asked_for(folder):
    done = run("convert_mnist_siamese_data", folder, "images", "labels", "pairs", "--seed=1")
    assert (done.returncode, done.stdout) == (0, "pairs: 5 pairs\n"), done.stderr
    assert kind_of(str(folder / "pairs")) == "leveldb"
    records = list(records_of(str(folder / "pairs"), "leveldb"))
    assert {datum_pixels(parse_datum(value)).shape for _, value in records} == {(2, 2, 3)}


def test_missing_file(folder):
    done = run("convert_mnist_data", folder, "none", "labels", "db")
    assert done.returncode == 1
    assert (
        done.stderr == "pcd convert_mnist_data: none: cannot be read: No such file or directory\n"
    )
    assert not (folder / "db").exists()
