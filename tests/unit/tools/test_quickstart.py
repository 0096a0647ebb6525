"""How many images of each class, batch and step a quickstart takes."""

import pytest

from pycaffe_dist.errors import PcdError
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.classes import Template
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.tools import quickstart
from pycaffe_dist.tools.quickstart import QuickstartOptions, split


def entries(*counts):
    return [(f"{label}/{i}", label) for label, count in enumerate(counts) for i in range(count)]


@pytest.mark.parametrize(("count", "tests"), [(2, 1), (3, 1), (4, 1), (10, 2), (13, 3), (100, 20)])
def test_a_part_of_each_class_is_kept_for_tests(count, tests):
    train, test = split(entries(count, 10), ["a", "b"], 0.2, 1)
    assert [label for _, label in test].count(0) == tests
    assert [label for _, label in test].count(1) == 2
    assert sorted(train + test) == sorted(entries(count, 10))
    assert split(entries(count, 10), ["a", "b"], 0.2, 1) == (train, test)


def test_one_image_at_least_is_trained_with():
    train, test = split(entries(4), ["a"], 1.0, 1)
    assert (len(train), len(test)) == (1, 3)
    one, other = (split(entries(50), ["a"], 0.5, seed)[1] for seed in (1, 2))
    assert one != other


@pytest.mark.parametrize("count", [0, 1])
def test_a_class_needs_two_images(count):
    with pytest.raises(PcdError, match=rf"class 'b' has {count} image\(s\): two are needed"):
        split(entries(2, count), ["a", "b"], 0.2, 1)


@pytest.mark.parametrize(
    ("images", "batch"),
    [(5, 5), (9, 9), (10, 10), (24, 24), (100, 50), (53, 50), (77, 11)],
)
def test_whole_batches_make_the_test_set_if_some_do(images, batch):
    assert quickstart.TEST_BATCH == 50
    assert quickstart.test_batch(images) == batch


@pytest.mark.parametrize(
    ("train", "epoch", "display"),
    [(1, 1, 1), (32, 2, 2), (33, 3, 3), (320, 20, 20), (999, 63, 20)],
)
def test_the_solver_is_for_so_many_images(train, epoch, display):
    template = Template.__new__(Template)
    object.__setattr__(template, "batch", 64)
    options = QuickstartOptions("photos", model="lenet", output="out", epochs=4, seed=7)
    made = quickstart._solver(options, template, 16, train, 3)
    given = quickstart.read_solver(quickstart.shipped.model("lenet") / "solver.prototxt").message
    assert made.base_lr == pytest.approx(given.base_lr * 16 / 64)
    assert (made.lr_policy, made.power, made.max_iter) == ("poly", 1, 4 * epoch)
    assert (list(made.test_iter), made.test_interval) == ([3], epoch)
    assert (made.test_initialization, made.display, made.average_loss) == (False, display, 1)
    assert (made.snapshot, made.snapshot_prefix, made.random_seed) == (0, "out/lenet", 7)
    assert made.net == "out/model/train_val.prototxt"
    assert not any(made.HasField(name) for name in ("gamma", "stepsize", "iter_size"))
    rated = quickstart._solver(
        QuickstartOptions("photos", model="lenet", output="out", rate=0.0), template, 16, train, 3
    )
    assert rated.base_lr == 0


LEARNED = """
layer { name: "test" type: "Data" top: "data" top: "label" include { phase: TEST }
  data_param { batch_size: 3 } transform_param { crop_size: 4 } }
layer { name: "train" type: "Data" top: "data" top: "label" include { phase: TRAIN }
  data_param { batch_size: 8 } transform_param { crop_size: 5 } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
"""


def template_of(text):
    return Template.of(parse_text(text, NetParameter()).message, "mine")


def test_a_template_has_the_batch_and_crop_of_training():
    template = template_of(LEARNED)
    assert (template.batch, template.crop, template.last) == (8, 5, ["ip"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"SoftmaxWithLoss"', '"EuclideanLoss"'),
        ('name: "train" type: "Data"', 'name: "train" type: "ImageData"'),
        ('top: "data" top: "label" include { phase: TEST }', 'top: "data" include { phase: TEST }'),
        ('top: "label" include { phase: TRAIN }', 'top: "label" top: "id"'),
    ],
)
def test_a_model_that_learns_something_else_is_no_template(old, new):
    assert old in LEARNED
    with pytest.raises(PcdError, match="model mine: does not learn the classes of images"):
        template_of(LEARNED.replace(old, new))


@pytest.mark.parametrize(
    ("crop", "size"), [(0, (3, 5, 7)), (224, (3, 256, 256)), (10, (3, 11, 11))]
)
def test_images_are_larger_than_the_crops_of_them(tmp_path, crop, size):
    shape = "shape { dim: 1 dim: 3 dim: 5 dim: 7 }"
    text = f'layer {{ name: "d" type: "Input" top: "d" input_param {{ {shape} }} }}'
    (tmp_path / "deploy.prototxt").write_text(text)
    template = Template.__new__(Template)
    object.__setattr__(template, "crop", crop)
    assert quickstart._size(template, tmp_path) == size
