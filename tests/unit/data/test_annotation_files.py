"""Annotation files of four kinds, sound ones and hostile ones."""

import json

import numpy as np
import pytest

from pycaffe_dist.data.annotation_files import READERS, in_parts
from pycaffe_dist.errors import FileError

VOC = """<annotation><size><width>100</width><height>50</height></size>
<object><name>cat</name><part><name>head</name><bndbox><xmin>0</xmin></bndbox></part>
 <bndbox><xmin>10</xmin><ymin>5</ymin><xmax>60.5</xmax><ymax>25</ymax></bndbox>
 <difficult>1</difficult></object>
<object><name> dog </name>
 <bndbox><xmax>100</xmax><xmin>0</xmin><ymin>0</ymin><ymax>50</ymax></bndbox>
</object>
<object><name>cat</name><difficult>0</difficult>
 <bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox></object>
</annotation>"""
BOMB = """<!DOCTYPE lolz [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><annotation><folder>&c;</folder></annotation>"""
OUTSIDE = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><annotation>&x;</annotation>'
LABELS = {"cat": 3, "dog": 1, "18": 2}


@pytest.fixture
def rows(tmp_path):
    """What a reader makes of a text, in parts of an image of 50 x 100 pixels."""

    def rows(kind, text, labels=LABELS, image="000007.jpg", size=(50, 100)):
        path = tmp_path / f"file{len(list(tmp_path.iterdir()))}"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        found, notes = in_parts(str(path), READERS[kind](str(path), image), size, labels)
        return found, [note.removeprefix(f"{path}") for note in notes]

    return rows


def test_voc(rows):
    found, notes = rows("xml", VOC)
    want = [
        [3, 0, 0.1, 0.1, 0.605, 0.5, 1],
        [1, 0, 0, 0, 1, 1, 0],
        [3, 1, 0.01, 0.02, 0.02, 0.04, 0],
    ]
    np.testing.assert_array_equal(found, np.array(want, np.float32))
    assert notes == []


def test_the_size_that_the_file_tells_counts(rows):
    found, notes = rows("xml", VOC, size=(60, 100))
    assert found[1, 2:6].tolist() == [0, 0, 1, 1]
    assert notes == [": says 50 × 100 pixels, the image has 60 × 100"]
    bare = VOC.replace("<size><width>100</width><height>50</height></size>", "")
    assert rows("xml", bare, size=(100, 200))[0][1, 2:6].tolist() == [0, 0, 0.5, 0.5]


def test_boxes_that_reach_out_and_corners_that_are_swapped_are_kept_and_told(rows):
    found, notes = rows("txt", "1 -10 0 110 50\n3 60 10 50 20\n")
    np.testing.assert_allclose(found[:, 2:6], [[-0.1, 0, 1.1, 1], [0.6, 0.2, 0.5, 0.4]])
    assert notes == [
        ":1: a box of '1' reaches out of the image",
        ":2: a box of '3' has its corners swapped",
    ]


def test_coco_of_one_image(rows):
    about = {"image": {"height": 50, "width": 100}, "annotation": []}
    about["annotation"] += [{"category_id": 18, "bbox": [10, 5, 20.5, 10], "iscrowd": 1}]
    about["annotation"] += [{"category_id": 18, "bbox": [0, 0, 1, 1]}]
    found, _ = rows("json", json.dumps(about))
    want = [[2, 0, 0.1, 0.1, 0.305, 0.3, 1], [2, 1, 0, 0, 0.01, 0.02, 0]]
    np.testing.assert_array_equal(found, np.array(want, np.float32))


def test_text_has_labels_or_names(rows):
    found, _ = rows("txt", "\n1 10 5 20 10\ncat 0 0 100 50\n1 0 0 1 1\n")
    assert found[:, :2].tolist() == [[1, 0], [3, 0], [1, 1]]
    assert rows("txt", "9 0 0 1 1", labels={})[0][0, 0] == 9
    with pytest.raises(FileError, match=r":1: the class '9' is not among the 3"):
        rows("txt", "9 0 0 1 1")


def test_mot_takes_the_frame_of_the_image(rows):
    text = (
        "6,1,1,1,10,10,1,1,1\n7,4,11,6,20,10,1,3,0.5\n7, 9, 1, 1, 100, 50, 0, 1, 1\n7,5,1,1,10,5\n"
    )
    found, notes = rows("mot", text, image="seq-13/img1/000007.jpg")
    want = [[3, 4, 0.1, 0.1, 0.3, 0.3, 0], [1, 9, 0, 0, 1, 1, 1], [1, 5, 0, 0, 0.1, 0.1, 0]]
    np.testing.assert_allclose(found, want, rtol=1e-6)
    assert notes == []
    assert len(rows("mot", text, image="8.png")[0]) == 0
    with pytest.raises(FileError, match="needs the number of its frame"):
        rows("mot", text, image="a/7/frame.png")


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("xml", BOMB, "has a document type"),
        ("xml", OUTSIDE, "has a document type"),
        ("xml", "<annotation>", "is not XML: no element found"),
        ("xml", b"\x89PNG\r\n", "is not XML"),
        ("xml", "", "is not XML"),
        ("xml", "<html></html>", "expected <annotation> at the top, found <html>"),
        ("xml", VOC.replace("cat", "bird"), "the class 'bird' is not among the 3"),
        ("xml", VOC.replace("cat", "caat"), 'did you mean "cat"'),
        ("xml", VOC.replace("60.5", "nan"), "xmax is 'nan', expected a number"),
        ("xml", VOC.replace("<xmax>100</xmax>", ""), "xmax is None, expected a number"),
        ("xml", VOC.replace("<name> dog </name>", ""), "needs a <name> and a <bndbox>"),
        ("xml", VOC.replace("<width>100", "<width>0"), "0 is no size of an image"),
        ("json", "[1, 2]", 'expected an object with "image"'),
        ("json", '{"image": {}}', 'expected an object with "image"'),
        ("json", "{", "is not JSON"),
        ("json", "[" * 100_000, "is not JSON"),
        ("json", '{"annotation": [3]}', "needs a category_id and a bbox"),
        ("json", '{"annotation": [{"category_id": 18, "bbox": [1, 2, 3]}]}', "of 4 numbers"),
        ("json", '{"annotation": [{"category_id": 18, "bbox": [1, 2, 3, "x"]}]}', "'x', expected"),
        ("json", '{"annotation": [{"category_id": 1, "bbox": [1, 2, 3, 4]}]}', "class '1' is not"),
        ("txt", "1 2 3 4", ":1: expected 5 values, found 4"),
        ("txt", "1 2 3 4 x", ":1: a corner is 'x', expected a number"),
        ("txt", "1 2 3 4 inf", "a corner is 'inf'"),
        ("mot", "1,2,3,4,5", ":1: expected 6 to 10 values, found 5"),
        ("mot", "1,2,3,4,5,6,7,bird", "the class 'bird'"),
    ],
)
def test_what_is_refused(rows, kind, text, message):
    with pytest.raises(FileError, match=message):
        rows(kind, text, image="1.jpg")
