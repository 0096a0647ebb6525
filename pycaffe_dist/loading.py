"""Weights into nets and out of them, by layer name and by Caffe's rules."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from pycaffe_dist import caffe_log as log
from pycaffe_dist import sidecar
from pycaffe_dist.aliases import Array
from pycaffe_dist.channels import other_images
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Layer
from pycaffe_dist.net import Net
from pycaffe_dist.proto import hdf5
from pycaffe_dist.proto.blobs import BlobArray
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.weights import LayerWeights, Weights, read_weights, write_weights
from pycaffe_dist.registry import READINGS, reading

Path_ = str | os.PathLike[str]
MOST_NAMES = 10  # of layers, in a message


@dataclass
class CopyReport:
    """What became of a weights file: layer names, each in one list."""

    copied: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)  # in the file, not in the net
    missing: list[str] = field(default_factory=list)  # with parameters that got no values
    checksum: int | None = None  # of the last file, if it has one

    def __str__(self) -> str:
        text = f"{len(self.copied)} layers copied"
        if self.ignored:
            text += f"; not in the net: {', '.join(self.ignored)}"
        if self.missing:
            text += f"; not in the file, left as they were: {', '.join(self.missing)}"
        return text


def load_weights(net: Net, *paths: Path_, strict: bool = True) -> CopyReport:
    """Copy the weights of .caffemodels, binary or HDF5, into the layers of the same names.

    Layers of the file that the net has not are passed over, as in Caffe.  Layers of the net that no
    file has keep their values and are named in a warning.

    Raises:
        FileError: a file cannot be read.
        NetError: a layer of the same name has other blobs, and nothing of that file has been
            copied; or, if ``strict``, a file has none of the net's layers.
    """
    reports = [copy_file(net, path) for path in paths]
    return judge(net, paths, reports, strict)


def copy_file(net: Net, path: Path_, weights: Weights | None = None) -> CopyReport:
    """Copy the weights of one file, whatever its layers are; see :func:`load_weights`.

    Args:
        net: whose layers get them.
        path: the file.
        weights: what is in it, if it was read already.
    """
    weights = weights or read_weights(path)
    if weights.checksum is None:
        sidecar.check_unsealed(path)
    try:
        return copy_weights(net, weights)
    except NetError as e:
        raise NetError(f"{path}: {e}") from e


def judge(
    net: Net, paths: Sequence[Path_], reports: Sequence[CopyReport], strict: bool = True
) -> CopyReport:
    """What became of several files, one after the other; says it where a layer got nothing."""
    for path, report in zip(paths, reports, strict=True):
        if strict and report.missing and not report.copied:
            raise NetError(
                f"{path}: has no weights for this net. Layers with parameters in the net: "
                f"{_some(report.missing)}; layers in the file: {_some(report.ignored) or 'none'}. "
                "Weights go to the layer of the same name: is this the file of another net?"
            )
    whole = CopyReport(
        [name for report in reports for name in report.copied],
        [name for report in reports for name in report.ignored],
        [n for n in reports[0].missing if all(n in r.missing for r in reports)] if reports else [],
        reports[-1].checksum if reports else None,
    )
    if whole.missing and not net.context.rank:
        text = "%s: no weights for the layers %s: they keep the values they have"
        log.warning("net.cpp", text, ", ".join(map(str, paths)), _some(whole.missing))
    return whole


def _some(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def copy_weights(net: Net, weights: Weights) -> CopyReport:
    """Copy what :func:`read_weights` has read; see :func:`load_weights`."""
    report = CopyReport(checksum=weights.checksum)
    # Of layers with one name Caffe loads the first from a proto, the last from HDF5.
    last = all(not source.type for source in weights.layers)
    by_name: dict[str, Layer] = {}
    for name, layer in zip(net.layer_names, net.layers, strict=True):
        if last or name not in by_name:
            by_name[name] = layer
    pairs = []
    for source in weights.layers:
        target = by_name.get(source.name)
        if target is None:
            log.info("net.cpp:744", "Ignoring source layer %s", source.name)
            report.ignored.append(source.name)
        elif source.blobs or target.blobs:
            pairs.append((target, source, _matched(net, target, source)))
    for layer, source, stored in pairs:
        report.copied.append(source.name)
        for blob, values in zip(layer.blobs, stored, strict=True):
            if values is not None:
                _copy(values.data, blob.data)
                if values.diff is not None:
                    _copy(values.diff, blob.diff)
    report.missing = _without_values(net, by_name, [layer for layer, _, _ in pairs])
    return report


def _copy(source: Array, target: Array) -> None:
    """In a file values lie at any byte: NumPy copies such floats one by one, but bytes at once."""
    if source.dtype == target.dtype and source.flags.c_contiguous and target.flags.c_contiguous:
        source, target = source.reshape(-1).view(np.uint8), target.reshape(-1).view(np.uint8)
    target.reshape(-1)[:] = source.reshape(-1)


def _without_values(net: Net, by_name: dict[str, Layer], loaded: list[Layer]) -> list[str]:
    """The layers with a parameter that neither they nor a layer that shares it have got."""
    ids = dict(zip(map(id, net.layers), net.params.ids, strict=True))
    got = {param for layer in loaded for param in ids[id(layer)]}
    return [name for name, layer in by_name.items() if not got.issuperset(ids[id(layer)])]


def _elsewhere(layer: Layer) -> str:
    """Where forks have other layers by a layer's name: how these are chosen."""
    taken = reading(layer.layer_param).dialect
    others = [one.dialect for one in READINGS.get(layer.layer_param.type, ())]
    if taken not in others or len(others) < 2:
        return ""
    names = " or ".join(sorted({*others} - {taken}))
    return f" It is read as {layer.type} of the dialect {taken}; there is also `--dialect {names}`."


