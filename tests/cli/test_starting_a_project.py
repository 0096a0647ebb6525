"""`pcd init`, `models`, `quickstart`, and predictions of a run that remembers its transform."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import warm
from PIL import Image

from pycaffe_dist.data.database import records_of
from pycaffe_dist.data.datum import parse_datum
from pycaffe_dist.data.lmdb_writer import image_record, write_lmdb
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.proto.weights import write_binaryproto
from pycaffe_dist.pycaffe.net import Net
from pycaffe_dist.tools import shipped
from pycaffe_dist.tools.init import start

ROOT = Path(__file__).parents[2]


def pcd(*args, cwd):
    done = warm.pcd(*args, cwd=cwd)
    assert done.returncode == 0, done.stderr[-1500:]
    return done.stdout


# -- init and models -------------------------------------------------------------------------------


def test_a_project_is_laid_out_as_ours(call, tmp_path):
    done = call("init", "here", "--from", "ssd_shapes")
    assert done.returncode == 0
    made = {str(p.relative_to(tmp_path / "here")) for p in tmp_path.rglob("*") if p.is_file()}
    assert made == {
        "README.md",
        *(f"models/ssd_shapes/{n}.prototxt" for n in ("deploy", "solver", "train_val")),
        "models/ssd_shapes/readme.md",
        *(f"data/ssd_shapes/{n}" for n in ("create_ssd_shapes.py", "labelmap.prototxt")),
        "data/ssd_shapes/readme.md",
    }
    commands = [
        "cd here",
        "python data/ssd_shapes/create_ssd_shapes.py",
        "pcd train -solver models/ssd_shapes/solver.prototxt --run-dir runs/ssd_shapes",
        "pcd board runs",
    ]
    assert done.stdout.splitlines() == ["Next:", *(f"  {c}" for c in commands)]
    assert "\n".join(commands[1:]) in (tmp_path / "here" / "README.md").read_text()
    assert "](../" not in (tmp_path / "here/models/ssd_shapes/readme.md").read_text()


@pytest.mark.parametrize("name", shipped.model_names())
def test_every_model_can_begin_a_project(call, name):
    done = call("init", "--from", name)
    assert done.returncode == 0, done.stderr
    trained = (
        rf"pcd train -solver models/{name}/solver.prototxt (-weights \S+ )?--run-dir runs/{name}"
    )
    assert re.search(trained, done.stdout) or name == "bvlc_reference_rcnn_ilsvrc13"


@pytest.mark.parametrize("name", shipped.model_names())
def test_what_a_project_s_commands_name_is_there_or_made(tmp_path, name):
    """Each file of a command is in the project; each source of the net has what makes it."""
    commands = start(name, str(tmp_path))
    for path in re.findall(r"\S+\.(?:py|prototxt)\b", "\n".join(commands)):
        assert (tmp_path / path).is_file(), path
    nets = [p.read_text() for p in (tmp_path / "models" / name).glob("train_val.prototxt")]
    sources = re.findall(r'\bsource: "data/(\w+)/', "".join(nets))
    told = any(c.startswith(f"# first bring the data: models/{name}/readme.md") for c in commands)
    if any((ROOT / "data" / source).is_dir() for source in sources):
        assert any(c.startswith("python ") for c in commands) and not told
    elif sources and not (ROOT / "models" / name / "make_data.py").exists():
        assert told


def test_finetuning_begins_with_the_training_it_needs(call, tmp_path):
    """Down to the weights of LeNet on the digits, which the second training begins with."""
    lines = [line.strip() for line in call("init", "--from", "finetune").stdout.splitlines()]
    assert lines.index("pcd train -solver models/digits/solver.prototxt") == 2
    assert lines[4].startswith("pcd train -solver models/finetune_digits/solver.prototxt")
    short = ["--set", "max_iter=2", "--set", "test_iter=1", "--quiet"]
    for line in lines[1:5]:
        words = shlex.split(line)
        if words[0] == "pcd":
            pcd(*words[1:], *short, cwd=tmp_path)
            weights = tmp_path / "models/digits/digits_iter_2.caffemodel"
            shutil.copy(weights, tmp_path / "models/digits/digits_iter_600.caffemodel")
        else:
            subprocess.run([sys.executable, *words[1:]], cwd=tmp_path, check=True)
    assert (tmp_path / "runs/finetune_digits/finetune_digits_iter_2.caffemodel").exists()


def test_what_is_there_stays(call, tmp_path):
    (tmp_path / "README.md").write_text("mine")
    done = call("init", "--from", "digits")
    assert done.returncode == 1
    assert "README.md: is there already and differs" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["README.md"]
    (tmp_path / "README.md").unlink()
    assert call("init").returncode == call("init").returncode == 0  # the same again


def test_a_model_that_is_not_there(call):
    done = call("init", "--from", "lennet")
    assert (done.returncode, done.stderr) == (
        1,
        "pcd init: there is no model 'lennet'; did you mean \"lenet\"?\n",
    )


def test_models_side_by_side(call):
    found = {row["name"]: row for row in json.loads(call("models", "--json").stdout)}
    assert set(found) == {p.name for p in (ROOT / "models").iterdir()}
    lenet = found["lenet"]
    # 2 k² c_in c_out h w of the convolutions, 2 n m of the inner products, and what is small.
    work = 2 * (25 * 20 * 24**2 + 25 * 20 * 50 * 8**2 + 800 * 500 + 500 * 10)
    assert lenet["parameters"] == 431_080
    assert work < lenet["flops"] < 1.02 * work
    assert lenet["figure"].startswith("99.14 %")
    lines = call("models").stdout.splitlines()
    assert len(lines) == len(found) + 1
    assert next(line for line in lines if line.startswith("lenet ")).split()[1:3] == [
        "1x28x28",
        "431,080",
    ]


def test_a_model_s_files_with_paths_from_here(call, tmp_path):
    assert call("models", "get", "lenet", "nets/mine").returncode == 0
    solver = (tmp_path / "nets/mine/solver.prototxt").read_text()
    assert 'net: "nets/mine/train_val.prototxt"' in solver
    assert 'snapshot_prefix: "nets/mine/lenet"' in solver
    assert (
        "pcd train -solver nets/mine/solver.prototxt"
        in (tmp_path / "nets/mine/readme.md").read_text()
    )
    assert call("models", "show", "lenet").stdout.count("InnerProduct") == 2
    assert call("models", "got", "lenet").returncode == 2


# -- a run remembers -------------------------------------------------------------------------------

NET = """
layer { name: "d" type: "Data" top: "data" top: "label" include { phase: TRAIN }
  transform_param { crop_size: 8 scale: 0.5 mirror: true %(mean)s }
  data_param { source: "db" batch_size: 4 backend: LMDB } }
