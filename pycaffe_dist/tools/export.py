"""What ``pcd export`` does: a net and its weights as an ONNX file that was checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx

from pycaffe_dist import caffe_log as log
from pycaffe_dist import engines
from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import NetError
from pycaffe_dist.files import atomic_write
from pycaffe_dist.layer import Context
from pycaffe_dist.loading import load_weights
from pycaffe_dist.net import Net
from pycaffe_dist.onnx.check import run_apart
from pycaffe_dist.onnx.comparing import Comparison, compare
from pycaffe_dist.onnx.export import USUAL, Dynamic, Exported, export
from pycaffe_dist.onnx.folding import fold
from pycaffe_dist.onnx.halving import halve
from pycaffe_dist.onnx.preprocessing import Preprocess, preprocess
from pycaffe_dist.onnx.writing import INLINE, Written, pointing, write_model
from pycaffe_dist.proto.caffe_pb2 import NetState
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.pycaffe.io import resize_image
from pycaffe_dist.tools.preprocess import read_picture
from pycaffe_dist.version import VERSION

LARGE = 64 << 20  # bytes of a file of which ONNX Runtime is to make no copies
TOLERANCE, HALF_TOLERANCE = 1e-4, 1e-3  # of float32 and of float16, by the largest value


@dataclass
class Wanted:
    """How a net is to be exported; the fields are the flags of the verb."""

    opset: int = USUAL
    dynamic: Dynamic = False
    fold: bool = False
    fp16: bool = False
    preprocess: Preprocess | None = None
    images: tuple[str, ...] = ()  # to be compared, besides noise
    prepared: Preprocess = field(default_factory=Preprocess)  # how
    labels: tuple[str, ...] = ()
    level: int = 0
    stages: tuple[str, ...] = ()
    check: bool = True
    tolerance: float | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def limit(self) -> float:
        """The largest difference that is allowed, by the largest value."""
        usual = HALF_TOLERANCE if self.fp16 else TOLERANCE
        return usual if self.tolerance is None else self.tolerance


@dataclass(frozen=True)
class Report:
    """What was written, and how far it is from what our engine computes."""

    size: int
    operators: dict[str, list[str]]
    left_out: list[str]
    folded: int
    differences: dict[str, float]


def export_model(model: str, weights: str, target: str, wanted: Wanted) -> Report:
    """Write ``target``, unless what it computes differs from our engine by too much."""
    net = _read(model, weights, wanted)
    made = export(net, wanted.opset, wanted.dynamic)
    shape = net.blobs[net.blob_ids[made.model.graph.input[0].name]].shape
    folded = _changed(made, wanted)
    if wanted.preprocess is not None:
        preprocess(made, wanted.preprocess, shape, wanted.opset)
    _describe(made, model, weights, wanted)
    with atomic_write(target) as file:
        written = write_model(made, file)
        file.flush()
        found = _checked(net, made, Path(file.name), written, wanted) if wanted.check else {}
    differences = {name: one.apart for name, one in found.items()}
    return Report(written.size, made.operators, made.left_out, folded, differences)


def _changed(made: Exported, wanted: Wanted) -> int:
    """Fold and halve what was exported; how many layers were folded."""
    folded = fold(made) if wanted.fold else 0
    if wanted.fp16:
        halve(made)
    return folded


def _read(model: str, weights: str, wanted: Wanted) -> Net:
    file = read_net(model)
    state = NetState(phase="TEST", level=wanted.level, stage=wanted.stages)
    file.net.state.MergeFrom(state)
    engine = engines.current()
    engine.fix_choices()  # one pass is not worth a measurement
    net = Net(file, Context(engine=engine, writes=False))
    if weights:
        load_weights(net, weights)
    elif any(layer.blobs for layer in net.layers):
        log.warning("export.py", "No weights are given: the file has the values of the fillers")
    return net


def _describe(made: Exported, model: str, weights: str, wanted: Wanted) -> None:
    about = {"source": model, "weights": weights, "pycaffe_dist": VERSION, **wanted.metadata}
    if wanted.labels:
        about["labels"] = "\n".join(wanted.labels)
    onnx.helper.set_model_props(made.model, {k: v for k, v in about.items() if v})


# -- the check -------------------------------------------------------------------------------------


def _checked(
    net: Net, made: Exported, path: Path, written: Written, wanted: Wanted
) -> dict[str, Comparison]:
    """What ONNX Runtime makes of the bytes in the file, and how far it is from our engine.

    Raises:
        NetError: onnx's checker does not take it, or it computes something else.
    """
    if written.size > LARGE:
        found = _differences_of_large(net, made, path, written, wanted)
    else:
        found = _differences(net, made, path, wanted)
    wrong = {name: one.apart for name, one in found.items() if not one.within(wanted.limit)}
    if wrong:
        parts = ", ".join(f"{name} by {apart:.2g}" for name, apart in wrong.items())
        beyond = wanted.fp16 and any(np.isinf(found[name].ours) for name in wrong)
        why = "Its values are too large for half precision. " if beyond else ""
        raise NetError(
            f"ONNX Runtime computes something else than this net: {parts} of the largest value, "
            f"more than {wanted.limit:g}. {why}Nothing was written; --tolerance allows more"
        )
    return found


def _differences(net: Net, made: Exported, path: Path, wanted: Wanted) -> dict[str, Comparison]:
    """The largest of each output over all passes."""
    try:
        onnx.checker.check_model(str(path), full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as e:
        raise NetError(f"the exported model is not valid: {' '.join(str(e).split())}") from e
    worst: dict[str, Comparison] = {}
    for inputs, fed in _passes(net, made, wanted):
        found = compare(net, inputs, run_apart(path, fed), wanted.limit, wanted.fp16)
        for name, one in found.items():
            both = (worst.get(name, one), one)
            worst[name] = max(both, key=lambda c: (not c.within(wanted.limit), c.apart))
    return worst


def _of_one_item(net: Net, made: Exported, wanted: Wanted) -> Exported | None:
    """The same operators with batches of 1, which are compared in less time and memory.

    None if sizes may change anyway, or if another batch gives other operators.
    """
    if wanted.dynamic or wanted.preprocess is not None:
        return None
    inputs = [net.blobs[net.blob_ids[value.name]] for value in made.model.graph.input]
    shapes = [blob.shape for blob in inputs]
    try:
        for blob in inputs:
            blob.reshape(*(1, *blob.shape[1:]))
        net.reshape()
        one = export(net, wanted.opset)
        _changed(one, wanted)
        if _same_but_for_batches(made, one):
            return one
    except NetError:
        pass  # it is compared as it is
    for blob, shape in zip(inputs, shapes, strict=True):
        blob.reshape(*shape)
    net.reshape()
    return None


def _same_but_for_batches(made: Exported, one: Exported) -> bool:
    """Whether operators, their constants' shapes and the smaller constants are the same."""
    if list(made.model.graph.node) != list(one.model.graph.node):
        return False
    if made.constants.keys() != one.constants.keys():
        return False
    pairs = [(a, one.constants[name]) for name, a in made.constants.items()]
    return all(a.shape == b.shape for a, b in pairs) and all(
        np.array_equal(a, b) for a, b in pairs if a.nbytes < INLINE
    )


