"""Every `pcd` command in the README and in docs/, run in the order in which a reader would type it.

The folder they run in has small files under the names that the pages use.  Training is cut short
(--set max_iter=2), and so are -iterations: what is tested is that the command works as it is
written.
"""

import gzip
import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import warm
from PIL import Image

import pycaffe_dist as caffe
from pycaffe_dist.data.lmdb_writer import image_record, write_lmdb

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.timeout(600)  # a page has many commands
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SHORT = ["--set", "max_iter=2", "--set", "test_iter=1", "--set", "snapshot=0"]
MPIRUN = [str(Path(sys.executable).parent / "mpirun"), "--allow-run-as-root", "--oversubscribe"]

DEPLOY = """
name: "toy"
layer { name: "data" type: "Input" top: "data"
  input_param { shape { dim: 2 dim: 3 dim: 48 dim: 48 } } }
layer { name: "fc7" type: "InnerProduct" bottom: "data" top: "fc7"
  inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
layer { name: "prob" type: "Softmax" bottom: "fc7" top: "prob" }
"""


def commands(page):
    """The command lines of a page's code blocks, without their comments."""
    text = page.read_text()
    blocks = re.findall(r"^```(?:sh)?\n(.*?)^```", text, re.M | re.S)
    lines = [line for block in blocks for line in block.splitlines()]
    lines += [line.strip() for line in text.splitlines() if line.startswith("    ")]
    found = [line for line in lines if re.match(r"(mpirun .*)?pcd [a-z]", line)]
    return [shlex.split(line, comments=True) for line in dict.fromkeys(found)]


def _boxes(here, picture):
    """One image with a box, as VOC and as COCO have it."""
    for name in ("VOCdevkit", "train2017"):
        (here / name).mkdir()
        picture.save(here / name / "1.jpg")
    (here / "VOCdevkit" / "1.xml").write_text(
        "<annotation><size><width>24</width><height>20</height></size><object><name>cat</name>"
        "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>9</xmax><ymax>8</ymax></bndbox></object>"
        "</annotation>"
    )
    (here / "trainval.txt").write_text("1.jpg 1.xml\n")
    (here / "classes.txt").write_text("cat\ndog\n")
    image = {"id": 1, "file_name": "1.jpg", "width": 24, "height": 20}
    box = {"id": 1, "image_id": 1, "category_id": 3, "bbox": [1, 2, 8, 6], "iscrowd": 0}
    coco = {"images": [image], "annotations": [box], "categories": [{"id": 3, "name": "cat"}]}
    (here / "instances_train2017.json").write_text(json.dumps(coco))


FCN = """
layer { name: "data" type: "Input" top: "data"
  input_param { shape { dim: 1 dim: 3 dim: 20 dim: 24 } } }
layer { name: "score" type: "Convolution" bottom: "data" top: "score"
  convolution_param { num_output: 3 kernel_size: 1 weight_filler { type: "xavier" } } }
"""


