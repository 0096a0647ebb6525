"""draw, summary, classify, predict, detect and Caffe's own names for them, as processes."""

import csv
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import warm
from PIL import Image

from pycaffe_dist.cli import VERBS
from pycaffe_dist.errors import PcdError
from pycaffe_dist.loading import save_weights
from pycaffe_dist.net import Net
from pycaffe_dist.proto.nets import read_net

ROOT = Path(__file__).parents[2]
BIN = ROOT / "scripts" / "caffe-bin"
DEPLOY = """name: "mean colour"
layer { name: "data" type: "Input" top: "data"
        input_param { shape { dim: 2 dim: 3 dim: 4 dim: 4 } } }
layer { name: "pool" type: "Pooling" bottom: "data" top: "pool"
        pooling_param { pool: AVE global_pooling: true } }
"""
MODEL = ("--model_def", "deploy.prototxt", "--pretrained_model", "net.caffemodel")


@pytest.fixture
def folder(tmp_path):
    """A net whose scores are the mean blue, green and red, and three pictures."""
    (tmp_path / "deploy.prototxt").write_text(DEPLOY)
    save_weights(Net(read_net(tmp_path / "deploy.prototxt")), tmp_path / "net.caffemodel")
    (tmp_path / "pictures").mkdir()
    for name, color in (("a.png", "#ff0000"), ("b.png", "#00ff00"), ("c.jpg", "#0000ff")):
        Image.new("RGB", (8, 6), color).save(tmp_path / "pictures" / name)
    return tmp_path


@pytest.fixture
def pcd(folder):
    def run(*args, code=0):
        done = warm.pcd(*args, cwd=folder)
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode == code, done.stderr
        return done.stdout if code == 0 else done.stderr

    return run


@pytest.fixture
def fails(folder, monkeypatch):
    """The message of a verb that fails; in this process, for its speed."""
    monkeypatch.chdir(folder)

    def fails(verb, *args):
        with pytest.raises(PcdError) as caught:
            importlib.import_module(f"pycaffe_dist.cli.{verb}").main(list(args))
        return str(caught.value)

    return fails


# -- draw and summary ------------------------------------------------------------------------------


def test_draw(pcd, folder):
    out = pcd("draw", "deploy.prototxt", "net.svg", "-rankdir", "TB", "--phase=TEST", "--own")
    assert out == "Wrote net.svg (drawn by pycaffe_dist)\n"
    assert "Pooling AVE" in (folder / "net.svg").read_text()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("deploy.prototxt", "net"), "give it an ending that names the format"),
        (("deploy.prototxt", "net.png", "--own"), "give a name that ends in .svg"),
        (("nowhere.prototxt", "net.svg"), "nowhere.prototxt: cannot be read"),
        (("deploy.prototxt", "nowhere/net.svg", "--own"), "nowhere/net.svg: cannot be written"),
    ],
)
def test_draw_says_what_is_wrong(fails, args, message):
    assert message in fails("draw", *args)


def test_summary(pcd, folder):
    assert "1x1" in pcd("summary", "deploy.prototxt")
    found = json.loads(pcd("summary", "deploy.prototxt", "--json", "-phase", "TEST"))
    assert found["name"] == "mean colour"
    assert [layer["type"] for layer in found["layers"]] == ["Input", "Pooling"]
    assert found["layers"][1]["top_shapes"] == [[2, 3, 1, 1]]
    assert found["totals"]["params"] == 0


def test_summary_without_data(pcd):
    out = pcd("summary", ROOT / "models" / "lenet" / "train_val.prototxt")
    assert "(the data cannot be read: their shape is a guess)" in out
    assert "431,080 parameters" in out


def test_summary_of_a_broken_net(pcd, folder):
    (folder / "bad.prototxt").write_text(DEPLOY.replace('bottom: "data"', 'bottom: "dta"'))
    assert 'bad.prototxt:4: layer "pool": unknown bottom "dta"' in pcd(
        "summary", "bad.prototxt", code=1
    )


# -- classify and predict --------------------------------------------------------------------------


def test_classify_an_image(pcd, folder):
    out = pcd("classify", "pictures/a.png", "out.npy", *MODEL, "--center_only")
    assert out.startswith("Classifying 1 inputs.\nDone in ")
    assert out.endswith("Saving results into out.npy\n")
    scores = np.load(folder / "out.npy").squeeze()
    np.testing.assert_allclose(scores, [0, 0, 255])  # blue, green, red