def _differences_of_large(
    net: Net, made: Exported, path: Path, written: Written, wanted: Wanted
) -> dict[str, Comparison]:
    """With the values where they are in the file: ONNX Runtime maps them and makes no copy."""
    one = _of_one_item(net, made, wanted) or made
    beside = path.with_name(f"{path.name}.check")
    try:
        beside.write_bytes(pointing(one, path.name, written.places))
        return _differences(net, one, beside, wanted)
    finally:
        beside.unlink(missing_ok=True)


def _passes(
    net: Net, made: Exported, wanted: Wanted
) -> Iterator[tuple[dict[str, Array], dict[str, Array]]]:
    """What our net is given, and what the file: noise, where sizes may change two; then images."""
    rng = np.random.default_rng(1)
    axes = {value.name: _free(value) for value in made.model.graph.input}
    names = list(axes) if wanted.preprocess is None else [_source(net)]
    for grown in (False, True) if wanted.dynamic else (False,):
        if grown:
            for name in names:
                _grow(net, name, axes.get(name, [0]))
            net.reshape()
        shapes = {name: net.blobs[net.blob_ids[name]].shape for name in names}
        if wanted.preprocess is None:
            inputs = {n: rng.standard_normal(s).astype(np.float32) for n, s in shapes.items()}
            yield inputs, inputs
        else:
            n, channels, height, width = shapes[names[0]]
            raw = rng.integers(0, 256, (n, height, width, channels), np.uint8)
            yield _as_given(raw, names[0], made, wanted)
    for path in wanted.images:
        yield _as_given(_image(path, names, shapes), names[0], made, wanted)


def _as_given(
    raw: Array, name: str, made: Exported, wanted: Wanted
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Images (N, H, W, C) of the net's own size, for our net prepared, for the file if it wants."""
    how = wanted.preprocess or wanted.prepared
    image = {name: how.apply(raw.astype(np.float32).transpose(0, 3, 1, 2))}
    return image, {made.model.graph.input[0].name: raw} if wanted.preprocess else image


def _image(path: str, names: list[str], shapes: Mapping[str, tuple[int, ...]]) -> Array:
    """A picture in each place of the batch, as uint8 (N, H, W, C)."""
    shape = shapes[names[0]]
    if len(names) > 1 or len(shape) != 4 or shape[1] not in (1, 3):
        found = ", ".join(f"{name} {sizes}" for name, sizes in shapes.items())
        raise NetError(f"{path}: an image is for nets that take images alone, this takes {found}")
    n, channels, height, width = shape
    picture = resize_image(read_picture(path, channels == 3), (height, width))
    return np.tile(np.round(picture * 255).astype(np.uint8), (n, 1, 1, 1))


def _source(net: Net) -> str:
    """The blob that a net with one input is given."""
    return net.blob_names[net.input_ids[0]]


def _free(value: onnx.ValueInfoProto) -> list[int]:
    dims = value.type.tensor_type.shape.dim
    return [axis for axis, dim in enumerate(dims) if dim.dim_param]


def _grow(net: Net, name: str, axes: list[int]) -> None:
    blob = net.blobs[net.blob_ids[name]]
    larger = {0: blob.shape[0] * 2} | {axis: blob.shape[axis] + 32 for axis in axes if axis}
    blob.reshape(*(larger[i] if i in axes else size for i, size in enumerate(blob.shape)))
