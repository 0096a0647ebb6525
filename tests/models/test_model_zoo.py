"""Every folder of models/: complete, of its published shape, named as its published weights are."""

import importlib.util
import json
import math
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import h5py
import lmdb
import numpy as np
import pytest
import warm
from PIL import Image

from pycaffe_dist.data.annotations import parse_annotated, write_annotated
from pycaffe_dist.data.hdf5_sink import write_listed
from pycaffe_dist.data.lmdb_writer import image_record, write_lmdb
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN, Datum, NetParameter, NetState
from pycaffe_dist.proto.nets import read_net, upgraded
from pycaffe_dist.proto.state import filter_net
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.proto.weights import read_weights
from pycaffe_dist.tools.check import check_file
from pycaffe_dist.tools.fake_data import fake_data

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "models"
ZOO = ROOT.parent / "shared" / "zoo"
DRAWN = ROOT / "data" / "ssd_shapes" / "create_ssd_shapes.py"

# Stored values of the deploy net, all blobs as Caffe stores them.  torchvision and Keras count what
# is learned only; BatchNorm's means, variances ("statistics") and factors come on top of that.
PARAMETERS = {
    "bvlc_alexnet": 60_965_224,
    "bvlc_googlenet": 6_998_552,
    "bvlc_reference_caffenet": 60_965_224,
    "bvlc_reference_rcnn_ilsvrc13": 57_687_624,
    "cifar10_full": 89_578,
    "cifar10_quick": 145_578,
    "crnn": 8_329_768,
    "ctc_digits": 122_510,
    "densenet121": 7_978_856 + 2 * 41_824 + 121,  # torchvision, statistics, factors
    "digits": 431_080,
    "faster_rcnn_zf": 59_294_751,
    "fcn": 61_224,
    "finetune_digits": 427_072,
    "finetune_flickr_style": 56_950_164,
    "hdf5_classification": 10,
    "lenet": 431_080,
    "lstm": 5_640,
    "mnist_autoencoder": 2_837_314,
    "mnist_siamese": 431_102,
    "mobilenet_ssd": 5_821_468,
    "mobilenet_v1": 4_231_976 + 2 * 10_944 + 27,  # Keras, statistics, factors
    "nin": 7_595_176,
    "pspnet50": 46_841_174,
    "resnet152": 60_192_808 + 2 * 75_712 + 155,  # torchvision, statistics, factors
    "resnet20_cifar": 274_847,
    "resnet50": 25_557_032 + 2 * 26_560 + 53 + 64,  # and the bias of conv1
    "segnet_basic": 1_416_587,
    "squeezenet_v1.1": 1_235_496,
    "ssd300_vgg16": 26_285_486,
    "ssd_shapes": 121_205,
    "vgg16": 138_357_544,
    "vgg19": 143_667_240,
    "vgg19_22k": 229_052_817,
}
# What training has besides: heads of GoogLeNet and PSPNet, the second of two nets that share all.
ONLY_IN_TRAINING = {
    "pspnet50": re.compile(r"conv[46]_aux"),
    "bvlc_googlenet": re.compile(r"loss[12]/"),
    "mnist_siamese": re.compile(r".*_p$"),
}
DEPLOY_ONLY = {"bvlc_reference_rcnn_ilsvrc13"}
STAGES = {"mnist_autoencoder": ["test-on-test"]}

every_model = pytest.mark.parametrize("model", PARAMETERS)
every_trained_model = pytest.mark.parametrize(
    "model", [name for name in PARAMETERS if name not in DEPLOY_ONLY]
)
need_zoo = pytest.mark.skipif(not ZOO.exists(), reason="no ../shared beside the repository")