def _matched(net: Net, layer: Layer, source: LayerWeights) -> list[BlobArray | None]:
    """The stored blob for each of the layer's, None where an HDF5 file leaves a shared one out."""
    stored = list(source.blobs)
    if not source.type:  # HDF5, which keeps a shared parameter with its owner only
        stored += [None] * (len(layer.blobs) - len(stored))
    absent = [j for j, blob in enumerate(stored) if blob is None and _owns(net, layer, j)]
    if len(stored) != len(layer.blobs) or absent:
        there = sum(blob is not None for blob in source.blobs)
        raise NetError(
            f'layer "{layer.name}" has {len(layer.blobs)} parameter blobs in the net and '
            f"{there} in the file. To train it from scratch, rename the layer.{_elsewhere(layer)}"
        )
    for i, (blob, values) in enumerate(zip(layer.blobs, stored, strict=True)):
        if values is not None and not _fits(layer, values, blob.shape):
            if i in layer.any_size:
                stored[i] = None
                continue
            raise NetError(
                f'layer "{layer.name}", parameter {i}: the shape is {blob.shape} in the net and '
                f"{values.shape} in the file. To train it from scratch, rename the layer."
                + other_images(net, layer, blob.shape, values.shape)
            )
    return stored


def _fits(layer: Layer, values: BlobArray, shape: tuple[int, ...]) -> bool:
    if layer.ones_count:
        return values.fits(shape)
    ours, theirs = ([d for d in sizes if d != 1] for sizes in (shape, values.shape))
    return ours == theirs


def _owns(net: Net, layer: Layer, j: int) -> bool:
    index = net.layers.index(layer)
    return net.params.learnable[net.params.ids[index][j]].owner == (index, j)


def share_weights(net: Net, other: Net) -> None:
    """Let ``net`` use the parameters of ``other``, by layer name; their gradients stay apart."""
    by_name = dict(zip(reversed(net.layer_names), reversed(net.layers), strict=True))
    for name, theirs in zip(other.layer_names, other.layers, strict=True):
        layer = by_name.get(name)
        if layer is None:
            log.info("net.cpp:648", "Ignoring source layer %s", name)
            continue
        shapes = [b.shape for b in layer.blobs], [b.shape for b in theirs.blobs]
        if shapes[0] != shapes[1]:
            raise NetError(
                f'layer "{name}": parameters of shapes {shapes[0]} and {shapes[1]} cannot be '
                "shared."
                + "".join(other_images(net, layer, a, b) for a, b in zip(*shapes, strict=False))
            )
        for mine, other_blob in zip(layer.blobs, theirs.blobs, strict=True):
            mine.share_data(other_blob)


@dataclass(frozen=True)
class NetWeights:
    """The weights of a net as files keep them.

    Attributes:
        net: its name and layers, as they see themselves: defaults they added included.
        data, diffs: for each layer its arrays; diffs if they are to be stored, too.
        owned: whether each of them is the layer's own, and not another's that it shares.
    """

    net: NetParameter
    data: list[list[Array]]
    diffs: list[list[Array]] | None
    owned: list[list[bool]]

    @staticmethod
    def of(net: Net, diffs: bool = False) -> NetWeights:
        saved = NetParameter(name=net.name)
        for layer in net.layers:
            saved.layer.add().CopyFrom(layer.layer_param)
            saved.layer[-1].ClearField("blobs")
        return NetWeights(
            saved,
            [[blob.data for blob in layer.blobs] for layer in net.layers],
            [[blob.diff for blob in layer.blobs] for layer in net.layers] if diffs else None,
            [[_owns(net, layer, j) for j in range(len(layer.blobs))] for layer in net.layers],
        )

    def arrays(self) -> Iterator[tuple[str, Array]]:
        """Each parameter with its name, as "fc6/0"."""
        for layer, blobs in zip(self.net.layer, self.data, strict=True):
            for j, values in enumerate(blobs):
                yield f"{layer.name}/{j}", values

    def write(self, path: Path_, binary: bool = True) -> int:
        """Write a .caffemodel, or a .caffemodel.h5; its checksum.

        A binary file has shared parameters with each of their layers, HDF5 with their owner only.
        """
        if binary:
            return write_weights(path, self.net, self.data, self.diffs)
        names = [layer.name for layer in self.net.layer]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise NetError(f"HDF5 needs different layer names; used twice: {', '.join(twice)}")
        own = [
            [values if owns else None for values, owns in zip(blobs, owned, strict=True)]
            for blobs, owned in zip(self.data, self.owned, strict=True)
        ]
        return hdf5.write_layers(path, names, own, self.diffs)


def save_weights(net: Net, path: Path_, diffs: bool = False) -> int:
    """Write a binary .caffemodel; its checksum."""
    return NetWeights.of(net, diffs).write(path)


def save_weights_hdf5(net: Net, path: Path_, diffs: bool = False) -> int:
    """Write a .caffemodel.h5; its checksum."""
    return NetWeights.of(net, diffs).write(path, binary=False)
