"""What a run reads, looked for before anything is built: databases, lists, means, weights."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from pycaffe_dist import caffe_log
from pycaffe_dist.errors import FileError
from pycaffe_dist.proto.caffe_pb2 import LayerParameter
from pycaffe_dist.proto.nets import NetFile
from pycaffe_dist.proto.state import filter_net

SOURCES = {
    "Data": "data_param",
    "ImageData": "image_data_param",
    "HDF5Data": "hdf5_data_param",
    "WindowData": "window_data_param",
}


def check_sources(files: Iterable[NetFile]) -> None:
    """Look for the files that the layers of nets, each in its state, read from.

    Raises:
        FileError: all that are missing.
    """
    with caffe_log.silenced():
        missing = list(dict.fromkeys(text for file in files for text in _missing(file)))
    if missing:
        remedy = "Make what is missing, or try the net with --fake-data."
        raise FileError(*missing, remedy)


def _missing(file: NetFile) -> Iterator[str]:
    net = filter_net(file.net)
    for layer, line in zip(net.layer, file.lines_of(net), strict=True):
        for field, path in _sources(layer):
            if not os.path.exists(path):
                place = f"{file.path}:{line}: " if line else ""
                text = f'{place}layer "{layer.name}" ({layer.type}): its {field} '
                yield text + not_there(path, file.path)


def _sources(layer: LayerParameter) -> Iterator[tuple[str, str]]:
    if layer.type not in SOURCES:
        return
    for param in (getattr(layer, SOURCES[layer.type]), layer.transform_param):
        for field in ("source", "mean_file"):
            if path := getattr(param, field, ""):
                yield field, path


def check_weights(names: Iterable[str]) -> None:
    """Look for weights, given as Caffe does: several separated by commas.

    Raises:
        FileError: one is not there.
    """
    for path in (part for name in names for part in name.split(",")):
        if path and not os.path.exists(path):
            raise FileError(f"the weights file {not_there(path)}")


def not_there(path: str, beside: str = "", name: str = "", remedy: str = "") -> str:
    """``"x" is not there, seen from ...``, and from where it is, among the folders of a file.

    ``name`` is what it is called, if not by its path; ``remedy`` is told if it is nowhere.
    """
    text = (name or f'"{path}"') + f" is not there, seen from {os.getcwd()}"
    folder = os.path.dirname(os.path.abspath(beside))
    while not os.path.isabs(path) and folder != os.path.dirname(folder):
        if os.path.exists(os.path.join(folder, path)):
            return f"{text}; it is, seen from {folder}: run from that folder"
        folder = os.path.dirname(folder)
    return text + remedy
