import struct

import numpy as np
import pytest

from pycaffe_dist.data.database import records_of
from pycaffe_dist.data.datum import datum_pixels, parse_datum
from pycaffe_dist.errors import FileError
from pycaffe_dist.tools.convert_mnist_siamese_data import (
    convert_mnist_siamese_data,
    siamese_records,
)

LABELS = np.arange(40, dtype=np.uint8) % 4


@pytest.fixture
def files(tmp_path):
    """Image i is 2x3 pixels of the value i."""
    images = np.repeat(np.arange(40, dtype=np.uint8), 6)
    (tmp_path / "images").write_bytes(struct.pack(">4I", 2051, 40, 2, 3) + images.tobytes())
    (tmp_path / "labels").write_bytes(struct.pack(">2I", 2049, 40) + LABELS.tobytes())
    return tmp_path / "images", tmp_path / "labels"


def test_pairs_and_their_labels(files):
    records = list(siamese_records(*files, seed=3))
    assert [key for key, _ in records] == [b"%08d" % i for i in range(40)]
    seen = set()
    for _, value in records:
        datum = parse_datum(value)
        pixels = datum_pixels(datum)
        assert pixels.shape == (2, 2, 3)
        first, second = pixels[:, 0, 0]
        assert (pixels[0] == first).all()
        assert datum.label == int(LABELS[first] == LABELS[second])
        seen |= {first, second}
    assert len(seen) > 20


def test_the_draws_are_caffes(files):
    rng = np.random.RandomState(3)
    drawn = rng.randint(0, 1 << 32, size=(40, 2), dtype=np.uint32) % 40
    found = [datum_pixels(parse_datum(v))[:, 0, 0].tolist() for _, v in siamese_records(*files, 3)]
    assert found == drawn.tolist()


def test_database(files, tmp_path):
    assert convert_mnist_siamese_data(*files, str(tmp_path / "db"), "lmdb", 3) == 40
    assert list(records_of(str(tmp_path / "db"), "lmdb")) == list(siamese_records(*files, 3))


def test_counts_must_agree(files):
    files[1].write_bytes(struct.pack(">2I", 2049, 1) + b"\0")
    with pytest.raises(FileError, match=r"40 images, but .* 1 labels"):
        list(siamese_records(*files))
