"""Our side of bench_ssd.py: a detector's forward on the default engine."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from bench.wire import Side, serve
from pycaffe_dist import engines
from pycaffe_dist.layer import Context
from pycaffe_dist.loading import save_weights
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TEST, NetState
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.threads import set_threads
from pycaffe_dist.version import VERSION

SPREAD = 3.0  # how far apart the scores of a box are: enough for an order that rounding keeps


class Ours(Side):
    def __init__(self, threads: int) -> None:
        set_threads(threads)

    def about(self) -> dict[str, Any]:
        return {"name": "pycaffe_dist", "version": VERSION}

    def load(self, model: str, weights: str, image: str) -> dict[str, Any]:
        """Give the net random weights, and write them; take the image (1, 3, h, w) of a .npy."""
        file = read_net(model)
        file.net.state.MergeFrom(NetState(phase=TEST))
        self.net = Net(file, Context(engine=engines.current()))
        rng = np.random.default_rng(0)
        for layer, name in zip(self.net.layers, self.net.layer_names, strict=True):
            for blob in layer.blobs:
                blob.data[...] = random_blob(rng, layer.type, name, blob.shape)
        save_weights(self.net, weights)
        self.net.blobs[self.net.input_ids[0]].data[...] = np.load(image)
        return {}

    def step(self) -> float:
        self.net.forward()
        self.rows = np.array(self.net.blobs[self.net.output_ids[0]].data)
        return 0.0

    def boxes(self, path: str) -> dict[str, Any]:
        self.step()
        np.save(path, self.rows.reshape(-1, 7))
        return {}


def random_blob(
    rng: np.random.Generator, kind: str, name: str, shape: tuple[int, ...]
) -> np.ndarray:
    """Values that neither die out nor grow; heads of classes spread their scores."""
    if kind in ("BatchNorm", "Scale") or len(shape) < 2:
        return rng.uniform(0.5, 1.0, shape) if kind in ("BatchNorm", "Scale") else np.zeros(shape)
    fan = int(np.prod(shape[1:]))
    spread = SPREAD if "conf" in name else 0.3 if "loc" in name else 1.0
    return rng.standard_normal(shape) * spread * np.sqrt(2 / fan)


if __name__ == "__main__":
    serve(Ours(int(sys.argv[1])))
