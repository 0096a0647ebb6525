"""What a run remembers for later predictions: the net to deploy and how images become its input.

    deploy.prototxt   the net of the run without data, labels and losses
    transform.json    {"input": [3, 227, 227], "images_dim": [256, 256], "mean_value": [...],
                       "mean_file": "mean.npy", "input_scale": 0.017}
    labels.txt        the names of the classes, where the data had them

With the weights of the run, the best or else the newest, `pcd predict --run` needs nothing else.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pycaffe_dist.aliases import Facts
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import atomic_write, read_bytes, reading
from pycaffe_dist.layers.base_data import BaseData
from pycaffe_dist.memory import Array
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, NetParameter, SolverParameter
from pycaffe_dist.proto.deploy import deployed
from pycaffe_dist.proto.nets import test_nets, train_net
from pycaffe_dist.proto.state import filter_net
from pycaffe_dist.proto.text import format_text
from pycaffe_dist.solver import Solver
from pycaffe_dist.tools.classify import read_labels
from pycaffe_dist.tools.preprocess import Preprocess

DEPLOY, TRANSFORM, LABELS, MEAN = "deploy.prototxt", "transform.json", "labels.txt", "mean.npy"
WEIGHTS = re.compile(r"_iter_(\d+)\.caffemodel(\.h5)?$")


# -- when it is trained ----------------------------------------------------------------------------


def remember(folder: str, solver: Solver, param: SolverParameter) -> None:
    """Write what predictions need, if the net takes images from one source, by its first top."""
    net = solver.test_nets[0] if solver.test_nets else solver.net
    sources = [layer for layer in net.layers if isinstance(layer, BaseData)]
    if len(sources) != 1:
        return
    source, place = sources[0], Path(folder)
    described = test_nets(param)[0] if solver.test_nets else train_net(param)
    trained = filter_net(described.read().net, net.net_param.state)
    blob = net.blobs[net.top_ids[net.layers.index(source)][0]]
    made = deployed(trained, _described(trained, source), (1, *blob.shape[1:]))
    _write(place / DEPLOY, format_text(made).encode())
    facts = _facts(source, tuple(blob.shape[1:]))
    mean = facts.pop("mean", None)
    if mean is not None:
        np.save(place / MEAN, mean)
        facts["mean_file"] = MEAN
    _write(place / TRANSFORM, json.dumps(facts, indent=1).encode())
    named = _labels_of(source)
    if named and os.path.isfile(named):
        shutil.copyfile(named, place / LABELS)


def _described(net: NetParameter, source: BaseData) -> LayerParameter:
    """A layer as its file has it."""
    return next(one for one in net.layer if one.name == source.name and not one.bottom)


def _facts(source: BaseData, shape: tuple[int, ...]) -> Facts:
    """The transform of a data layer as ``pcd predict`` has it; "mean" is an image as cropped."""
    p = source.layer_param.transform_param
    whole = tuple(source.source_shape or shape)[-2:]
    facts: Facts = {"input": list(shape), "images_dim": list(whole)}
    if p.scale != 1:
        facts["input_scale"] = p.scale
    if p.mean_value:
        facts["mean_value"] = list(p.mean_value) * (shape[0] if len(p.mean_value) == 1 else 1)
    elif p.HasField("mean_file"):
        facts["mean"] = _middle(source.transformer.mean, shape)
    return facts


def _middle(image: Array | None, shape: tuple[int, ...]) -> Array:
    """What is subtracted from the middle of an image, where tests crop."""
    assert image is not None
    top, left = ((image.shape[i] - shape[i]) // 2 for i in (1, 2))
    return image[:, top : top + shape[1], left : left + shape[2]]


def _labels_of(source: BaseData) -> str:
    """Where the names of a source's classes are: in the database, or beside the list of images."""
    p = source.layer_param
    if p.HasField("data_param"):
        return os.path.join(p.data_param.source, LABELS)
    return os.path.join(os.path.dirname(p.image_data_param.source), LABELS)


def _write(path: Path, data: bytes) -> None:
    with atomic_write(path) as file:
        file.write(data)


# -- when it predicts ------------------------------------------------------------------------------


@dataclass
class RunModel:
    """A trained run, ready to predict."""

    how: Preprocess
    images_dim: tuple[int, int]
    labels: list[str]


def run_model(folder: str, weights: str = "") -> RunModel:
    """The net and the transform of a run, with ``weights`` or else its best or newest.

    Raises:
        FileError: the folder is none of a run, or the run has no weights yet.
    """
    place = Path(folder)
    if not (place / TRANSFORM).is_file():
        raise FileError(
            f"{folder}: has no {TRANSFORM}: it is not the --run-dir of a net that learns from "
            "images. Give --model and --weights instead of --run."
        )
    with reading(place / TRANSFORM, "is not what a run wrote"):
        facts = json.loads(read_bytes(place / TRANSFORM))
        how = Preprocess(
            str(place / DEPLOY),
            weights or newest_weights(folder),
            str(place / MEAN) if facts.get("mean_file") else "",
            tuple(float(value) for value in facts.get("mean_value", ())),
            facts.get("input_scale"),
        )
        height, width = (int(side) for side in facts["images_dim"])
    labels = read_labels(str(place / LABELS)) if (place / LABELS).is_file() else []
    return RunModel(how, (height, width), labels)


def newest_weights(folder: str) -> str:
    """The best weights of a run, if it kept them (``--keep-best``), or else the newest.

    Raises:
        FileError: there are none.
    """
    found = []
    with suppress(OSError):
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if name in ("best.caffemodel", "best.caffemodel.h5") and os.path.exists(path):
                return path
            if match := WEIGHTS.search(name):
                found.append((int(match[1]), path))
    if not found:
        raise FileError(f"{folder}: has no weights yet: no file *_iter_N.caffemodel")
    return max(found)[1]
