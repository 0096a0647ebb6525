"""pcd detect --ssd: what it prints, writes and draws."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "tools"))
from detectors import picture, write_ssd

NET = ("--model", "deploy.prototxt", "--weights", "net.caffemodel", "--input_scale", 1 / 255)


@pytest.fixture
def folder(tmp_path):
    write_ssd(tmp_path)
    (tmp_path / "photos").mkdir()
    for name, cells in (("a", [(0, 1)]), ("b", [])):
        image = picture(*cells, height=80, width=120)
        Image.fromarray(image[:, :, ::-1]).save(tmp_path / "photos" / f"{name}.png")
    (tmp_path / "map.prototxt").write_text(
        'item { name: "bg" label: 0 }item { name: "n1" label: 1 display_name: "red\\033[2J thing" }'
    )
    return tmp_path


def test_a_folder_is_drawn_and_printed(call, folder):
    done = call("detect", "--ssd", "photos", "drawn", *NET, "--labels", "map.prototxt")
    assert done.returncode == 0, done.stderr
    head, row = done.stdout.splitlines()
    assert head.split() == ["image", "class", "score", "xmin", "ymin", "xmax", "ymax"]
    assert row.startswith("photos/a.png  red\\x1b[2J thing  1.0000")
    assert row.split()[-4:] == ["60.0", "0.0", "120.0", "40.0"]
    drawn = np.asarray(Image.open(folder / "drawn" / "a.png"))
    before = np.asarray(Image.open(folder / "photos" / "a.png"))
    assert drawn[40, 60].tolist() == [128, 0, 0] and (drawn != before).any()
    np.testing.assert_array_equal(
        np.asarray(Image.open(folder / "drawn" / "b.png")),
        np.asarray(Image.open(folder / "photos" / "b.png")),
    )


def test_json(call, folder):
    done = call("detect", "--ssd", "photos/a.png", "out.json", *NET, "--json", "--threshold=0.4")
    assert done.returncode == 0, done.stderr
    [found] = json.loads(done.stdout)
    assert found == json.loads((folder / "out.json").read_text())[0]
    assert (found["input"], found["height"], found["width"]) == ("photos/a.png", 80, 120)
    [box] = found["detections"]
    assert (box["class"], box["label"], box["score"]) == (1, None, 1)
    np.testing.assert_allclose(box["box"], [60, 0, 120, 40], atol=0.01)


def test_a_list_of_images(call, folder):
    (folder / "list.txt").write_text("photos/b.png\nphotos/a.png\n")
    found = json.loads(call("detect", "--ssd", "list.txt", *NET, "--json").stdout)
    assert [(one["input"], len(one["detections"])) for one in found] == [
        ("photos/b.png", 0),
        ("photos/a.png", 1),
    ]


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("photos",), 2, "--ssd needs a net and its weights"),
        (("photos", *NET, "--input-size", "3"), 2, "give a height and a width"),
        (("none.png", *NET), 1, "none.png: cannot be read"),
        (("photos", "photos", *NET), 1, "is the image itself"),
        (("deploy.prototxt", *NET), 1, "deploy.prototxt: is not a readable image"),
        (("photos", *NET, "--labels", "net.caffemodel"), 1, "net.caffemodel"),
    ],
)
def test_what_is_wrong(call, folder, args, code, message):
    done = call("detect", "--ssd", *args)
    assert done.returncode == code
    assert message in done.stderr and "Traceback" not in done.stderr
