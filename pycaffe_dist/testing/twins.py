"""One net on two engines: the same weights, the same inputs, and what they compute compared."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.engines.base import NUMPY, Engine
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN, NetParameter
from pycaffe_dist.proto.nets import NetFile, read_net
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.rng import set_random_seed


class Twins:
    """A net on an engine and its twin on NumPy's.

    Args:
        source: prototxt text, or a file.
        train: the phase.
    """

    def __init__(self, source: str | Path, engine: Engine, train: bool = True) -> None:
        def build(engine: Engine) -> Net:
            if isinstance(source, Path):
                file = read_net(source)
            else:
                file = NetFile(parse_text(source, NetParameter()).message, "", [])
            file.net.state.phase = TRAIN if train else TEST
            set_random_seed(1701)
            return Net(file, Context(engine=engine))

        self.net, self.reference = build(engine), build(NUMPY)
        self.both = self.net, self.reference

    def fill_inputs(self, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        for ours, theirs in zip(self.net.input_ids, self.reference.input_ids, strict=True):
            values = rng.standard_normal(self.net.blobs[ours].shape)
            self.net.blobs[ours].data[...] = self.reference.blobs[theirs].data[...] = values

    def each(self, action: Callable[[Net], object]) -> None:
        """Do something with both, with the same random numbers."""
        for net in self.both:
            set_random_seed(1701)
            action(net)

    def step(self) -> None:
        """Forward, and backward from ones that differ a little at outputs that are no losses."""
        self.each(lambda net: net.forward())
        for net in self.both:
            for i in net.output_ids:
                if not net.blob_loss_weights[i]:
                    diff = net.blobs[i].diff
                    diff[...] = 1 + 0.5 * np.cos(np.arange(diff.size)).reshape(diff.shape)
        with suppress(NetError):  # a layer without a gradient
            self.each(lambda net: net.backward())

    def load(self, given: dict[str, Array]) -> None:
        """Inputs ``in/BLOB`` and parameters ``set/LAYER/NUMBER``, as recorded cases name them."""
        for net in self.both:
            for key, values in given.items():
                part, _, name = key.partition("/")
                if part == "in":
                    net.blobs[net.blob_ids[name]].data[...] = values
                elif part == "set" and name.rpartition("/")[0] in net.layer_names:
                    layer, _, number = name.rpartition("/")
                    blobs = net.layers[net.layer_names.index(layer)].blobs
                    blobs[int(number)].data[...] = values

    def assert_same(self, tolerance: float = 1e-4, diffs: bool = True) -> None:
        """All blobs and parameters, and their gradients, to a share of the largest of each."""
        for name, i in self.reference.blob_ids.items():
            got, want = self.net.blobs[i], self.reference.blobs[i]
            _assert_close(got.data, want.data, tolerance, f"blob {name}")
            if diffs:
                _assert_close(got.diff, want.diff, tolerance, f"gradient of blob {name}")
        for ours, theirs in zip(self.net.layers, self.reference.layers, strict=True):
            for i, (got, want) in enumerate(zip(ours.blobs, theirs.blobs, strict=True)):
                what = f"parameter {i} of {theirs.name}"
                _assert_close(got.data, want.data, tolerance, what)
                if diffs:
                    _assert_close(got.diff, want.diff, tolerance, f"gradient of {what}")


def _assert_close(got: Array, want: Array, tolerance: float, what: str) -> None:
    allowed = tolerance * max(1e-3, float(np.abs(want).max(initial=0)))
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=allowed, err_msg=what)
