"""The recorded cases of layers, as nets in TEST with their values."""

import json
from pathlib import Path

import numpy as np
import onnxruntime

from pycaffe_dist.engines.base import NUMPY
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.nets import read_net

GOLDEN = Path(__file__).parents[2] / "golden"
# Its name, where its faults are known: 1.24 has them no more.
OLD_RUNTIME = ""
if tuple(map(int, onnxruntime.__version__.split(".")[:2])) < (1, 24):
    OLD_RUNTIME = f"ONNX Runtime {onnxruntime.__version__}, the last for Python 3.10,"


def cases():
    """(folder, name) of each."""
    for folder in ("layers", "forks"):
        for row in json.loads((GOLDEN / folder / "index.json").read_text()):
            yield folder, row["name"]


def build(folder, name):
    """The net, and the values of its inputs by name."""
    file = read_net(str(GOLDEN / folder / f"{name}.prototxt"))
    file.net.state.phase = 1
    net = Net(file, Context(engine=NUMPY))
    layers = dict(zip(net.layer_names, net.layers, strict=True))
    with np.load(GOLDEN / folder / f"{name}.npz") as stored:
        for key, values in stored.items():
            what, *where = key.split("/")
            if what == "set":
                layers["/".join(where[:-1])].blobs[int(where[-1])].data[...] = values
            elif what == "in":
                net.blobs[net.blob_ids["/".join(where)]].data[...] = values
    sources = [
        t
        for bottoms, tops in zip(net.bottom_ids, net.top_ids, strict=True)
        for t in tops
        if not bottoms
    ]
    return net, {net.blob_names[t]: net.blobs[t].data.copy() for t in sources}


def forward(net, inputs):
    for name, values in inputs.items():
        net.blobs[net.blob_ids[name]].data[...] = values
    net.forward()
