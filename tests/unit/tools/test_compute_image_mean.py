import logging
from pathlib import Path

import numpy as np
import pytest

from pycaffe_dist.data.database import write_database
from pycaffe_dist.data.encoded import encode
from pycaffe_dist.data.lmdb_writer import image_record
from pycaffe_dist.errors import FileError
from pycaffe_dist.proto.caffe_pb2 import Datum
from pycaffe_dist.tools.compute_image_mean import compute_image_mean

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "data"


def test_file_is_caffes_byte_for_byte(tmp_path, caplog):
    caplog.set_level(logging.INFO, "pycaffe_dist")
    output = tmp_path / "mean.binaryproto"
    mean = compute_image_mean(str(GOLDEN / "lmdb_color"), str(output))
    assert output.read_bytes() == (GOLDEN / "mean.binaryproto").read_bytes()
    assert (mean.count, mean.image.shape) == (24, (3, 40, 44))
    assert caplog.messages[-4:] == [
        "Number of channels: 3",
        *(f"mean_value channel [{c}]: {v:g}" for c, v in enumerate(mean.channels)),
    ]
    np.testing.assert_allclose(mean.channels, mean.image.mean((1, 2)), rtol=1e-5)


def test_encoded_and_floats(tmp_path):
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    png = Datum(data=encode(pixels, "png"), encoded=True)
    floats = Datum(channels=3, height=2, width=4, float_data=[0.5] * 24)
    records = [(b"0", png.SerializeToString()), (b"1", floats.SerializeToString())]
    write_database(tmp_path / "db", "lmdb", records)
    mean = compute_image_mean(str(tmp_path / "db"), threads=2)
    np.testing.assert_array_equal(mean.image, (pixels.transpose(2, 0, 1) + 0.5) / 2)


def test_sums_are_rounded_to_single_precision(tmp_path):
    values = [2.0**24, 1.0, 1.0, 1.0]
    records = [
        (
            b"%d" % i,
            Datum(channels=1, height=1, width=1, float_data=[v]).SerializeToString(),
        )
        for i, v in enumerate(values)
    ]
    write_database(tmp_path / "db", "lmdb", records)
    assert compute_image_mean(str(tmp_path / "db")).image[0, 0, 0] == 2.0**22


def test_images_must_have_one_shape(tmp_path):
    shapes = [(1, 2, 3), (1, 3, 2)]
    records = [image_record(f"{i}", np.zeros(s, np.uint8), 0) for i, s in enumerate(shapes)]
    write_database(tmp_path / "db", "lmdb", records)
    with pytest.raises(FileError, match=r"record 1: an image of the shape \(1, 3, 2\)"):
        compute_image_mean(str(tmp_path / "db"), str(tmp_path / "mean"))
    assert not (tmp_path / "mean").exists()


@pytest.mark.parametrize(
    ("records", "message"),
    [([], "the database is empty"), ([(b"7", b"\x08")], r"record 7: is not a Datum")],
)
def test_nothing_to_average(tmp_path, records, message):
    write_database(tmp_path / "db", "lmdb", records)
    with pytest.raises(FileError, match=message):
        compute_image_mean(str(tmp_path / "db"))
