"""What ``pcd weights`` does: look into weights, compare, edit, take out and put back."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pycaffe_dist.aliases import Facts
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import atomic_write
from pycaffe_dist.memory import Array
from pycaffe_dist.npy import read_npz
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, NetParameter
from pycaffe_dist.proto.suggest import did_you_mean
from pycaffe_dist.proto.weights import read_weights, write_weights
from pycaffe_dist.safetensors import read_safetensors, write_safetensors

Blobs = dict[str, list[Array]]
BARS = 40  # characters of the longest bar


@dataclass
class Model:
    """Named blobs of layers, and the layers' types where the file tells them."""

    name: str
    blobs: Blobs
    types: dict[str, str]

    def named(self) -> Iterator[tuple[str, Array]]:
        """Each blob by layer/number."""
        for layer, blobs in self.blobs.items():
            for i, blob in enumerate(blobs):
                yield f"{layer}/{i}", blob

    def layer(self, name: str, path: str) -> list[Array]:
        if name not in self.blobs:
            hint = did_you_mean(name, self.blobs)
            raise FileError(f'{path}: has no layer with weights called "{name}"{hint}')
        return self.blobs[name]


# -- files -----------------------------------------------------------------------------------------


def read_model(path: str) -> Model:
    """From a .caffemodel (binary or HDF5), .npz or .safetensors."""
    if path.endswith((".npz", ".safetensors")):
        return _read_arrays(path)
    weights = read_weights(path)
    layers = [layer for layer in weights.layers if layer.blobs]
    blobs = {la.name: [b.data for b in la.blobs if b is not None] for la in layers}
    return Model(weights.name, blobs, {layer.name: layer.type for layer in layers})


def write_model(path: str, model: Model) -> None:
    """By the file's name: .npz, .safetensors, or else a binary .caffemodel."""
    if path.endswith(".safetensors"):
        about = {"net": model.name, "types": json.dumps(model.types)}
        write_safetensors(path, dict(model.named()), about)
    elif path.endswith(".npz"):
        arrays: Facts = dict(model.named())
        with atomic_write(path) as file:
            np.savez(file, **arrays)
    elif path.endswith((".h5", ".hdf5")):
        raise FileError(f"{path}: HDF5 is not written here; .caffemodel, .npz and .safetensors are")
    else:
        layers = [LayerParameter(name=n, type=model.types.get(n, "")) for n in model.blobs]
        net = NetParameter(name=model.name, layer=layers)
        write_weights(path, net, list(model.blobs.values()))


def _read_arrays(path: str) -> Model:
    about: Mapping[str, str] = {}
    if path.endswith(".npz"):
        arrays = read_npz(path)
    else:
        arrays, about = read_safetensors(path)
    found: dict[str, dict[int, Array]] = {}
    for name, array in arrays.items():
        layer, _, number = name.rpartition("/")
        if not layer or not number.isdecimal():
            raise FileError(
                f"{path}: {name!r} is not LAYER/NUMBER, the number that of the layer's blob "
                "(conv1/0 is conv1's weight, conv1/1 its bias)"
            )
        if array.dtype.kind not in "fiub":
            raise FileError(f"{path}: {name!r} holds values of the type {array.dtype}")
        found.setdefault(layer, {})[int(number)] = array.astype(np.float32, copy=False)
    blobs: Blobs = {}
    for layer, parts in found.items():
        if sorted(parts) != list(range(len(parts))):
            raise FileError(f'{path}: layer "{layer}" has the blobs {sorted(parts)} only')
        blobs[layer] = [parts[i] for i in range(len(parts))]
    return Model(about.get("net", ""), blobs, _types(about))


def _types(about: Mapping[str, str]) -> dict[str, str]:
    try:
        types = json.loads(about.get("types", "{}"))
    except (ValueError, RecursionError):
        return {}
    return {str(k): str(v) for k, v in types.items()} if isinstance(types, dict) else {}


# -- looking ---------------------------------------------------------------------------------------

STATS = ("blob", "shape", "min", "max", "mean", "std", "zeros", "NaN, inf")


def stats(model: Model, patterns: Sequence[str] = ()) -> tuple[list[list[str]], int]:
    """A row for each blob, and how many values of all are no finite numbers."""
    rows, bad = [], 0
    for name, blob in model.named():
        if patterns and not _matches(name, patterns):
            continue
        good = blob[np.isfinite(blob)].astype(np.float64)
        wrong = blob.size - good.size
        bad += wrong
        numbers = [good.min(), good.max(), good.mean(), good.std()] if good.size else []
        cells = [f"{x:.4g}" for x in numbers] or ["-"] * 4
        zeros = f"{100 * (blob.size - np.count_nonzero(blob)) / max(1, blob.size):.0f} %"
        shape = "x".join(map(str, blob.shape)) or "1"
        rows.append([name, shape, *cells, zeros, f"{wrong:,}" if wrong else ""])
    return rows, bad