def test_classify_a_folder_and_a_mean(pcd, folder):
    np.save(folder / "mean.npy", np.array([1, 2, 3], np.float32))
    flags = ("--ext", "png", "-mean_file=mean.npy", "--input_scale", "2", "--images_dim", "6,6")
    pcd("classify", "pictures", "out", *MODEL, *flags)
    scores = np.load(folder / "out.npy").reshape(2, 3)
    np.testing.assert_allclose(scores, [[-2, -4, 504], [-2, 506, -6]], rtol=1e-5)


def test_classify_arrays(pcd, folder):
    np.save(folder / "in.npy", np.ones((3, 5, 5, 3), np.float32) * [0.1, 0.2, 0.3])
    flags = ("--raw_scale", "10", "--channel_swap", "0,1,2", "--center_only")
    pcd("classify", "in.npy", "out.npy", *MODEL, *flags)
    np.testing.assert_allclose(
        np.load(folder / "out.npy").reshape(3, 3), [[1, 2, 3]] * 3, rtol=1e-5
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("nowhere.png", "out.npy"), "nowhere.png: cannot be read: No such file"),
        (("deploy.prototxt", "out.npy"), "deploy.prototxt: cannot be read as an image"),
        (("pictures", "out.npy", "--ext", "gif"), "has no image that ends in .gif"),
        (("pictures/a.png", "out.npy", "--images_dim", "3,9"), "3,9 is smaller than the net's"),
        (("pictures/a.png", "out.npy", "--channel_swap", "2,1"), "takes 3 channel(s)"),
        (("pictures/a.png", "out.npy", "--mean_file", "m.npy"), "m.npy: cannot be read"),
        (("pictures/a.png", "out.npy", "--gpu"), "a GPU was asked for"),
    ],
)
def test_classify_says_what_is_wrong(fails, folder, args, message):
    assert message in fails("classify", *args, *MODEL)
    assert not (folder / "out.npy").exists()


@pytest.mark.parametrize("inputs", ['top: "data" top: "im_info"', 'top: "data"'])
def test_a_net_that_takes_more_than_images_is_named(fails, folder, inputs):
    second = 'layer { name: "i" type: "Input" top: "im_info" input_param { shape { dim: 3 } } }'
    text = DEPLOY.replace('top: "data"', inputs, 1) + (second if "info" not in inputs else "")
    (folder / "deploy.prototxt").write_text(text)
    message = "deploy.prototxt: takes 2 inputs (data, im_info), of which images are one"
    assert message in fails("classify", "pictures/a.png", "out.npy", *MODEL)


def test_predict(pcd, folder):
    (folder / "words.txt").write_text("blue\ngreen\nred\n\n")
    model = ("-model", "deploy.prototxt", "-weights", "net.caffemodel", "--labels", "words.txt")
    lines = pcd("predict", "pictures", *model, "--top", "2").splitlines()
    assert [line.split() for line in lines] == [
        ["image", "score", "class", "label"],
        ["pictures/a.png", "255.0000", "2", "red"],
        ["0.0000", "0", "blue"],
        ["pictures/b.png", "255.0000", "1", "green"],
        ["0.0000", "0", "blue"],
        *[line.split() for line in lines[5:]],
    ]
    flags = ("--json", "--top", "1", "--oversample", "--mean_value", "0,0,5")
    [found] = json.loads(pcd("predict", "pictures/a.png", *model, *flags))
    assert found["input"] == "pictures/a.png"
    assert found["predictions"] == [{"class": 2, "label": "red", "score": 250}]
    (folder / "words.txt").write_text("blue\n")
    assert "1 labels for 3 classes" in pcd("predict", "pictures", *model, code=1)


# -- detect ----------------------------------------------------------------------------------------


