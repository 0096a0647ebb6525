"""Databases of boxes, compared byte by byte with those that SSD's own tool has written."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pycaffe_dist.data.annotations import parse_annotated
from pycaffe_dist.data.database import records_of
from pycaffe_dist.data.datum import datum_pixels, parse_datum
from pycaffe_dist.errors import FileError, PcdError
from pycaffe_dist.tools.convert_annoset import AnnosetOptions, convert_annoset
from pycaffe_dist.tools.create_label_map import create_label_map

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "annotated"
NAMES = {1: "one", 2: "two", 3: "three"}
MAP = "".join(f'item {{ name: "{name}" label: {label} }}\n' for label, name in NAMES.items())


def recorded(name):
    return list(records_of(str(GOLDEN / name), "lmdb"))


@pytest.fixture
def folder(tmp_path):
    """The images and the VOC files of which SSD's tool made the recorded databases."""
    lines = []
    for key, value in recorded("lmdb_png"):
        path = tmp_path / key.decode()[9:]
        path.parent.mkdir(exist_ok=True)
        datum, boxes = parse_annotated(value)
        path.write_bytes(parse_datum(datum).data)
        path.with_suffix(".xml").write_text(voc(boxes))
        lines.append(f"img/{path.name} img/{path.stem}.xml\n")
    (tmp_path / "list.txt").write_text("".join(lines))
    (tmp_path / "map.prototxt").write_text(MAP)
    return tmp_path


def voc(boxes, width=48, height=36):
    rows = []
    for label, _, *corners, difficult in boxes.tolist():
        x1, y1, x2, y2 = (
            round(v * side) for v, side in zip(corners, (width, height) * 2, strict=True)
        )
        rows.append(
            f"<object><name>{NAMES[int(label)]}</name><difficult>{int(difficult)}</difficult><bndbox>"
            f"<xmin>{x1}</xmin><ymin>{y1}</ymin><xmax>{x2}</xmax><ymax>{y2}</ymax></bndbox></object>"
        )
    size = f"<size><width>{width}</width><height>{height}</height></size>"
    return f"<annotation>{size}{''.join(rows)}</annotation>"


def convert(folder, list_file="list.txt", **options):
    options = {"anno_type": "detection", "label_map_file": f"{folder}/map.prototxt", **options}
    converted, names = convert_annoset(
        f"{folder}/", f"{folder}/{list_file}", f"{folder}/db", AnnosetOptions(**options)
    )
    records = list(records_of(f"{folder}/db", options.get("backend", "lmdb")))
    return converted, names, records


@pytest.mark.parametrize("backend", ["lmdb", "leveldb"])
def test_records_are_those_of_ssds_tool(folder, backend):
    converted, names, records = convert(folder, backend=backend)
    assert records == recorded("lmdb_raw")
    assert converted.count == 20
    assert (converted.unreadable, converted.notes) == ([], [])
    assert sum(converted.labels.values()) == sum(
        len(parse_annotated(value)[1]) for _, value in records
    )
    assert names == NAMES


@pytest.mark.parametrize("options", [{"encoded": True}, {"encode_type": "png"}])
def test_encoded_records_are_those_of_ssds_tool(folder, options):
    assert convert(folder, **options)[2] == recorded("lmdb_png")


def test_redo_replaces_a_database_and_nothing_else(folder):
    convert(folder)
    with pytest.raises(FileError, match="already exists"):
        convert(folder)
    for backend in ("lmdb", "leveldb"):
        if backend == "leveldb":
            with pytest.raises(FileError, match="is not replaced"):
                convert(folder, redo=True, backend=backend)
            shutil.rmtree(folder / "db")
            convert(folder, backend=backend)
        assert convert(folder, redo=True, backend=backend, shuffle=True)[0].count == 20
        (folder / "db" / "thesis.tex").write_text("kept")
        with pytest.raises(FileError, match="is not replaced"):
            convert(folder, redo=True, backend=backend)
        assert (folder / "db" / "thesis.tex").read_text() == "kept"


def test_shuffled_records_have_the_same_images(folder):
    _, _, records = convert(folder, shuffle=True, seed=3)
    want = {key[9:]: value for key, value in recorded("lmdb_raw")}
    assert {key[9:]: value for key, value in records} == want
    assert [key[:8] for key, _ in records] == [f"{i:08}".encode() for i in range(20)]
    assert [key[9:] for key, _ in records] != sorted(want)


