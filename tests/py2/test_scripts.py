"""Scripts of our own in the styles that people published, each run unedited by pcd run --py2."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import pycaffe_dist as caffe
from pycaffe_dist.data.database import write_database

SCRIPTS = Path(__file__).parent / "scripts"
DEPLOY = """
name: "small"
layer { name: "data" type: "Input" top: "data"
        input_param { shape { dim: 2 dim: 3 dim: 8 dim: 8 } } }
%s
layer { name: "prob" type: "Softmax" bottom: "ip" top: "prob" }
"""
MIDDLE = """
layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1"
        convolution_param { num_output: 5 kernel_size: 3 pad: 1 weight_filler { type: "xavier" } } }
layer { name: "pool1" type: "Pooling" bottom: "conv1" top: "pool1"
        pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layer { name: "ip" type: "InnerProduct" bottom: "pool1" top: "ip"
        inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
"""
TRAIN = """
layer { name: "data" type: "Data" top: "data" top: "label"
        data_param { source: "data_lmdb" batch_size: 4 backend: LMDB }
        transform_param { scale: 0.004 } }
%s
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
"""
FCN = """
layer { name: "data" type: "Python" top: "data" top: "label" include { phase: %s }
        python_param { module: "seg_layers" layer: "SegDataLayer"
                       param_str: "{'split': '%s', 'seed': 1}" } }
"""
FCN_TAIL = """
layer { name: "score2" type: "Convolution" bottom: "data" top: "score2"
        convolution_param { num_output: 2 kernel_size: 2 stride: 2
                            weight_filler { type: "xavier" } } }
layer { name: "up" type: "Deconvolution" bottom: "score2" top: "score"
        convolution_param { num_output: 2 kernel_size: 2 stride: 2 bias_term: false } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "score" bottom: "label" top: "loss" }
"""
SOLVER = "base_lr: 0.01 lr_policy: 'fixed' snapshot_prefix: 'x' display: 1 max_iter: 10 "
LOG = "I1116 00:23:51.503093 12202 solver.cpp:239] Iteration %d, loss = %g\n"


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    """What the scripts find in their folder: nets, weights, images, a database, lists."""
    folder = tmp_path_factory.mktemp("material")
    draw = np.random.default_rng(0)
    texts = {
        "deploy.prototxt": DEPLOY % MIDDLE,
        "train.prototxt": TRAIN % MIDDLE,
        "solver.prototxt": SOLVER + "net: 'train.prototxt' test_iter: 1 test_interval: 100",
        "fcn.prototxt": FCN % ("TRAIN", "train") + FCN % ("TEST", "val") + FCN_TAIL,
        "fcn_solver.prototxt": SOLVER + "net: 'fcn.prototxt' test_iter: 1 test_interval: 100",
        "train.txt": "1\n2\n3\n",
        "val.txt": "4\n5\n",
        "synset_words.txt": "n01 first thing\nn02 second thing\nn03 café\n",
        "list.txt": "".join(f"{i}.png {i % 3}\n" for i in range(6)),
        "caffe.log": "".join(LOG % (i, 1 / (i + 1)) for i in range(5)),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "images").mkdir()
    pixels = [draw.integers(0, 256, (8, 8, 3), dtype=np.uint8) for _ in range(6)]
    for i, image in enumerate(pixels):
        Image.fromarray(image).save(folder / "images" / f"{i}.png")
    Image.fromarray(draw.integers(0, 256, (12, 10, 3), dtype=np.uint8)).save(folder / "image.png")
    planes = [image.transpose(2, 0, 1) for image in pixels]
    mean = caffe.io.array_to_blobproto(np.mean(planes, axis=0)[None])
    (folder / "mean.binaryproto").write_bytes(mean.SerializeToString())
    np.save(folder / "mean.npy", np.mean(planes, axis=0))
    data = [caffe.io.array_to_datum(plane, i % 3) for i, plane in enumerate(planes)]
    records = ((b"%08d" % i, datum.SerializeToString()) for i, datum in enumerate(data))
    write_database(folder / "data_lmdb", "lmdb", records)
    caffe.set_random_seed(3)
    caffe.Net(str(folder / "deploy.prototxt"), caffe.TEST).save(str(folder / "net.caffemodel"))
    return folder


def script(material, folder, name, *args, flags=("-q", "--cpu", "--py2")):
    """Run a script in a copy of the material, its own folder beside; what it printed."""
    work = folder / "work"
    shutil.copytree(material, work, dirs_exist_ok=True)
    scripts = folder / "scripts"
    shutil.copytree(SCRIPTS, scripts, dirs_exist_ok=True)
    command = [sys.executable, "-W", "error::SyntaxWarning", "-m", "pycaffe_dist", "run", *flags]
    variables = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    done = subprocess.run(
        [*command, str(scripts / name), *args],
        cwd=work,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        env=variables,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


CASES = {
    "train_and_plot.py": [
        "[('data', (4, 3, 8, 8)), ('label', (4,))]",
        "[('conv1', (5, 3, 3, 3)), ('ip', (3, 80))]",
        "Iteration 0 testing...",
        "Iteration 4 testing...",
        "Iteration 8 testing...",
        "chart True 3 True",
    ],
    "net_surgery.py": [
        "ip weights are (3, 80) dimensional and biases are (3,) dimensional",
        "conv1 (5, 3, 3, 3) True",
        "ip-conv (3, 5, 4, 4) True",
        "transplanted: True",
    ],
    "features_to_lmdb.py": [
        "Finished 5 ndarrays",
        "Finished 6 00000000",
        "(6, 80)",
        "True (80,) True",
    ],
    "make_lmdb.py": [
        "png: True PNG",
        "(3, 6, 6) uint8 6",
        "('00000000', True)",
        "00000000 00000001",
    ],
    "net_generator.py": ["3 [(12, 16), (12,)]", "generated_iter_3.caffemodel"],
    "python_layers.py": ["falls: True", "True True"],
    "filters.py": ["(12, 12, 3)", "(18, 18) 0.5 3 [False False False]"],
    "log_tables.py": [
        "['NumIters', 'loss'] 6 ['4', '0.2']",
        "2 No such file or directory",
        "0,1,2,3,4 DONE",
        "2",
    ],
    "siamese.py": [
        "0x803 4 11",
        "True ['a', 'b'] ['ip_a', 'ip_b'] [ 19.09   6.36   6.36  19.09]",
        "z",
    ],
    "fcn/solve.py": [
        "up 0.25 0.5",
        *(
            line
            for i in (2, 4)
            for line in (
                ">>> Begin seg tests",
                f">>> Iteration {i} loss is a number: True",
                f">>> Iteration {i} overall accuracy between 0 and 1: True",
            )
        ),
    ],
    "databases.py": [
        "00000000 0 15 00000001 4 39 00000002 2 27 00000004 4 39 ",
        '{"index": "00000004", "server": "SimpleXMLRPCServer"}',
        "['00000001', '00000002']",
        "00000004",
        "KeyError True",
        "True",
        "value 2 None no ['0', '1', '2', 'a'] ['1', '2'] [('a', 'b')]",
        "[ 0.  4.  2.  4.]",
    ],
    "numbers_of_2014.py": [
        "3 6 (2, 6)",
        "(3, 2) (2,) (4,)",
        "(3,) (2,) 2.0",
        "[  1 255   0] [301 555 300] [1000] [65281 65535 65280] [255   2]",
        "half 3 2.0",
        "[1, 2, 3] 1 3",
        "abc bbc",
        "1 [1]",
        "2 No such file or directory",
        "12",
        "True",
    ],
    "classifier_of_2014.py": ["['prob']", "(10, 3) (8, 8, 3)", "(1, 3)", "0 True"],
    "deep_dream.py": [
        "0 3 2 (6, 5, 3)",
        "1 6 5 (12, 10, 3)",
        "picture of True begins '\\xff\\xd8\\xff'",
    ],
}


@pytest.mark.parametrize("name", CASES)
def test_a_script_as_it_was_published(material, tmp_path, name):
    assert script(material, tmp_path, name) == CASES[name]


def test_classification(material, tmp_path):
    lines = script(material, tmp_path, "classify_images.py")
    assert lines[0].startswith("Predicted class is #")
    assert [line.split()[1][:2] for line in lines[1:3]] == ["n0", "n0"]
    assert lines[3:] == ["prediction shape: (3,) 1.0", "True"]


def test_a_confusion_matrix(material, tmp_path):
    flags = ("--proto", "deploy.prototxt", "--model", "net.caffemodel", "--lmdb", "data_lmdb")
    lines = script(material, tmp_path, "confusion.py", *flags)
    assert "out of 6 were classified correctly" in "".join(lines)
    assert lines[-1] == "whole part of count / 4: 1 rest: 2"


def test_a_package_with_implicit_relative_imports(material, tmp_path):
    flags = ("--def", "deploy.prototxt", "--net", "net.caffemodel", "--set", "NMS", "0.5")
    lines = script(material, tmp_path, "frcnn/tools/evaluate.py", *flags)
    assert lines[0] == "Using config:"
    assert lines[-5:] == [*(f"im_detect: {i}/4 ok" for i in range(1, 5)), "3 net 0.5"]


def test_the_translation_of_a_script_runs_by_itself(material, tmp_path):
    saved = tmp_path / "scripts" / "saved.py"
    flags = ("-q", "--cpu", "--py2", "--py2-save", str(saved))
    printed = script(material, tmp_path, "siamese.py", flags=flags)
    assert saved.read_text().count("# Two towers with shared weights") == 1
    assert script(material, tmp_path, "saved.py", flags=("-q",)) == printed