layer { name: "d" type: "Data" top: "data" top: "label" include { phase: TEST }
  transform_param { crop_size: 8 scale: 0.5 %(mean)s }
  data_param { source: "db" batch_size: 6 backend: LMDB } }
layer { name: "side" type: "InnerProduct" bottom: "data" top: "side"
  inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
layer { name: "side_loss" type: "SoftmaxWithLoss" bottom: "side" bottom: "label" top: "side_loss" }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip"
  inner_product_param { num_output: 3 weight_filler { type: "gaussian" std: 0.001 } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
layer { name: "acc" type: "Accuracy" bottom: "ip" bottom: "label" top: "acc"
  include { phase: TEST } }
"""
SOLVER = """
net: "net.prototxt" base_lr: 0.00001 lr_policy: "fixed" max_iter: 3 snapshot_prefix: "s"
test_iter: 1 test_interval: 2 random_seed: 1
"""


@pytest.fixture
def images(tmp_path):
    """Six images 10x12, in the database "db" and as PNGs; their pixels as the database has them."""
    rng = np.random.default_rng(1)
    pixels = rng.integers(0, 256, (6, 3, 10, 12), np.uint8)
    write_lmdb(tmp_path / "db", [image_record(f"{i}", p, i % 3) for i, p in enumerate(pixels)])
    (tmp_path / "db" / "labels.txt").write_text("ant\nbee\ncat\n")
    for i, image in enumerate(pixels):
        Image.fromarray(image.transpose(1, 2, 0)[:, :, ::-1].copy()).save(tmp_path / f"{i}.png")
    mean = rng.uniform(100, 150, (1, 3, 10, 12)).astype(np.float32)
    write_binaryproto(str(tmp_path / "mean.binaryproto"), mean)
    return pixels


@pytest.mark.parametrize(
    "mean", ["mean_value: 10 mean_value: 20 mean_value: 30", 'mean_file: "mean.binaryproto"', ""]
)
def test_a_run_predicts_what_its_test_net_computes(tmp_path, images, mean):
    (tmp_path / "net.prototxt").write_text(NET % {"mean": mean})
    (tmp_path / "solver.prototxt").write_text(SOLVER)
    pcd("train", "-solver", "solver.prototxt", "--run-dir", "run", "-q", cwd=tmp_path)
    (tmp_path / "mean.binaryproto").unlink()  # the run has its own
    deploy = read_net(tmp_path / "run" / "deploy.prototxt").net
    assert [layer.type for layer in deploy.layer] == ["Input", "InnerProduct", "Softmax"]
    said = pcd("predict", "--run", "run", "2.png", "--json", cwd=tmp_path)
    found = {p["label"]: p["score"] for p in json.loads(said)[0]["predictions"]}

    net = Net(
        str(tmp_path / "run" / "deploy.prototxt"),
        1,
        weights=str(tmp_path / "run/s_iter_3.caffemodel"),
    )
    facts = json.loads((tmp_path / "run" / "transform.json").read_text())
    subtracted = np.zeros((3, 1, 1), np.float32)
    if "mean_value" in mean:
        subtracted = np.array([10, 20, 30], np.float32).reshape(3, 1, 1)
    elif mean:
        subtracted = np.load(tmp_path / "run" / "mean.npy")
        assert subtracted.shape == (3, 8, 8)
    assert facts["images_dim"] == [10, 12]
    net.blobs["data"].data[0] = (images[2][:, 1:9, 2:10] - subtracted) * 0.5
    expected = net.forward()["prob"][0]
    np.testing.assert_allclose([found[n] for n in ("ant", "bee", "cat")], expected, rtol=1e-3)


def test_predictions_need_a_run_with_weights(call, tmp_path):
    done = call("predict", "--run", "nowhere", "x.png")
    assert done.returncode == 1 and "nowhere: has no transform.json" in done.stderr
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "transform.json").write_text('{"images_dim": [1, 1]}')
    done = call("predict", "--run", "run", "x.png")
    assert done.returncode == 1 and "run: has no weights yet" in done.stderr
    (tmp_path / "run" / "transform.json").write_text("{")
    (tmp_path / "run" / "a_iter_2.caffemodel").write_text("")
    done = call("predict", "--run", "run", "x.png")
    assert done.returncode == 1 and "is not what a run wrote" in done.stderr
    assert call("predict", "--run", "run", "--model", "m", "x.png").returncode == 2
    assert call("predict", "x.png").returncode == 2
    assert call("predict", "--model", "m", "x.png").returncode == 2


def test_a_run_of_a_detector_finds_boxes_by_their_names(tmp_path):
    start("ssd_shapes", str(tmp_path))
    made = [sys.executable, "data/ssd_shapes/create_ssd_shapes.py", "--images", "20"]
    subprocess.run(made, cwd=tmp_path, check=True)
    short = ["--set", "test_iter=1", "--max-iter", "2", "--quiet", "--run-dir", "run"]
    pcd("train", "-solver", "models/ssd_shapes/solver.prototxt", *short, cwd=tmp_path)
    names = ["background", "circle", "square", "triangle"]
    assert (tmp_path / "run" / "labels.txt").read_text().splitlines() == names
    Image.fromarray(np.full((80, 60, 3), 200, np.uint8)).save(tmp_path / "x.png")
    words = ["predict", "--run", "run", "x.png", "--threshold", "0", "--top", "3"]
    (said,) = json.loads(pcd(*words, "--json", cwd=tmp_path))
    assert (said["height"], said["width"], len(said["detections"])) == (80, 60, 3)
    assert all(found["label"] == names[found["class"]] for found in said["detections"])
    assert all(0 <= x <= 80 for found in said["detections"] for x in found["box"])
    table = pcd(*words, cwd=tmp_path).splitlines()
    assert len(table) == 4 and table[1].split()[1] == said["detections"][0]["label"]
    words[words.index("0")] = "1.1"  # no box is as sure as that
    assert len(pcd(*words, cwd=tmp_path).splitlines()) == 1


def test_a_net_for_pixels_is_sent_to_segment(call, tmp_path):
    net = """
      layer { name: "data" type: "Input" top: "data"
        input_param { shape { dim: 1 dim: 3 dim: 6 dim: 5 } } }
      layer { name: "score" type: "Convolution" bottom: "data" top: "score"
        convolution_param { num_output: 2 kernel_size: 1 } }
    """
    (tmp_path / "fcn.prototxt").write_text(net)
    Net(str(tmp_path / "fcn.prototxt"), 1).save(str(tmp_path / "w.caffemodel"))
    Image.fromarray(np.zeros((6, 5, 3), np.uint8)).save(tmp_path / "x.png")
    done = call("predict", "x.png", "--model", "fcn.prototxt", "--weights", "w.caffemodel")
    assert done.returncode == 1
    assert "gives 2x6x5 values for an image" in done.stderr and "`pcd segment`" in done.stderr


# -- quickstart ------------------------------------------------------------------------------------


@pytest.fixture
def photos(tmp_path):
    """Three classes: bright to the left, to the right, and nowhere."""
    rng = np.random.default_rng(1)
    for name, columns in (("left", slice(0, 9)), ("none", slice(0, 0)), ("right", slice(9, 18))):
        (tmp_path / "my photos" / name).mkdir(parents=True)
        for i in range(12):
            image = rng.integers(0, 60, (16, 18, 3), np.uint8)
            image[:, columns] += 180
            Image.fromarray(image).save(tmp_path / "my photos" / name / f"{i}.png")
    return tmp_path


def test_from_class_folders_to_a_classifier(photos):
    words = ["--model", "lenet", "--epochs", "8", "--batch", "10", "--rate", "0.01"]
    said = pcd("quickstart", "my photos", *words, cwd=photos)
    assert "3 classes, 30 images to train, 6 to test" in said
    assert "pcd predict --run 'runs/my photos' image.jpg" in said
    run = photos / "runs" / "my photos"
    assert (run / "labels.txt").read_text() == "left\nnone\nright\n"
    assert "batch_size: 10\n" in (run / "model" / "train_val.prototxt").read_text()
    labels = {
        part: [
            parse_datum(v).label for _, v in records_of(str(run / "data" / f"{part}_lmdb"), "lmdb")
        ]
        for part in ("train", "test")
    }
    assert labels["test"] == sorted(labels["test"]) and labels["train"] != sorted(labels["train"])
    assert (run / "training.png").read_bytes().startswith(b"\x89PNG")
    tests = [
        json.loads(line)["outputs"]["accuracy"]
        for line in (run / "metrics.jsonl").read_text().splitlines()
        if '"test"' in line
    ]
    assert max(tests) == 1.0
    for name in ("left", "none", "right"):
        said = pcd("predict", "--run", run, f"my photos/{name}/3.png", "--json", cwd=photos)
        assert json.loads(said)[0]["predictions"][0]["label"] == name
    # A second run has a folder of its own.
    pcd("quickstart", "my photos", *words[:2], "--epochs", "1", "--batch", "10", cwd=photos)
    assert (photos / "runs" / "my photos-2" / "best.caffemodel").exists()


def test_a_net_for_other_classes(photos):
    from pycaffe_dist.tools.quickstart import QuickstartOptions, prepare, split, test_batch

    out = str(photos / "out")
    ready = prepare(
        QuickstartOptions(str(photos / "my photos"), "bvlc_googlenet", out, weights="x.caffemodel")
    )
    net = read_net(photos / "out" / "model" / "train_val.prototxt").net
    by_name = {layer.name: layer for layer in net.layer}
    for name in ("loss1/classifier", "loss2/classifier", "loss3/classifier"):
        assert name not in by_name
        renamed = by_name[f"{name}_new"]
        assert renamed.inner_product_param.num_output == 3
        assert [p.lr_mult for p in renamed.param] == [10, 20]
    assert not [layer for layer in net.layer if layer.accuracy_param.top_k > 3]
    assert by_name[ready.score if ready.score in by_name else "loss3/top-1"].type == "Accuracy"
    data = [layer for layer in net.layer if layer.type == "Data"]
    assert {layer.transform_param.crop_size for layer in data} == {224}
    assert all(len(layer.transform_param.mean_value) == 3 for layer in data)
    entries = [(f"{i}", i % 2) for i in range(21)]
    train, test = split(entries, ["a", "b"], 0.25, 3)
    assert sorted(train + test) == sorted(entries)
    assert [sum(1 for _, label in test if label == c) for c in (0, 1)] == [3, 2]
    assert split(entries, ["a", "b"], 0.25, 3) == (train, test)
    assert [test_batch(n) for n in (3, 50, 60, 101, 1000)] == [3, 50, 30, 50, 50]


def test_what_quickstart_refuses(call, photos):
    assert call("quickstart", "my photos", "--model", "lstm").stderr.startswith(
        "pcd quickstart: model lstm: does not learn the classes of images"
    )
    assert not (photos / "runs").exists()
    shutil.rmtree(photos / "my photos" / "left")
    (photos / "my photos" / "left").mkdir()
    done = call("quickstart", "my photos", "--model", "lenet")
    assert "class 'left' has 0 image(s): two are needed" in done.stderr
    assert call("quickstart", "my photos", "--test-part", "1").returncode == 2
