from pathlib import Path

import numpy as np
import pytest

from pycaffe_dist.data.annotations import write_annotated
from pycaffe_dist.data.database import write_database
from pycaffe_dist.data.encoded import encode
from pycaffe_dist.data.lmdb_writer import image_record
from pycaffe_dist.errors import FileError, PcdError
from pycaffe_dist.proto.caffe_pb2 import Datum
from pycaffe_dist.tools.db import Contents, as_lines, bad_lines, look_into, write_contact_sheet

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "data"


def record(key, **fields):
    return key, Datum(**fields).SerializeToString()


@pytest.fixture
def mixed(tmp_path):
    """Three good records of different kinds, and three bad ones."""
    png = encode(np.random.RandomState(0).randint(0, 256, (40, 50, 3)).astype(np.uint8), "png")
    records = [
        image_record("0", np.zeros((1, 2, 3), np.uint8), 7),
        record(b"1", data=png, encoded=True, label=8),
        record(b"2", channels=2, height=1, width=1, float_data=[1, 2], label=8),
        record(b"3_short", channels=1, height=2, width=3, data=b"12345"),
        record(b"4_cut", data=png[: len(png) // 2], encoded=True),
        (b"5_other", b"not a datum"),
    ]
    write_database(tmp_path / "db", "lmdb", records)
    return str(tmp_path / "db")


def test_recorded_database():
    contents = look_into(str(GOLDEN / "lmdb_color"), verify=True)
    assert contents.bad == {}
    assert as_lines(contents)[:4] == [
        f"{GOLDEN / 'lmdb_color'}: LMDB, 24 records, 127,032 bytes",
        "keys: 00000000_i00.jpg to 00000023_i23.png",
        "3x40x44 bytes: 24 records",
        "labels: 7, from 0 to 6",
    ]


def test_verify_names_every_bad_record(mixed):
    contents = look_into(mixed, verify=True)
    assert contents.count == 6
    assert contents.labels == {7: 1, 8: 2}
    assert contents.shapes == {
        ("bytes", (1, 2, 3)): 1,
        ("PNG", (3, 40, 50)): 1,
        ("floats", (2, 1, 1)): 1,
    }
    short, cut, other = bad_lines(contents)
    assert short == "record 3_short has 5 values, its channels × height × width are 1 × 2 × 3"
    assert cut.startswith("record 4_cut is not a readable image")
    assert other.startswith("record 5_other is not a Datum")


def test_without_verify_images_are_not_decoded(mixed):
    assert list(look_into(mixed).bad) == [b"5_other"]


def test_sheet(mixed, tmp_path):
    contents = look_into(mixed, sheet=True)
    assert [(x.shape, label) for x, label in contents.images] == [
        ((1, 2, 3), "7"),
        ((3, 40, 50), "8"),
        ((2, 1, 1), "8"),
    ]
    write_contact_sheet(str(tmp_path / "sheet.png"), contents)
    assert (tmp_path / "sheet.png").read_bytes().startswith(b"\x89PNG")


def test_nothing_to_look_at(tmp_path):
    write_database(tmp_path / "db", "lmdb", [])
    with pytest.raises(FileError, match="the database is empty"):
        look_into(str(tmp_path / "db"))
    with pytest.raises(FileError, match="no such database"):
        look_into(str(tmp_path / "none"))
    with pytest.raises(PcdError, match="has no image to show"):
        write_contact_sheet(str(tmp_path / "sheet.png"), Contents("db", "lmdb"))


def test_many_shapes_in_short(tmp_path):
    images = [np.zeros((1, 1, n + 1), np.uint8) for n in range(12)]
    write_database(
        tmp_path / "db", "lmdb", [image_record(f"{n:02d}", x, 0) for n, x in enumerate(images)]
    )
    assert "... and 2 other shapes" in as_lines(look_into(str(tmp_path / "db")))


def test_records_with_boxes_are_counted_by_their_boxes(tmp_path):
    boxes = [[4, 0, 0.1, 0.1, 0.5, 0.5, 0], [2, 0, 0.5, 0.5, 1, 1, 0]]
    key, datum = image_record("0", np.zeros((3, 5, 6), np.uint8), -1)
    write_database(tmp_path / "db", "lmdb", [(key, write_annotated(datum, boxes))])
    contents = look_into(str(tmp_path / "db"), verify=True, sheet=True)
    lines = as_lines(contents)
    assert lines[2] == "3x5x6 bytes: 1 records"
    assert lines[3:5] == ["labels: 2, from 2 to 4 (1 between them have none)", "  label  boxes"]
    assert (contents.bad, [text for _, text in contents.images]) == ({}, ["4, 2"])
