"""pcd eval_detection: a net on a database, and files of results, tell the same."""

import json
import sys
from pathlib import Path

import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "tools"))
from detectors import DATA, EVALUATE, picture, write_ssd

NET = ("--model", "deploy.prototxt", "--weights", "net.caffemodel")
MAP = 'item { name: "bg" label: 0 } item { name: "red" label: 1 } item { name: "tea" label: 2 }'


@pytest.fixture
def folder(tmp_path, call):
    """Two images with a red quarter each, one of which nobody has seen; a cup that nobody finds."""
    (tmp_path / "img").mkdir()
    (tmp_path / "map.prototxt").write_text(MAP)
    texts = "red 30 0 60 20\n", "red 0 0 30 20\nred 30 20 60 40\ntea 0 20 30 40\n"
    cells = [(0, 1)], [(0, 0)]
    lines = ""
    for name, text, shown in zip(("1", "2"), texts, cells, strict=True):
        Image.fromarray(picture(*shown)[:, :, ::-1]).save(tmp_path / "img" / f"{name}.png")
        (tmp_path / "img" / f"{name}.txt").write_text(text)
        lines += f"img/{name}.png img/{name}.txt\n"
    (tmp_path / "list.txt").write_text(lines)
    flags = ("--anno-type=detection", "--label-type=txt", "--label-map-file=map.prototxt")
    assert call("convert_annoset", *flags, "./", "list.txt", "db", "--encoded").returncode == 0
    return tmp_path


def test_a_net_and_its_results_tell_the_same(call, folder):
    write_ssd(folder, DATA.replace("mean_value: 51", "mean_value: 0"), EVALUATE)
    done = call("eval_detection", *NET, "--labels", "map.prototxt")
    assert done.returncode == 0, done.stderr
    head, red, tea, mean = (line.split() for line in done.stdout.splitlines())
    assert head == ["class", "boxes", "found", "11point", "MaxIntegral", "Integral", *head[6:]]
    assert head[6:] == ["COCO", "COCO50", "COCO75"]
    assert red[:3] == ["red", "3", "2"]
    assert red[3:6] == ["63.64", "66.67", "66.67"]  # 7 of 11 points, 2 of 3 boxes
    assert tea == ["tea", "1", "0", *["0.00"] * 6]
    assert mean[:4] == ["mean", "4", "2", "31.82"]

    write_ssd(folder)
    flags = ("--input_scale", 1 / 255, "--threshold", "0.01")
    assert call("detect", "--ssd", "img", "out.json", *NET, *flags).returncode == 0
    again = call("eval_detection", "out.json", "--truth", "db", "--labels", "map.prototxt")
    assert again.stdout == done.stdout
    other = call("eval_detection", *NET, "--source", "db", *flags[:2], "--json")
    found = json.loads(other.stdout)
    assert found["mean"]["11point"] == pytest.approx(7 / 22)
    assert [one["boxes"] for one in found["classes"]] == [3, 1]
    one = call("eval_detection", *NET, "--source", "db", *flags[:2], "--images", "1", "--json")
    assert json.loads(one.stdout)["mean"]["COCO"] == pytest.approx(1)


def test_images_that_the_truth_does_not_know(call, folder):
    (folder / "det_red.txt").write_text("1 0.9 30 0 60 20\nother 0.9 1 1 2 2\n")
    done = call("eval_detection", "det_red.txt", "--truth", "db", "--labels", "map.prototxt")
    assert "1 images of the results are not in db and do not count: other" in done.stderr
    assert done.stdout.splitlines()[1].split()[:4] == ["red", "3", "1", "36.36"]


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        ((), 2, "give a net (--model and --weights), or files of results"),
        (("--model", "deploy.prototxt"), 2, "--model needs --weights"),
        (("x.json",), 2, "results need the truth"),
        (("x.json", "--truth", "db", "--overlap", "0"), 2, "--overlap: give a number above 0"),
        (("x.json", "--truth", "db"), 1, "x.json: cannot be read"),
        (("x.json", "--truth", "nowhere"), 1, "nowhere: there is no such database"),
        (("x.json", "--truth", "img"), 1, "is not a database"),
        ((*NET,), 1, "names no database; give one by --source"),
        ((*NET, "--source", "list.txt"), 1, "list.txt"),
    ],
)
def test_what_is_wrong(call, folder, args, code, message):
    write_ssd(folder)
    done = call("eval_detection", *args)
    assert done.returncode == code
    assert message in done.stderr and "Traceback" not in done.stderr
