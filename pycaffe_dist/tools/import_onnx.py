"""What ``pcd import`` does: an ONNX model as a prototxt and a .caffemodel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from pycaffe_dist import engines
from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Blob
from pycaffe_dist.errors import NetError
from pycaffe_dist.files import atomic_write
from pycaffe_dist.layer import Context, Layer
from pycaffe_dist.loading import save_weights
from pycaffe_dist.net import Net
from pycaffe_dist.onnx.check import run_apart
from pycaffe_dist.onnx.comparing import Comparison, compare
from pycaffe_dist.onnx.importing.build import Builder
from pycaffe_dist.onnx.importing.model import Model, read_model
from pycaffe_dist.proto.caffe_pb2 import TEST, NetParameter
from pycaffe_dist.proto.text import format_text

TOLERANCE, HALF_TOLERANCE = 1e-4, 1e-3  # of models that compute in float32 and in float16


@dataclass(frozen=True)
class Imported:
    """The net, and how far its outputs are from the model's."""

    layers: int
    parameters: int
    differences: dict[str, float]


def import_model(
    path: str,
    net_file: str,
    weights_file: str,
    shapes: Mapping[str, tuple[int, ...]],
    batch: int = 1,
    check: bool = True,
    tolerance: float | None = None,
) -> Imported:
    """Write a net and its weights, unless what they compute differs by too much."""
    model = read_model(path, shapes, batch)
    builder = Builder(model)
    param = builder.build()
    net = filled(param, builder.weights)
    if tolerance is None:
        tolerance = HALF_TOLERANCE if _is_half(model) else TOLERANCE
    found = _differences(net, model, tolerance) if check else {}
    wrong = {name: made.apart for name, made in found.items() if not made.within(tolerance)}
    if wrong:
        parts = ", ".join(f"{name} by {apart:.2g}" for name, apart in wrong.items())
        raise NetError(
            f"{path}: the net computes something else than ONNX Runtime: {parts} of the largest "
            f"value, more than {tolerance:g}. Nothing was written; --tolerance allows more"
        )
    with atomic_write(net_file) as file:
        file.write(format_text(param).encode())
    save_weights(net, weights_file)
    count = sum(blob.size for values in builder.weights.values() for blob in values)
    return Imported(len(param.layer), count, {name: made.apart for name, made in found.items()})


def filled(param: NetParameter, weights: Mapping[str, list[Array]]) -> Net:
    """The net in TEST with these parameters."""
    stated = NetParameter()
    stated.CopyFrom(param)
    stated.state.phase = TEST
    # First without memory: a damaged file may ask for any amount of it.
    for layer, blob, values in _given(Net(stated, Context(dry=True)), weights):
        if blob.count != values.size:
            raise layer.error(f"takes {blob.shape} parameters, the model has {values.shape}")
    engine = engines.current()
    engine.fix_choices()
    net = Net(stated, Context(engine=engine, writes=False))
    for _, blob, values in _given(net, weights):
        blob.data[...] = values.reshape(blob.shape)
    return net


def _given(net: Net, weights: Mapping[str, list[Array]]) -> Iterator[tuple[Layer, Blob, Array]]:
    for layer in net.layers:
        for blob, values in zip(layer.blobs, weights.get(layer.name, ()), strict=False):
            yield layer, blob, values


def _differences(net: Net, model: Model, tolerance: float) -> dict[str, Comparison]:
    rng = np.random.default_rng(1)
    given = {name: _noise(rng, net, model, name) for name in model.inputs}
    theirs = {n: np.asarray(a, np.float32) for n, a in run_apart(model.path, given).items()}
    return compare(net, given, theirs, tolerance, _is_half(model))


def _is_half(model: Model) -> bool:
    return np.dtype(np.float16) in model.types.values()


def _noise(rng: np.random.Generator, net: Net, model: Model, name: str) -> Array:
    """Values for an input, of the type that the model takes; whole ones are places of an Embed."""
    kind, shape = model.types.get(name, np.dtype(np.float32)), model.shapes[name]
    if kind.kind not in "iub":
        return rng.standard_normal(shape).astype(kind)
    rows = [
        layer.layer_param.embed_param.input_dim for layer in net.layers if layer.type == "Embed"
    ]
    most = 256 if kind == np.uint8 else 2
    return rng.integers(0, min(rows, default=most), shape).astype(kind)