# -- data that say what shape they have ------------------------------------------------------------


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    """A folder as the project's, with data for the nets whose shapes only data tell."""
    folder = tmp_path_factory.mktemp("workplace")
    (folder / "models").symlink_to(MODELS)
    for name, shape in {
        "mnist/mnist_{}_lmdb": (1, 28, 28),
        "digits/digits_{}_lmdb": (1, 28, 28),
        "digits/odd_{}_lmdb": (1, 28, 28),
        "cifar10/cifar10_{}_lmdb": (3, 32, 32),
    }.items():
        for part in ("train", "test"):
            records = [
                image_record(f"{i:05d}", np.full(shape, 10 * i, np.uint8), i % 2) for i in range(4)
            ]
            write_lmdb(folder / "data" / name.format(part), records)
    run(folder, "mnist_siamese/make_data.py", "--from", "data/mnist", "--out", "data/mnist")
    run(folder, "resnet20_cifar/make_data.py", "--from", "data/cifar10", "--out", "data/cifar10")
    run(folder, "lstm/make_data.py", "--out", "data/lstm")
    run(folder, "fcn/make_data.py", "--out", "data/shapes")
    run(folder, "hdf5_classification/make_data.py", "--out", "data/hdf5_classification")
    run(folder, "ctc_digits/make_data.py", "--out", "data/ctc_digits", "--strings", "4")
    run(folder, DRAWN, "--out", "data/ssd_shapes", "--images", "4")
    words = {"data": np.zeros((4, 1, 32, 100), "f4"), "label": np.ones((4, 7), "f4")}
    for part in ("train", "test"):
        (folder / "data/mjsynth").mkdir(parents=True, exist_ok=True)
        write_listed(folder / "data/mjsynth", part, words, folder)
    labelled_images(folder, "camvid", ("train", "test"), (360, 480))
    labelled_images(folder, "ade20k", ("train", "val"), (473, 473))
    for part in ("trainval", "test"):
        key, datum = image_record("0", np.zeros((3, 75, 100), np.uint8), -1)
        record = key, write_annotated(datum, [[1, 0, 0.1, 0.1, 0.9, 0.9, 0]])
        write_lmdb(folder / f"data/VOC0712/VOC0712_{part}_lmdb", [record])
    return folder


def labelled_images(folder, name, parts, size):
    """Lists of one image and its labels, and those."""
    root = folder / "data" / name
    root.mkdir(parents=True)
    prefix = "" if name == "ade20k" else f"data/{name}/"  # that net has a root_folder
    for kind in ("image", "label"):
        Image.new("L" if kind == "label" else "RGB", size[::-1]).save(root / f"{kind}.png")
    for part in parts:
        (root / f"{part}.txt").write_text(f"{prefix}image.png {prefix}label.png\n")


@pytest.fixture
def here(workplace, monkeypatch):
    monkeypatch.chdir(workplace)
    return workplace


def run(folder, script, *arguments):
    command = [sys.executable, MODELS / script, *arguments]  # or one of data/, by its whole path
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stderr
    return done.stdout


@cache
def parameters(path, phase, stages=()):
    """Name -> shapes of the blobs of each layer that has some."""
    file = read_net(path)
    file.net.state.CopyFrom(NetState(phase=phase, stage=stages))
    return blobs_by_layer(Net(file, Context(dry=True)))


def blobs_by_layer(net):
    layers = zip(net.layer_names, net.layers, strict=True)
    return {name: [blob.shape for blob in layer.blobs] for name, layer in layers if layer.blobs}


def of_deploy(model):
    return parameters(MODELS / model / "deploy.prototxt", TEST)


def of_train_val(model, phase):
    stages = tuple(STAGES.get(model, ())) if phase == TEST else ()
    return parameters(MODELS / model / "train_val.prototxt", phase, stages)


def count(layers):
    return sum(math.prod(shape) for shapes in layers.values() for shape in shapes)


# -- the folders -----------------------------------------------------------------------------------


def test_every_folder_has_its_count():
    assert sorted(p.name for p in MODELS.iterdir() if p.is_dir()) == sorted(PARAMETERS)


@every_model
def test_a_folder_is_complete(model):
    wanted = {"deploy.prototxt", "readme.md"}
    if model not in DEPLOY_ONLY:
        wanted |= {"train_val.prototxt", "solver.prototxt"}
    assert wanted <= {p.name for p in (MODELS / model).iterdir()}


@every_model
def test_a_readme_says_how_large_the_net_is_and_what_to_type(model):
    text = (MODELS / model / "readme.md").read_text()
    assert re.search(rf"(?<![\d,]){PARAMETERS[model]:,}(?!,?\d)", text)
    if model in DEPLOY_ONLY:
        assert re.search(rf"^pcd check models/{model}/deploy.prototxt", text, re.M)
        return
    assert re.search(rf"^pcd train -solver models/{model}/solver.prototxt", text, re.M)
    if model != "digits":
        assert re.search(
            rf"^pcd train -solver models/{model}/\S+ (-weights \S+ )?--ranks 4$", text, re.M
        )


