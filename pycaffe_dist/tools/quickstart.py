"""What ``pcd quickstart`` does: from a folder of class folders to a trained classifier.

OUT/data/train_lmdb, test_lmdb           the images, at the size of the net, and labels.txt
OUT/model/train_val, solver.prototxt     the model, for these classes
OUT/                                     the run itself
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pycaffe_dist.data.draws import shuffle
from pycaffe_dist.errors import PcdError
from pycaffe_dist.files import atomic_write, make_folder
from pycaffe_dist.proto.caffe_pb2 import NetParameter, SolverParameter
from pycaffe_dist.proto.classes import Template
from pycaffe_dist.proto.nets import read_net, read_solver
from pycaffe_dist.proto.text import format_text
from pycaffe_dist.tools import shipped
from pycaffe_dist.tools.compute_image_mean import compute_image_mean
from pycaffe_dist.tools.convert_imageset import (
    Entry,
    ImagesetOptions,
    class_folders,
    convert_imageset,
    write_labels,
)
from pycaffe_dist.tools.preprocess import Preprocess

TEST_BATCH = 50
MARGIN = 8 / 7  # images are so much larger than the crops that the net takes: 256 for 224


@dataclass
class QuickstartOptions:
    """The flags of ``pcd quickstart``."""

    folder: str
    model: str = "squeezenet_v1.1"
    output: str = ""
    weights: str = ""
    test_part: float = 0.2
    epochs: int = 30
    batch: int = 0  # 0: the model's
    rate: float | None = None
    seed: int = 1


@dataclass
class Prepared:
    """Ready to train."""

    solver: str
    score: str  # the output by which the best weights are kept
    train: int
    test: int
    classes: list[str]


def prepare(options: QuickstartOptions) -> Prepared:
    """Split, convert, compute the mean, write the net and the solver.

    Raises:
        FileError: there are no class folders, or something cannot be read or written.
        PcdError: a class has too few images, or the model does not classify images.
    """
    entries, classes = class_folders(str(Path(options.folder)) + "/")
    train, test = split(entries, classes, options.test_part, options.seed)
    model, out = shipped.model(options.model), Path(options.output)
    template = Template.of(read_net(model / "train_val.prototxt").net, options.model)
    side = _size(template, model)
    data = {"train": out / "data" / "train_lmdb", "test": out / "data" / "test_lmdb"}
    make_folder(out / "data")
    for part, chosen in (("train", train), ("test", test)):
        how = ImagesetOptions(
            gray=side[0] == 1,
            shuffle=part == "train",
            resize_height=side[1],
            resize_width=side[2],
            seed=options.seed,
        )
        convert_imageset(str(Path(options.folder)) + "/", chosen, str(data[part]), how)
        write_labels(str(data[part]), classes)
    mean = compute_image_mean(str(data["train"])).channels
    batch = min(options.batch or template.batch, len(train))
    count = test_batch(len(test))
    net, score = template.for_classes(
        len(classes),
        {
            part: (str(path), n)
            for (part, path), n in zip(data.items(), (batch, count), strict=True)
        },
        mean,
        fresh=bool(options.weights),
    )
    solver = _solver(options, template, batch, len(train), math.ceil(len(test) / count))
    return Prepared(_write(out, net, solver), score, len(train), len(test), classes)


def split(
    entries: Sequence[Entry], classes: Sequence[str], part: float, seed: int
) -> tuple[list[Entry], list[Entry]]:
    """A random ``part`` of each class to test with, at least one image, and the others.

    Raises:
        PcdError: a class has no two images.
    """
    by_class: dict[int, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_class[entry[1]].append(entry)
    rng = np.random.RandomState(seed)
    train: list[Entry] = []
    test: list[Entry] = []
    for label, name in enumerate(classes):
        found = by_class[label]
        if len(found) < 2:
            raise PcdError(
                f"class {name!r} has {len(found)} image(s): two are needed, one to train with and "
                "one to test with"
            )
        shuffle(rng, found)
        count = min(len(found) - 1, max(1, round(part * len(found))))
        test += found[:count]
        train += found[count:]
    return train, test


def test_batch(count: int) -> int:
    """Images of a test batch: so many that whole batches make the test set, if some do."""
    sizes = range(min(count, TEST_BATCH), 9, -1)
    return next((size for size in sizes if count % size == 0), min(count, TEST_BATCH))


def _size(template: Template, model: Path) -> tuple[int, int, int]:
    """Channels, height and width of the images in the databases."""
    channels, *sides = Preprocess(str(model / "deploy.prototxt"), "").input_shape()
    if template.crop:
        sides = [round(template.crop * MARGIN)] * 2
    return channels, sides[0], sides[1]


def _solver(
    options: QuickstartOptions, template: Template, batch: int, train: int, test_iter: int
) -> SolverParameter:
    """The model's solver for this many images; its rate scaled with the batch, down to 0."""
    path = shipped.model(options.model) / "solver.prototxt"
    param = read_solver(path).message
    epoch = math.ceil(train / batch)
    rate = param.base_lr * batch / (template.batch * param.iter_size)
    for name in ("iter_size", "gamma", "stepvalue", "stepsize", "power", "net", "random_seed"):
        param.ClearField(name)
    param.net = f"{options.output}/model/train_val.prototxt"
    param.base_lr = rate if options.rate is None else options.rate
    param.lr_policy, param.power = "poly", 1
    param.max_iter = epoch * options.epochs
    param.test_iter[:], param.test_interval, param.test_initialization = [test_iter], epoch, False
    param.display = max(1, min(epoch, 20))
    param.average_loss = 1
    param.snapshot = 0
    param.snapshot_prefix = f"{options.output}/{options.model}"
    param.random_seed = options.seed
    return param


def _write(out: Path, net: NetParameter, solver: SolverParameter) -> str:
    make_folder(out / "model")
    for name, message in (("train_val", net), ("solver", solver)):
        path = out / "model" / f"{name}.prototxt"
        with atomic_write(path) as file:
            file.write(format_text(message).encode())
    return str(path)
