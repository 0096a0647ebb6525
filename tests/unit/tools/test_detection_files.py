"""Truth and results in the files of several benchmarks: each the same boxes."""

import json

import numpy as np
import pytest

from pycaffe_dist.data.annotations import write_annotated
from pycaffe_dist.data.lmdb_writer import write_lmdb
from pycaffe_dist.errors import FileError
from pycaffe_dist.proto.caffe_pb2 import Datum, LabelMap
from pycaffe_dist.tools.detection_files import image_name, read_results, read_truth

MAP = LabelMap()
MAP.item.add(name="3", label=1, display_name="cat")
MAP.item.add(name="7", label=2, display_name="hot dog")
# Of the image 000012: label, corners, difficult.
TRUTH = [[1, 10, 5, 60, 25, 0], [2, 0, 0, 100, 50, 1]]
FOUND = [[1, 0.75, 10, 5, 60, 25], [2, 0.5, 1, 2, 3, 4]]


def check(found, want=TRUTH):
    assert set(found) == {"12", "b"}
    np.testing.assert_allclose(found["12"], want, rtol=1e-6)
    assert found["b"].shape == (0, 6)


def test_names_of_images():
    assert image_name("img/000012.jpg") == image_name("12") == image_name("12.png") == "12"
    assert image_name("a.b.png") == "a.b"
    assert image_name("frame_0012.png") == "frame_0012"


def test_truth_of_a_database(tmp_path):
    datum = Datum(channels=3, height=50, width=100, data=bytes(15000)).SerializeToString()
    rows = [[1, 0, 0.1, 0.1, 0.6, 0.5, 0], [2, 0, 0, 0, 1, 1, 1]]
    records = [(b"00000000_img/000012.jpg", write_annotated(datum, rows))]
    records += [(b"00000001_img/b.jpg", write_annotated(datum, []))]
    write_lmdb(tmp_path / "db", records)
    check(read_truth(str(tmp_path / "db"), LabelMap())[0])
    records[1] = (b"00000001_x/12.png", records[1][1])
    write_lmdb(tmp_path / "twice", records)
    with pytest.raises(FileError, match="there are two images '12'"):
        read_truth(str(tmp_path / "twice"), LabelMap())
    write_lmdb(tmp_path / "labels", [(b"0", b"\n" + bytes([len(datum[:0])]))])
    with pytest.raises(FileError, match="the record 0 has a label, not boxes"):
        read_truth(str(tmp_path / "labels"), LabelMap())


def test_truth_of_coco(tmp_path):
    coco = {
        "images": [{"id": 12, "file_name": "x.jpg"}, {"id": "b", "file_name": "y.jpg"}],
        "annotations": [
            {"image_id": 12, "category_id": 3, "bbox": [10, 5, 50, 20]},
            {"image_id": 12, "category_id": 7, "bbox": [0, 0, 100, 50], "iscrowd": 1},
        ],
        "categories": [{"id": 7, "name": "hot dog"}, {"id": 3, "name": "cat"}],
    }
    path = tmp_path / "instances.json"
    path.write_text(json.dumps(coco))
    for classes in (MAP, LabelMap()):
        found, known = read_truth(str(path), classes)
        check(found)
        assert [i.display_name for i in known.item if i.label] == ["cat", "hot dog"]
    coco["annotations"][0]["image_id"] = 99
    path.write_text(json.dumps(coco))
    with pytest.raises(FileError, match='is not a file of COCO with "images"'):
        read_truth(str(path), MAP)


def test_truth_of_voc(tmp_path):
    def voc(*rows):
        return "".join(
            f"<object><name>{name}</name><difficult>{difficult}</difficult><bndbox>"
            f"<xmin>{a}</xmin><ymin>{b}</ymin><xmax>{c}</xmax><ymax>{d}</ymax></bndbox></object>"
            for name, a, b, c, d, difficult in rows
        )

    rows = ("cat", *TRUTH[0][1:]), ("hot dog", *TRUTH[1][1:])
    (tmp_path / "000012.xml").write_text(f"<annotation>{voc(*rows)}</annotation>")
    (tmp_path / "b.xml").write_text("<annotation></annotation>")
    (tmp_path / "readme").write_text("")
    check(read_truth(str(tmp_path), MAP)[0])
    with pytest.raises(FileError, match="give a label map"):
        read_truth(str(tmp_path), LabelMap())


def test_results(tmp_path):
    (tmp_path / "coco.json").write_text(
        json.dumps(
            [
                {"image_id": 12, "category_id": 3, "bbox": [10, 5, 50, 20], "score": 0.75},
                {"image_id": 12, "category_id": 7, "bbox": [1, 2, 2, 2], "score": 0.5},
            ]
        )
    )
    found = [{"class": int(c), "score": s, "box": box} for c, s, *box in FOUND]
    (tmp_path / "ours.json").write_text(
        json.dumps(
            [{"input": "img/000012.jpg", "detections": found}, {"input": "b", "detections": []}]
        )
    )
    (tmp_path / "comp4_det_test_cat.txt").write_text("000012 0.75 10 5 60 25\n\n")
    (tmp_path / "comp4_det_test_hot dog.txt").write_text("000012 0.5 1 2 3 4\n")
    ways = ["coco.json"], ["ours.json"], ["comp4_det_test_cat.txt", "comp4_det_test_hot dog.txt"]
    for names in ways:
        got = read_results([str(tmp_path / name) for name in names], MAP)
        assert set(got) == {"12"}
        np.testing.assert_allclose(got["12"], FOUND, rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", "{}", "expected a list of results"),
        ("a.json", "[3]", "needs a category_id and a bbox"),
        ("a.json", '[{"category_id": 3, "bbox": [1, 2, 3, 4]}]', "without image_id or score"),
        (
            "a.json",
            '[{"category_id": 5, "bbox": [1, 2, 3, 4], "image_id": 1, "score": 1}]',
            "the category '5' is not among",
        ),
        ("a.json", '[{"input": "x", "detections": [{}]}]', "is not a result of pcd detect"),
        ("a.json", '[{"input": "x", "detections": 3}]', "expected a list of results"),
        ("dog.txt", "", "ends in none of the 4 classes"),
        ("cat.txt", "a 1 2 3 4", 'cat.txt:1: expected "image score xmin'),
        ("cat.txt", "a x 1 2 3 4", 'cat.txt:1: expected "image score xmin'),
    ],
)
def test_what_is_refused(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(FileError, match=message):
        read_results([str(tmp_path / name)], MAP)