def test_detect(pcd, folder):
    half = np.zeros((8, 8, 3), np.uint8)
    half[:, 4:, 0] = 255  # the right half is red
    Image.fromarray(half).save(folder / "half.png")
    (folder / "in.csv").write_text(
        "ymin,filename,xmin,ymax,xmax\n0,half.png,0,8,4\n0,half.png,4,8,8\n"
    )
    out = pcd("detect", "in.csv", "out.csv", *MODEL, "--context_pad", "0")
    assert "Processed 2 windows in " in out
    rows = list(csv.reader((folder / "out.csv").read_text().splitlines()))
    assert rows == [
        ["filename", "ymin", "xmin", "ymax", "xmax", "class0", "class1", "class2"],
        ["half.png", "0", "0", "8", "4", "0", "0", "0"],
        ["half.png", "0", "4", "8", "8", "0", "0", "255"],
    ]
    pcd("detect", "in.csv", "out.h5", *MODEL, "--context_pad", "0", "--crop_mode", "list")
    with h5py.File(folder / "out.h5") as file:
        assert [name.decode() for name in file["filename"]] == ["half.png"] * 2
        np.testing.assert_equal(file["window"][:], [[0, 0, 8, 4], [0, 4, 8, 8]])
        np.testing.assert_allclose(file["prediction"][:], [[0, 0, 0], [0, 0, 255]])


@pytest.mark.parametrize(
    ("text", "args", "message"),
    [
        ("filename,ymin\n", ("in.csv", "o.csv"), "missing: xmax, xmin, ymax"),
        ("filename,ymin,xmin,ymax,xmax\na,1,2,x,4\n", ("in.csv", "o.csv"), "in.csv:2: a window"),
        ("filename,ymin,xmin,ymax,xmax\n", ("in.csv", "o.csv"), "has no windows"),
        ("", ("in.csv", "o.txt"), "o.txt: give a name that ends in .csv or .h5"),
        ("", ("in.txt", "o.csv"), "windows come from a .csv file"),
        (
            "filename,ymin,xmin,ymax,xmax\npictures/a.png,9,9,10,10\n",
            ("in.csv", "o.csv", "--context_pad", "0"),
            "has no pixels in an image of",
        ),
    ],
)
def test_detect_says_what_is_wrong(fails, folder, text, args, message):
    (folder / "in.csv").write_text(text)
    assert message in fails("detect", *args, *MODEL)
    assert not (folder / "o.csv").exists()


# -- Caffe's names ---------------------------------------------------------------------------------

SHIMS = sorted(path for path in BIN.iterdir() if path.name != "pcd")


@pytest.mark.parametrize("shim", SHIMS, ids=lambda p: p.name)
def test_every_name_stands_for_a_verb(shim):
    assert os.access(shim, os.X_OK)
    first, last = shim.read_text().splitlines()
    assert first == "#!/bin/sh"
    verb = last.removeprefix('exec "$(dirname "$0")/pcd" ').removesuffix('"$@"').strip()
    assert verb in VERBS or (verb == "" and shim.stem == "caffe")


def test_scripts_run_with_one_path_line(folder):
    (folder / "script.sh").write_text(
        "caffe --version && draw_net.py deploy.prototxt 'my net.svg' --rankdir BT &&"
        " summarize.py deploy.prototxt"
    )
    env = {"PATH": f"{BIN}:{os.environ['PATH']}", "PCD_PYTHON": sys.executable}
    done = subprocess.run(
        ["sh", "-e", "script.sh"],
        cwd=folder,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=150,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("pcd ")
    assert "Pooling" in done.stdout
    assert (folder / "my net.svg").exists()


def test_weights_of_another_net_are_refused_and_missing_ones_told(pcd, folder):
    layer = """layer {{ name: "{}" type: "InnerProduct" bottom: "{}" top: "{}"
                inner_product_param {{ num_output: 2 }} }}\n"""
    one = DEPLOY + layer.format("a", "pool", "a")
    (folder / "deploy.prototxt").write_text(one)
    save_weights(Net(read_net(folder / "deploy.prototxt")), folder / "net.caffemodel")
    (folder / "deploy.prototxt").write_text(one.replace('"a"', '"b"'))
    predict = ("predict", "pictures/a.png", *MODEL)
    assert "net.caffemodel: has no weights for this net" in pcd(*predict, code=1)
    (folder / "deploy.prototxt").write_text(one + layer.format("b", "a", "b"))
    done = warm.pcd(*predict, cwd=folder)
    assert done.returncode == 0
    assert "net.caffemodel: no weights for the layers b:" in done.stderr