def _detectors(here, rng):
    """A detector and a net for pixels with random weights, and what they are measured by."""
    shutil.copy(here / "models" / "ssd_shapes" / "deploy.prototxt", here / "ssd.prototxt")
    (here / "fcn.prototxt").write_text(FCN)
    for name in ("ssd", "fcn"):
        net = caffe.Net(str(here / f"{name}.prototxt"), caffe.TEST)
        net.save(str(here / f"{name}.caffemodel"))
    (here / "data" / "ssd_shapes").mkdir()
    labels = "data/ssd_shapes/labelmap.prototxt"
    shutil.copy(ROOT / labels, here / labels)
    xml = (here / "VOCdevkit" / "1.xml").read_text()
    (here / "VOC2007" / "Annotations").mkdir(parents=True)
    for place in ("VOCdevkit/shape.xml", "VOC2007/Annotations/1.xml"):
        (here / place).write_text(xml.replace("cat", "circle"))
    (here / "shapes.txt").write_text("1.jpg shape.xml\n")
    words = ["--anno_type", "detection", "--label_map_file", labels]
    made = warm.pcd("convert_annoset", *words, "VOCdevkit/", "shapes.txt", "boxes_lmdb", cwd=here)
    assert made.returncode == 0, made.stderr
    (here / "comp4_det_test_circle.txt").write_text("1 0.9 1 2 9 8\n")
    (here / "labels").mkdir()
    for i in range(6):
        Image.fromarray(rng.integers(0, 3, (20, 24), np.uint8)).save(here / "labels" / f"i{i}.png")
    found = [{"image_id": 1, "category_id": 3, "bbox": [1, 2, 8, 6], "score": 0.9}]
    (here / "results.json").write_text(json.dumps(found))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What a reader is supposed to have: models, data sets, images, weights."""
    here = tmp_path_factory.mktemp("docs")
    shutil.copytree(ROOT / "models", here / "models")
    rng = np.random.default_rng(1)
    small = [
        image_record(f"{i:08}", rng.integers(0, 255, (1, 28, 28), np.uint8), i % 10)
        for i in range(60)
    ]
    for place in (
        "mnist/mnist_train",
        "mnist/mnist_test",
        "digits/digits_train",
        "digits/digits_test",
    ):
        write_lmdb(here / "data" / f"{place}_lmdb", small)
    (here / "images").mkdir()
    for kind in ("cat", "dog"):
        (here / "photos" / kind).mkdir(parents=True)
    rows = []
    for i in range(6):
        picture = Image.fromarray(rng.integers(0, 255, (20, 24, 3), np.uint8))
        picture.save(here / "images" / f"i{i}.png")
        picture.save(here / "photos" / ("cat" if i % 2 else "dog") / f"{i}.jpg")
        picture.save(here / "photos" / f"{i}.jpg")
        rows.append(f"i{i}.png {i % 2}")
    picture.save(here / "cat.jpg")
    for name in ("train", "val"):
        (here / name).symlink_to(here / "images")
    for name in ("train.txt", "val.txt", "list.txt"):
        (here / name).write_text("\n".join(rows))
    for name in ("deploy", "rcnn"):
        (here / f"{name}.prototxt").write_text(DEPLOY)
    _boxes(here, picture)
    net = caffe.Net(str(here / "deploy.prototxt"), caffe.TEST)
    for name in ("net", "rcnn"):
        net.save(str(here / f"{name}.caffemodel"))
    dummy = DEPLOY.replace('"Input"', '"DummyData"').replace("input_param", "dummy_data_param")
    (here / "net.prototxt").write_text(dummy)
    lenet = caffe.Net(str(ROOT / "models" / "lenet" / "deploy.prototxt"), caffe.TEST)
    for name in ("lenet.caffemodel", "models/lenet/lenet_iter_10000.caffemodel"):
        lenet.save(str(here / name))
    (here / "runs" / "digits").mkdir(parents=True)
    lenet.save(str(here / "runs" / "digits" / "digits_iter_600.caffemodel"))
    np.save(here / "mean.npy", np.zeros((3, 48, 48), np.float32))
    (here / "words.txt").write_text("a\nb\nc\nd\n")
    (here / "windows.csv").write_text("filename,ymin,xmin,ymax,xmax\ncat.jpg,0,0,10,10\n")
    _detectors(here, rng)
    (here / "my_pycaffe_script.py").write_text("import caffe\nprint(caffe.__version__)\n")
    (here / "my_package").mkdir()
    for name in ("my_layers.py", "my_package/__init__.py", "my_package/layers.py"):
        (here / name).write_text("import pycaffe_dist.layer\n")
    line = (
        "I1116 00:23:51.503093 12202 solver.cpp:239] Iteration 0 (0 iter/s, 1s/1 iters), loss = 1"
    )
    (here / "train.log").write_text(f"{line}\n")
    pixels = rng.integers(0, 255, (20, 28, 28), np.uint8)
    with gzip.open(here / "train-images-idx3-ubyte.gz", "wb") as file:
        file.write(struct.pack(">4i", 2051, 20, 28, 28) + pixels.tobytes())
    with gzip.open(here / "train-labels-idx1-ubyte.gz", "wb") as file:
        file.write(struct.pack(">2i", 2049, 20) + bytes(i % 10 for i in range(20)))
    (here / "cifar-10-batches-bin").mkdir()
    for name in [*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]:
        with open(here / "cifar-10-batches-bin" / name, "wb") as file:
            file.truncate(30_730_000)
    return here


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_of(page, folder):
    for words in commands(page):
        ranks, line = [], list(words)
        if line[0] == "mpirun":
            ranks, line = [*MPIRUN, "-n", "2"], line[line.index("pcd") :]
        verb = line[1]
        if verb == "train" and "--dry-run" not in line:
            line += SHORT
        # A page may make a database that an earlier one has made; a reader would use another name.
        for word in line[2:]:
            made = folder / word
            if made.is_dir() and word.endswith(("_lmdb", "_leveldb")) and "convert" in verb:
                shutil.rmtree(made)
        if verb == "board":  # which serves until it is interrupted: tests/unit/board starts it
            continue
        if verb == "init" and line[-2:] == ["--from", "digits"]:  # as if the folder were empty
            shutil.rmtree(folder / "models" / "digits")
        if "-iterations" in line:
            line[line.index("-iterations") + 1] = "1"
        if verb == "quickstart":
            line += ["--epochs", "1"]
        # What a page does on GPUs is done on emulated ones.
        gpu = {"PCD_CUPY": "emulated"} if "-gpu" in line else {}
        here = {"cwd": folder, "env": os.environ | gpu, "timeout": 500}
        if ranks:
            command = [*ranks, sys.executable, "-m", "pycaffe_dist", *line[1:]]
            run = subprocess.run(command, capture_output=True, text=True, **here)
        else:
            run = warm.pcd(*line[1:], **here)
        assert run.returncode == 0, f"{shlex.join(words)}\n{run.stdout[-500:]}{run.stderr[-1500:]}"


def test_pages_have_commands():
    counts = {page.name: len(commands(page)) for page in PAGES}
    assert counts["getting_started.md"] >= 15
    assert counts["README.md"] >= 6
    assert counts["data.md"] >= 8