@pytest.mark.parametrize(
    ("options", "size"),
    [
        ({"min_dim": 72}, (72, 96)),
        ({"min_dim": 30}, (36, 48)),
        ({"max_dim": 24}, (18, 24)),
        ({"min_dim": 72, "max_dim": 64}, (48, 64)),
        ({"resize_height": 10, "resize_width": 20, "max_dim": 5}, (10, 20)),
    ],
)
def test_sizes(folder, options, size):
    """Boxes are parts of the image: its size does not matter to them."""
    for encoded in ({}, {"encode_type": "png"}):
        _, _, records = convert(folder, redo=True, **options, **encoded)
        datum, boxes = parse_annotated(records[0][1])
        datum = parse_datum(datum)
        assert (datum.channels, datum.height, datum.width) == (3, *size)
        assert datum_pixels(datum).shape == (3, *size)
        np.testing.assert_array_equal(boxes, parse_annotated(recorded("lmdb_raw")[0][1])[1])


def test_an_image_that_a_camera_has_turned(folder):
    image = Image.new("RGB", (48, 36))
    exif = Image.Exif()
    exif[0x0112] = 6  # a quarter turn: 36 wide and 48 high for whoever looks at it
    image.save(folder / "turned.jpg", exif=exif)
    (folder / "turned.txt").write_text("1 0 0 36 48\n")
    (folder / "one.txt").write_text("turned.jpg turned.txt\n")
    converted, _, records = convert(folder, "one.txt", label_type="txt")
    assert parse_annotated(records[0][1])[1][0, 2:6].tolist() == [0, 0, 1, 1]
    assert converted.notes == []


def test_classification(folder):
    (folder / "labels.txt").write_text("img/000.png 7\nimg/001.png 2\n")
    converted, _, records = convert(folder, "labels.txt", anno_type="classification")
    assert converted.labels == {7: 1, 2: 1}
    datum, boxes = parse_annotated(records[0][1])
    assert boxes is None  # no type of annotations is told, as in SSD
    assert parse_datum(datum).label == 7


def test_whole_coco(folder):
    coco = {
        "images": [
            {"id": 5, "file_name": "img/000.png", "height": 36, "width": 48},
            {"id": 9, "file_name": "img/001.png", "height": 36, "width": 48},
        ],
        "annotations": [
            {"image_id": 9, "category_id": 44, "bbox": [12, 9, 24, 18]},
            {"image_id": 9, "category_id": 2, "bbox": [0, 0, 48, 36], "iscrowd": 1},
        ],
        "categories": [{"id": 44, "name": "bottle"}, {"id": 2, "name": "bicycle"}],
    }
    (folder / "coco.json").write_text(json.dumps(coco))
    converted, names, records = convert(folder, "coco.json", label_map_file="")
    assert names == {0: "background", 1: "bicycle", 2: "bottle"}
    assert converted.labels == {1: 1, 2: 1}
    boxes = [parse_annotated(value)[1] for _, value in records]
    assert boxes[0].shape == (0, 7)
    want = [[2, 0, 0.25, 0.25, 0.75, 0.75, 0], [1, 0, 0, 0, 1, 1, 1]]
    np.testing.assert_array_equal(boxes[1], want)
    made = create_label_map(f"{folder}/coco.json", f"{folder}/made.prototxt")
    again = convert(folder, "coco.json", label_map_file=f"{folder}/made.prototxt", redo=True)
    assert (again[1], again[2]) == (names, records)
    assert [item.name for item in made.item] == ["none_of_the_above", "2", "44"]


def test_missing_annotations_are_told(folder):
    (folder / "img" / "000.xml").unlink()
    converted, _, records = convert(folder)
    assert converted.notes == [f"{folder}/img/000.xml: is not there: no boxes"]
    assert parse_annotated(records[0][1])[1].shape == (0, 7)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("img/001.xml", "<annotation><object>"), r"001\.xml: is not XML"),
        (("map.prototxt", 'item { name: "one" label: 1 }'), "the class 'three' is not among the 1"),
        (("map.prototxt", MAP + 'item { name: "one" label: 9 }'), "'one' comes 2 times"),
        (("list.txt", "img/000.png\n"), r"list\.txt:1: expected the path of an image and"),
        (("list.txt", "\n"), "lists no images"),
        (("list.txt", "img/none.png img/none.xml\n"), "none of the 1 images can be read"),
        (("coco.json", '{"images": 3}'), 'is not a file of COCO with "images"'),
        (("coco.json", '{"images": [], "annotations": []}'), "lists no images"),
    ],
)
def test_what_is_refused(folder, change, message):
    name, text = change
    (folder / name).write_text(text)
    list_file = "coco.json" if name == "coco.json" else "list.txt"
    with pytest.raises(PcdError, match=message):
        convert(folder, list_file, check_label=True)
    assert not (folder / "db").exists()


def test_a_label_map_is_needed_for_names(folder):
    with pytest.raises(PcdError, match="give their numbers by -label_map_file"):
        convert(folder, label_map_file="")


def test_an_image_larger_than_its_file_may_be(folder):
    Image.new("1", (1 << 13, 1 << 13)).save(folder / "img" / "000.png")
    converted, _, records = convert(folder)
    assert len(records) == 19
    assert "more than the" in converted.unreadable[0]