@every_model
def test_the_table_of_models_has_it(model):
    text = (ROOT / "docs" / "models.md").read_text()
    row = next(line for line in text.splitlines() if f"(../models/{model}/readme.md)" in line)
    assert f"| {PARAMETERS[model]:,} " in row


# -- the nets --------------------------------------------------------------------------------------


@every_model
def test_the_number_of_parameters(model):
    assert count(of_deploy(model)) == PARAMETERS[model]


def test_googlenet_is_trained_with_two_heads():
    assert count(of_train_val("bvlc_googlenet", TRAIN)) == 13_378_280


def test_the_two_layer_variant(here):
    deploy = parameters(MODELS / "hdf5_classification" / "nonlinear_deploy.prototxt", TEST)
    train = parameters(MODELS / "hdf5_classification" / "nonlinear_train_val.prototxt", TRAIN)
    assert train == deploy == {"fc1": [(40, 4), (40,)], "fc2": [(2, 40), (2,)]}


@every_trained_model
@pytest.mark.parametrize("phase", [TRAIN, TEST], ids=["TRAIN", "TEST"])
def test_training_and_deployed_net_have_the_same_parameters(model, phase, here):
    train, deploy = of_train_val(model, phase), of_deploy(model)
    more = {name: train.pop(name) for name in set(train) - set(deploy)}
    assert train == deploy
    assert all(ONLY_IN_TRAINING[model].match(name) for name in more)


def test_siamese_halves_share_every_parameter(here):
    file = read_net("models/mnist_siamese/train_val.prototxt")
    file.net.state.phase = TRAIN
    net = Net(file, Context(dry=True))
    assert sum(p.blob.count for p in net.params.learnable) == PARAMETERS["mnist_siamese"]


@every_trained_model
def test_the_solver_is_fine_and_so_are_its_nets(model, here):
    for path in sorted(Path("models", model).glob("*solver.prototxt")):
        report = check_file(path)
        assert (report.errors, report.warnings) == ([], [])


@every_model
def test_the_deployed_net_is_fine(model):
    for path in sorted((MODELS / model).glob("*deploy.prototxt")):
        report = check_file(path)
        assert (report.errors, report.warnings) == ([], [])


@pytest.mark.parametrize(
    ("model", "name", "shape"),
    [
        ("bvlc_alexnet", "prob", (10, 1000)),
        ("bvlc_reference_rcnn_ilsvrc13", "fc-rcnn", (10, 200)),
        ("finetune_flickr_style", "prob", (10, 20)),
        ("densenet121", "pool1", (1, 64, 56, 56)),
        ("densenet121", "concat_5_16", (1, 1024, 7, 7)),
        ("fcn", "prob", (1, 4, 48, 48)),
        ("lstm", "prob", (20, 1, 8)),
        ("mnist_autoencoder", "encode4", (100, 30)),
        ("mobilenet_v1", "pool6", (1, 1024, 1, 1)),
        ("nin", "prob", (10, 1000, 1, 1)),
        ("resnet152", "res5c", (1, 2048, 7, 7)),
        ("squeezenet_v1.1", "conv10", (10, 1000, 14, 14)),
        ("vgg19_22k", "prob", (10, 21841)),
        ("ssd300_vgg16", "mbox_priorbox", (1, 2, 4 * 8732)),
        ("ssd300_vgg16", "mbox_conf", (1, 21 * 8732)),
        ("mobilenet_ssd", "mbox_priorbox", (1, 2, 4 * 1917)),
        ("mobilenet_ssd", "conv17_2", (1, 128, 1, 1)),
        ("faster_rcnn_zf", "rpn_cls_score", (1, 18, 39, 51)),
        ("faster_rcnn_zf", "roi_pool_conv5", (300, 256, 6, 6)),
        ("segnet_basic", "upsample4", (1, 64, 45, 60)),
        ("segnet_basic", "argmax", (1, 1, 360, 480)),
        ("pspnet50", "conv5_3_concat", (1, 4096, 60, 60)),
        ("pspnet50", "prob", (1, 150, 473, 473)),
        ("crnn", "sequence", (26, 1, 512)),
        ("crnn", "embed2", (26, 1, 37)),
        ("ctc_digits", "sequence", (24, 1, 11, 1)),
    ],
)
def test_blobs_on_the_way(model, name, shape):
    file = read_net(MODELS / model / "deploy.prototxt")
    net = Net(file, Context(dry=True))
    assert net.blobs[net.blob_ids[name]].shape == shape


