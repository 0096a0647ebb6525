import numpy as np
import pytest

from pycaffe_dist.board import databases
from pycaffe_dist.board.places import Places
from pycaffe_dist.data.annotations import write_annotated
from pycaffe_dist.data.contact_sheet import sheet_of, with_boxes
from pycaffe_dist.data.lmdb_writer import image_record, write_lmdb
from pycaffe_dist.pictures import data_uri
from pycaffe_dist.proto.caffe_pb2 import Datum


@pytest.fixture
def folder(tmp_path):
    """Six images of two labels and two shapes."""
    pixels = [np.full((3, 2, 4 if i < 4 else 2), 40 * i, np.uint8) for i in range(6)]
    rows = [image_record(f"{i}", p, 7 if i % 3 else 1) for i, p in enumerate(pixels)]
    write_lmdb(tmp_path / "db", rows)
    (tmp_path / "db" / "labels.txt").write_text("zero\none\n")
    return tmp_path / "db"


def test_labels_shapes_and_the_first_images(folder):
    said = databases.look(folder)
    sheet = said.pop("sheet")
    assert said == {
        "kind": "lmdb",
        "count": 6,
        "read": 6,
        "bad": 0,
        "boxed": False,
        "shapes": ["3x2x4", "3x2x2"],
        "labels": [
            {"label": 1, "name": "one", "count": 2},
            {"label": 7, "name": "", "count": 4},
        ],
    }
    pixels = [np.full((3, 2, 4 if i < 4 else 2), 40 * i, np.uint8) for i in range(6)]
    named = [(p, "7" if i % 3 else "one") for i, p in enumerate(pixels)]
    assert sheet == data_uri(np.asarray(sheet_of(named)))


def test_no_more_than_so_many_are_read_and_shown(folder, monkeypatch):
    monkeypatch.setattr(databases, "COUNTED", 5)
    monkeypatch.setattr(databases, "SHOWN", 2)
    said = databases.look(folder)
    assert (said["count"], said["read"], said["shapes"]) == (6, 5, ["3x2x4"])
    monkeypatch.setattr(databases, "size_of", lambda *_: None)
    assert databases.look(folder)["count"] == 5


def test_images_with_boxes(tmp_path):
    """SSD's records: the labels are those of boxes, of which an image may have none."""
    pixels = np.zeros((3, 20, 40), np.uint8)
    boxes = [[2, 0, 0.0, 0.0, 0.5, 1.0, 0], [2, 1, 0, 0, 1, 1, 0], [1, 0, 0.5, 0.5, 1.0, 1.0, 0]]
    rows = []
    for i, found in enumerate((boxes, boxes[:1], [])):
        key, datum = image_record(f"{i}", pixels, -1)
        rows.append((key, write_annotated(datum, found)))
    write_lmdb(tmp_path / "db", rows)
    (tmp_path / "db" / "labels.txt").write_text("ground\ncat\n")
    said = databases.look(tmp_path / "db")
    assert (said["count"], said["read"], said["bad"], said["boxed"]) == (3, 3, 0, True)
    assert said["shapes"] == ["3x20x40"]
    assert [(row["label"], row["name"], row["count"]) for row in said["labels"]] == [
        *((1, "cat", 1), (2, "", 3))
    ]
    drawn = with_boxes(pixels, np.array(boxes[:1], np.float32))
    assert drawn.shape == (3, 40, 80) and drawn.any(0)[:, 40].all() and not drawn[:, :, 41:].any()
    named = [with_boxes(pixels, np.array(b, np.float32).reshape(-1, 7)) for b in
             (boxes, boxes[:1], [])]  # fmt: skip
    texts = ["2, 2, cat", "2", ""]
    assert said["sheet"] == data_uri(np.asarray(sheet_of(list(zip(named, texts, strict=True)))))


def test_an_image_without_pixels_is_not_shown(tmp_path):
    write_lmdb(tmp_path / "db", [(b"0", Datum(label=3).SerializeToString())])
    said = databases.look(tmp_path / "db")
    assert (said["bad"], said["sheet"], said["labels"][0]["count"]) == (0, "", 1)


def test_records_that_are_no_images_are_counted(tmp_path):
    write_lmdb(tmp_path / "db", [(b"0", b"\xff\xff\xff"), (b"1", b"\xff")])
    said = databases.look(tmp_path / "db")
    assert (said["count"], said["read"], said["bad"]) == (2, 2, 2)
    assert said["labels"] == said["shapes"] == [] and said["sheet"] == ""


def test_which_databases_there_are(tmp_path, monkeypatch):
    for name in ("runs/a", "runs/deep/b", "runs/.hidden", "data/c"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / ("CURRENT" if name == "data/c" else "data.mdb")).touch()
    (tmp_path / "runs" / "a" / "inner").mkdir()
    (tmp_path / "runs" / "a" / "inner" / "data.mdb").touch()
    places = Places([str(tmp_path / "runs")], [str(tmp_path / "data")])
    assert databases.find(places) == {
        "runs/a": tmp_path / "runs" / "a",
        "runs/deep/b": tmp_path / "runs" / "deep" / "b",
        "data/c": tmp_path / "data" / "c",
    }
    monkeypatch.setattr(databases, "MOST", 2)
    assert list(databases.find(places)) == ["runs/a", "runs/deep/b"]