def histogram(model: Model, patterns: Sequence[str], bins: int = 20) -> list[str]:
    """Bars of characters for each blob that matches."""
    lines: list[str] = []
    for name, blob in model.named():
        if not _matches(name, patterns):
            continue
        good = blob[np.isfinite(blob)].astype(np.float64)
        lines.append(f"{name}: {good.size:,} values")
        if not good.size:
            continue
        counts, edges = np.histogram(good, bins)
        for count, low in zip(counts, edges, strict=False):
            bar = "#" * round(BARS * count / counts.max())
            lines.append(f"{low:11.4g} |{bar:{BARS}} {count:,}")
    return lines


DIFF = ("blob", "shape", "largest difference", "of the largest", "values that differ")


def diff(a: Model, b: Model, tolerance: float = 0.0) -> tuple[list[list[str]], list[str]]:
    """Rows for blobs of both that differ, and lines for what only one has, or has otherwise."""
    rows, lines = [], []
    for name in dict.fromkeys([*a.blobs, *b.blobs]):
        if name not in a.blobs or name not in b.blobs:
            lines.append(
                f'layer "{name}" is in the {"first" if name in a.blobs else "second"} only'
            )
            continue
        ours, theirs = a.blobs[name], b.blobs[name]
        if [x.shape for x in ours] != [x.shape for x in theirs]:
            shapes = [", ".join(str(x.shape) for x in blobs) for blobs in (ours, theirs)]
            lines.append(f'layer "{name}" has {shapes[0]} and {shapes[1]}')
            continue
        for i, (x, y) in enumerate(zip(ours, theirs, strict=True)):
            if row := _difference(x, y, tolerance):
                rows.append([f"{name}/{i}", *row])
    return rows, lines


def _difference(x: Array, y: Array, tolerance: float) -> list[str]:
    """The cells of a blob whose values differ by more than that part of the largest."""
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    if same.all():
        return []
    with np.errstate(invalid="ignore"):
        apart = np.abs(x.astype(np.float64) - y.astype(np.float64))[~same]
    largest = float(apart.max())
    finite = np.abs(x[np.isfinite(x)]).max(initial=0)
    part = largest / finite if finite else float("inf")
    if part <= tolerance:
        return []
    shape = "x".join(map(str, x.shape)) or "1"
    return [shape, f"{largest:.4g}", f"{part:.2g}", f"{apart.size:,} of {x.size:,}"]


def _matches(name: str, patterns: Sequence[str]) -> bool:
    """The blob by its name, or all of a layer."""
    layer = name.rpartition("/")[0]
    return any(fnmatch.fnmatchcase(n, p) for p in patterns for n in (name, layer))


# -- editing ---------------------------------------------------------------------------------------


def prune(model: Model, patterns: Sequence[str], path: str) -> None:
    """Drop the layers that match."""
    for pattern in patterns:
        gone = [name for name in model.blobs if fnmatch.fnmatchcase(name, pattern)]
        if not gone:
            raise FileError(f'{path}: no layer with weights matches "{pattern}"')
        for name in gone:
            del model.blobs[name]


def rename(model: Model, names: Mapping[str, str], path: str) -> None:
    """Give layers new names; all at once, so that two may change places."""
    for old in names:
        model.layer(old, path)
    new = [names.get(name, name) for name in model.blobs]
    twice = {name for name in new if new.count(name) > 1}
    if twice:
        raise FileError(f"{path}: two layers would be called {sorted(twice)[0]!r}")
    model.blobs = dict(zip(new, model.blobs.values(), strict=True))
    model.types = {names.get(name, name): kind for name, kind in model.types.items()}


def change_classes(model: Model, layer: str, count: int, path: str, seed: int = 1) -> None:
    """The layer gets ``count`` outputs: its first ones stay; new rows of weights are drawn with the
    spread of the old ones, new biases are their mean.
    """
    blobs = model.layer(layer, path)
    if count < 1:
        raise FileError(f'{path}: layer "{layer}" cannot have {count} outputs')
    outputs = blobs[0].shape[0] if blobs[0].ndim else 0
    if blobs[0].ndim < 2 or any(b.shape[:1] != (outputs,) for b in blobs):
        shapes = ", ".join(str(b.shape) for b in blobs)
        raise FileError(
            f'{path}: the blobs of layer "{layer}", {shapes}, have no row for each output'
        )
    rng = np.random.default_rng(seed)
    more = max(0, count - outputs)
    for i, blob in enumerate(blobs):
        spread = blob.std() if i == 0 else 0.0
        new = rng.normal(blob.mean(), spread, (more, *blob.shape[1:])).astype(np.float32)
        blobs[i] = np.concatenate([blob[:count], new])