@pytest.mark.parametrize("side", [32, 45, 51])
def test_fcn_takes_images_of_any_size(side):
    file = read_net(MODELS / "fcn" / "deploy.prototxt")
    file.net.layer[0].input_param.shape[0].dim[2:] = [side, side]
    net = Net(file, Context(dry=True))
    assert net.blobs[net.blob_ids["prob"]].shape == (1, 4, side, side)


# -- scripts/make_models.py ------------------------------------------------------------------------


@pytest.fixture
def make_models(monkeypatch, tmp_path):
    """The script, with a folder of its own to write to."""
    spec = importlib.util.spec_from_file_location("make_models", ROOT / "scripts/make_models.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "make_models", module)  # its dataclasses look for it there
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["make_models.py", *arguments])
        return module.main()

    return call


@pytest.mark.parametrize("script", ["make_models.py", "make_fork_models.py"])
def test_the_committed_files_are_what_the_script_writes(script):
    command = [sys.executable, ROOT / "scripts" / script, "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150)
    assert (done.returncode, done.stdout) == (0, "")


def test_check_finds_what_differs_and_writes_nothing(make_models, tmp_path, capsys):
    assert make_models("lenet", "vgg16") == 0
    written = tmp_path / "models" / "vgg16" / "deploy.prototxt"
    assert written.read_text() == (MODELS / "vgg16" / "deploy.prototxt").read_text()
    assert make_models("--check", "lenet", "vgg16") == 0
    written.write_text("changed")
    assert make_models("--check", "lenet", "vgg16") == 1
    assert capsys.readouterr().out.startswith("models/vgg16/deploy.prototxt differs; run: ")
    assert written.read_text() == "changed"
    assert make_models() == 0
    assert written.read_text() != "changed"


def test_an_unknown_model_is_refused(make_models, capsys):
    with pytest.raises(SystemExit):
        make_models("vgg17")
    assert "vgg16" in capsys.readouterr().err


# -- data that models make -------------------------------------------------------------------------


def datasets(path):
    with h5py.File(path) as file:
        return {name: values[()] for name, values in file.items()}


@pytest.mark.parametrize(
    ("model", "folder"),
    [("lstm", "lstm"), ("fcn", "shapes"), ("hdf5_classification", "hdf5_classification")],
)
def test_made_data_are_the_same_every_time(model, folder, workplace, tmp_path):
    run(tmp_path, f"{model}/make_data.py", "--out", "again")
    for part in ("train", "test"):
        first = datasets(workplace / "data" / folder / f"{part}.h5")
        second = datasets(tmp_path / "again" / f"{part}.h5")
        assert first.keys() == second.keys()
        for name, values in first.items():
            assert values.dtype == np.float32
            np.testing.assert_array_equal(values, second[name])
        listed = (tmp_path / "again" / f"{part}.txt").read_text()
        assert listed == f"{Path('again', part)}.h5\n"


def test_lstm_labels_are_the_symbols_marked_last(workplace):
    test = datasets(workplace / "data/lstm/test.h5")
    assert test["batch"].shape == (25, 20, 32, 9)
    symbols, marked = test["batch"][..., :8].argmax(-1), test["batch"][..., 8]
    for batch in range(2):
        for sequence in range(32):
            last = None
            for step in range(20):
                if marked[batch, step, sequence]:
                    last = symbols[batch, step, sequence]
                assert test["batch_label"][batch, step, sequence] == last
    assert (test["batch_cont"][:, 0] == 0).all()
    assert (test["batch_cont"][:, 1:] == 1).all()


def test_shapes_have_every_class(workplace):
    train = datasets(workplace / "data/shapes/train.h5")
    assert train["data"].shape == (400, 3, 48, 48)
    classes, counts = np.unique(train["label"], return_counts=True)
    assert classes.tolist() == [0, 1, 2, 3]
    assert counts.min() > 0.03 * counts.sum()


def test_points_are_of_both_classes_equally(workplace):
    test = datasets(workplace / "data/hdf5_classification/test.h5")
    assert test["data"].shape == (2500, 4)
    assert abs(test["label"].mean() - 0.5) < 0.05


def records(path):
    with lmdb.open(str(path), readonly=True, lock=False) as env, env.begin() as transaction:
        return [(key, Datum.FromString(value)) for key, value in transaction.cursor()]


def test_pairs_of_digits(workplace):
    pairs = records(workplace / "data/mnist/mnist_siamese_train_lmdb")
    assert [key for key, _ in pairs] == [b"%08d" % i for i in range(4)]
    for _, datum in pairs:
        first, second = np.frombuffer(datum.data, np.uint8).reshape(2, 784)[:, 0] // 10
        assert (datum.channels, datum.height, datum.width) == (2, 28, 28)
        assert datum.label == (first % 2 == second % 2)


def test_padded_images(workplace):
    padded = records(workplace / "data/cifar10/cifar10_padded_train_lmdb")
    for i, (key, datum) in enumerate(padded):
        pixels = np.frombuffer(datum.data, np.uint8).reshape(3, 40, 40)
        assert (key, datum.label) == (b"%05d" % i, i % 2)
        assert (pixels[:, 4:-4, 4:-4] == 10 * i).all()
        assert pixels[:, 0, 0].tolist() == pixels[:, -1, 3].tolist() == [125, 123, 114]


@pytest.mark.parametrize("model", ["mnist_siamese", "resnet20_cifar"])
def test_data_that_are_needed_first_are_named(model, tmp_path):
    command = [sys.executable, MODELS / model / "make_data.py", "--from", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150)
    assert done.returncode == 1
    assert "run first: python data/" in done.stderr


@pytest.mark.parametrize(
    ("solver", "iterations", "accuracy"),
    [
        ("lstm/solver", 200, 0.98),
        ("hdf5_classification/solver", 1000, 0.7),
        ("hdf5_classification/nonlinear_solver", 1000, 0.8),
    ],
)
def test_what_is_made_can_be_learned(solver, iterations, accuracy, workplace, tmp_path):
    command = ["train", "-solver", f"models/{solver}.prototxt"]
    for setting in (f"max_iter={iterations}", f"snapshot_prefix={tmp_path}/weights"):
        command += ["--set", setting]
    done = warm.pcd(*command, cwd=workplace)
    assert done.returncode == 0, done.stderr
    found = re.findall(r"Test net output #0: accuracy = (\S+)", done.stderr)
    assert float(found[-1]) >= accuracy


def test_made_strings_are_digits_side_by_side(workplace):
    found = datasets(workplace / "data" / "ctc_digits" / "train.h5")
    assert found["data"].shape == (4, 1, 28, 96)
    lengths = (found["label"] > 0).sum(1)
    assert found["label"].max() <= 10
    assert ((lengths >= 2) & (lengths <= 4)).all()
    assert all((row[:n] > 0).all() for row, n in zip(found["label"], lengths, strict=True))
    # Columns with ink are those of the digits, which are 20 pixels wide each.
    assert ((found["data"].max(axis=(1, 2)) > 0).sum(1) <= 20 * lengths).all()


def test_drawn_shapes_are_in_their_boxes(workplace):
    path = workplace / "data/ssd_shapes/ssd_shapes_test_lmdb"
    with lmdb.open(str(path), lock=False) as db, db.begin() as transaction:
        values = [bytes(value) for _, value in transaction.cursor()]
    assert len(values) == 4
    drawn = 0
    for value in values:
        datum, boxes = parse_annotated(value)
        image = np.frombuffer(Datum.FromString(bytes(datum)).data, np.uint8).reshape(3, 64, 64)
        ground = np.median(image, axis=(1, 2))
        for label, _, *corners, difficult in boxes:
            x1, y1, x2, y2 = (round(float(c) * 64) for c in corners)
            assert label in (1, 2, 3) and not difficult
            middle = image[:, (y1 + y2) // 2, (x1 + x2) // 2]
            assert abs(middle - ground).sum() > 20
            assert 12 <= x2 - x1 == y2 - y1 <= 34
            drawn += 1
    assert drawn


# -- against nets and weights of others ------------------------------------------------------------

SAME_NETS = [
    ("lenet/deploy", "BVLC+caffe/examples/mnist/lenet"),
    ("lenet/train_val", "BXuan694+Caffe/examples/mnist/lenet_train_test"),
    ("cifar10_quick/deploy", "BVLC+caffe/examples/cifar10/cifar10_quick"),
    ("cifar10_quick/train_val", "BVLC+caffe/examples/cifar10/cifar10_quick_train_test"),
    ("cifar10_full/deploy", "BVLC+caffe/examples/cifar10/cifar10_full"),
    ("cifar10_full/train_val", "BVLC+caffe/examples/cifar10/cifar10_full_train_test"),
    ("mnist_autoencoder/train_val", "ZhitingHu+NN/examples/mnist/mnist_autoencoder"),
    ("mnist_siamese/deploy", "BVLC+caffe/examples/siamese/mnist_siamese"),
    ("bvlc_alexnet/deploy", "BVLC+caffe/models/bvlc_alexnet/deploy"),
    ("bvlc_alexnet/train_val", "BXuan694+Caffe/models/bvlc_alexnet/train_val"),
    (
        "bvlc_reference_caffenet/deploy",
        "facebook+C3D/C3D-v1.0/examples/imagenet/imagenet_deploy",
    ),
    (
        "finetune_flickr_style/train_val",
        "junhyukoh+caffe-lstm/models/finetune_flickr_style/train_val",
    ),
    ("bvlc_googlenet/deploy", "opencv+opencv_extra/testdata/dnn/bvlc_googlenet"),
    ("bvlc_googlenet/train_val", "pmgysel+caffe@parallel/models/bvlc_googlenet/train_val"),
    ("vgg16/deploy", "BXuan694+Caffe/models/vggnet/VGG_ILSVRC_16_layers_deploy"),
    ("vgg19/deploy", "BXuan694+Caffe/models/vggnet/VGG_ILSVRC_19_layers_deploy"),
    ("nin/train_val", "aixi+forward_cnn/train_val_nin"),
    (
        "squeezenet_v1.1/deploy",
        "OAID+Caffe-HRT/models/SqueezeNet/SqueezeNet_v1.1/squeezenet.1.1.deploy",
    ),
    ("resnet50/deploy", "opencv+opencv_extra/testdata/dnn/ResNet-50-deploy"),
    ("densenet121/deploy", "shicai+DenseNet-Caffe/DenseNet_121"),
]
# Their last layer is for other classes than ImageNet's.
OTHER_CLASSES = {"aixi+forward_cnn/train_val_nin", "BXuan694+Caffe/models/bvlc_alexnet/train_val"}
SAME_WEIGHTS = [
    ("lenet", "345ishaan+Digit-Recognizer/_iter_10000.caffemodel"),
    (
        "cifar10_full",
        "BXuan694+Caffe@hist-20afa344/examples/cifar10/cifar10_full_iter_30000.caffemodel.h5",
    ),
    ("cifar10_full", "yuvval+nn_ex1/examples/cifar10/cifar10_full_iter_70000.caffemodel"),
    (
        "resnet20_cifar",
        "LiJianfei06+caffe-project-VggNet-ResNet-DenseNet/ljftest_cifar10_ResNet-20/model_save/"
        "cifar10_ResNet_20_iter_53500.caffemodel",
    ),
]


def read_zoo(name):
    """A net of the zoo; DenseNet's has a field of a fork, for which Caffe has another now."""
    path = ZOO / "nets" / f"{name}.prototxt"
    text = path.read_text().replace("ceil_mode: false", "round_mode: FLOOR")
    return upgraded(parse_text(text, NetParameter(), str(path)))


def structure(file, phase, stages):
    """Name -> type, bottoms, tops and what the layer does, of layers that compute."""
    net = filter_net(file.net, NetState(phase=phase, stage=stages))
    return {
        layer.name: (layer.type, list(layer.bottom), list(layer.top), *what_it_does(layer))
        for layer in net.layer
        if layer.bottom and layer.type not in LEFT_OUT
    }


# They end nets, or stand in them, each author in his own way.
LEFT_OUT = {"Accuracy", "Softmax", "SoftmaxWithLoss", "EuclideanLoss", "SigmoidCrossEntropyLoss"}


def what_it_does(layer):
    if layer.type == "Convolution":
        p = layer.convolution_param
        # An absent repeated field is Caffe's default.
        return (
            p.num_output,
            p.bias_term,
            *p.kernel_size,
            *(p.stride or [1]),
            *(p.pad or [0]),
            p.group,
        )
    if layer.type == "Pooling":
        p = layer.pooling_param
        return p.pool, p.kernel_size, p.stride, p.pad, p.global_pooling, p.round_mode
    if layer.type == "InnerProduct":
        return layer.inner_product_param.num_output, layer.inner_product_param.bias_term
    if layer.type == "LRN":
        p = layer.lrn_param
        return p.local_size, p.alpha, p.beta, p.k, p.norm_region
    if layer.type == "Dropout":
        return (layer.dropout_param.dropout_ratio,)
    if layer.type == "Eltwise":
        return layer.eltwise_param.operation, *layer.eltwise_param.coeff
    if layer.type == "Scale":
        return (layer.scale_param.bias_term,)
    return ()


@need_zoo
@pytest.mark.parametrize(("ours", "theirs"), SAME_NETS, ids=[ours for ours, _ in SAME_NETS])
@pytest.mark.parametrize("phase", [TRAIN, TEST], ids=["TRAIN", "TEST"])
def test_layer_for_layer_the_net_of_others(ours, theirs, phase):
    stages = STAGES.get(ours.split("/")[0], []) if phase == TEST else []
    mine = structure(read_net(MODELS / f"{ours}.prototxt"), phase, stages)
    other = structure(read_zoo(theirs), phase, stages)
    if theirs in OTHER_CLASSES:
        last = [name for name, layer in mine.items() if 1000 in layer][-1]
        mine.pop(last), other.pop(last)
    assert mine == other
    assert [n for n in mine if n != "flatdata"] == [n for n in other if n != "flatdata"]


# Of the others, the last layer is for other classes, or data that we do not have tell the shapes.
BUILDABLE = [
    (ours, theirs)
    for ours, theirs in SAME_NETS
    if theirs not in OTHER_CLASSES and not re.match("(lenet|cifar10_.*|mnist_.*)/train_val", ours)
]


@need_zoo
@pytest.mark.parametrize(("ours", "theirs"), BUILDABLE, ids=[ours for ours, _ in BUILDABLE])
def test_parameters_of_others(ours, theirs):
    answers = json.loads((ZOO / "answers.json").read_text()).get(f"{theirs}.prototxt")
    if answers:  # what Caffe itself said
        expected = {
            name: [tuple(shape) for shape in shapes] for name, shapes in answers["params"].items()
        }
    else:
        file = read_zoo(theirs)
        file.net.state.phase = TEST
        expected = blobs_by_layer(Net(file, Context(dry=True)))
    assert parameters(MODELS / f"{ours}.prototxt", TEST) == expected


# Nets of forks, whose layers are more than `structure` compares: their parameters are the same.
SAME_PARAMETERS = [
    ("segnet_basic", "alexgkendall+SegNet-Tutorial/Example_Models/segnet_basic_camvid", TEST),
    (
        "pspnet50",
        "foss-for-synopsys-dwc-arc-processors+synopsys-caffe/evaluation/prototxt/"
        "pspnet50_ADE20K_473",
        TEST,
    ),
    ("mobilenet_ssd", "chuanqi305+MobileNet-SSD/train", TRAIN),
    ("faster_rcnn_zf", "opencv+opencv_extra/testdata/dnn/faster_rcnn_zf", TEST),
]


@need_zoo
@pytest.mark.parametrize(("model", "theirs", "phase"), SAME_PARAMETERS)
def test_parameters_of_fork_nets(model, theirs, phase):
    file = read_net(ZOO / "nets" / f"{theirs}.prototxt")
    if phase == TRAIN:
        file.net.CopyFrom(fake_data(file.net, batch_size=1))
    file.net.state.phase = phase
    kept = [layer for layer in file.net.layer if layer.type != "DetectionOutput"]
    del file.net.layer[:]
    file.net.layer.extend(kept)
    assert blobs_by_layer(Net(file.net, Context(dry=True))) == of_deploy(model)


@need_zoo
@pytest.mark.parametrize(("model", "weights"), SAME_WEIGHTS)
def test_published_weights_fit(model, weights):
    layers = read_weights(ZOO / "nets" / weights).layers
    found = {layer.name: [b.data.shape for b in layer.blobs] for layer in layers if layer.blobs}
    wanted = of_deploy(model)
    assert {n: list(map(trimmed, s)) for n, s in found.items()} == {
        n: list(map(trimmed, s)) for n, s in wanted.items()
    }


def trimmed(shape):
    """Old files write an inner product's shapes with four axes."""
    while len(shape) > 1 and shape[0] == 1:
        shape = shape[1:]
    return shape
