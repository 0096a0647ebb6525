"""Weights and solver state as HDF5: ``/data/<layer>/<i>``, ``/history/<i>``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import atomic_write, read_bytes
from pycaffe_dist.optional import LazyModule
from pycaffe_dist.proto.blobs import BlobArray
from pycaffe_dist.proto.hdf5_file import HDF5File, open_hdf5
from pycaffe_dist.proto.seal import seal_end

if TYPE_CHECKING:
    import h5py
else:
    h5py = LazyModule("h5py", "h5py", "Reading and writing HDF5 files")

Path_ = str | os.PathLike[str]
MOST_BLOBS = 1000  # of a layer
MOST_NAME = 1 << 16  # bytes, of a path
_MAGIC = b"\x89HDF\r\n\x1a\n"


def is_hdf5(path: Path_) -> bool:
    """True if the file's first bytes are HDF5's."""
    return read_bytes(path, len(_MAGIC)) == _MAGIC


# -- reading --------------------------------------------------------------------------------------


def read_layers(
    path: Path_, image: Array | None = None
) -> list[tuple[str, list[BlobArray | None]]]:
    """The layers of a .caffemodel.h5: name and blobs, in the order of their names.

    ``image``: the bytes of the file, if somebody has read them already.
    """
    with open_hdf5(path, image) as file:
        data, diff = file.get("data"), file.get("diff")
        if not isinstance(data, h5py.Group):
            hint = " (a solver state, perhaps)" if file.get("history") else _keras(file.root)
            raise FileError(
                f"{path}: an HDF5 file without the group /data of a .caffemodel.h5; "
                f"it holds {_names(file)}{hint}"
            )
        if diff is not None and not isinstance(diff, h5py.Group):
            raise FileError(f"{path}: /diff is not a group")
        return [
            (name, _read_blobs(file, group, file.get(name, diff) if diff else None))
            for name, group in _layer_groups(file, data, "", set())
        ]


def _names(file: HDF5File) -> str:
    return ", ".join(f"/{k}" for k in file.root) or "nothing"


def _keras(root: h5py.Group) -> str:
    of_keras = {"keras_version", "layer_names"} & set(root.attrs)
    return " (a Keras model: convert it to a .caffemodel first)" if of_keras else ""


def _layer_groups(
    file: HDF5File, parent: h5py.Group, prefix: str, seen: set[h5py.Group]
) -> Iterator[tuple[str, h5py.Group]]:
    """The groups that stand for layers.  A slash in a layer's name makes groups within groups."""
    if parent in seen:
        raise ValueError(f"{parent.name} is linked to more than once")
    seen.add(parent)
    for key in parent:
        child = file.get(key, parent)
        if not isinstance(child, h5py.Group):
            continue
        inner = list(_layer_groups(file, child, f"{prefix}{key}/", seen))
        if not inner or any(isinstance(file.get(k, child), h5py.Dataset) for k in child):
            yield f"{prefix}{key}", child
        yield from inner


def _read_blobs(
    file: HDF5File, group: h5py.Group, diffs: h5py.Group | None
) -> list[BlobArray | None]:
    # None for a blob that another layer owns: Caffe stores shared weights once.
    data = _numbered(file, group)
    diff = _numbered(file, diffs) if diffs else {}
    count = max(data, default=-1) + 1
    if count > MOST_BLOBS:
        raise FileError(f"{file.path}: {group.name} has a blob {count - 1}")
    return [BlobArray(data[i], diff.get(i)) if i in data else None for i in range(count)]


def _numbered(file: HDF5File, group: h5py.Group) -> dict[int, Array]:
    """The datasets "0", "1", ... of a group."""
    found: dict[int, Array] = {}
    for key in group:
        dataset = file.get(key, group)
        if dataset is None:
            raise ValueError(f"{group.name}/{key} is a link that leads nowhere")
        if not isinstance(dataset, h5py.Dataset):
            continue
        if not key.isdecimal() or dataset.dtype.kind not in "fiu":
            raise FileError(
                f"{file.path}: {dataset.name} is not a blob: expected numbers in datasets 0, 1, ..."
            )
        found[int(key)] = file.values(dataset)
    return found


def read_state(
    path: Path_, image: Array | None = None
) -> tuple[int, str, list[BlobArray], int, float, int]:
    """The iteration, learned_net, history and current_step of a .solverstate.h5.

    And SSD's minimum_loss and iter_last_event: as if nothing was seen, where they are missing.
    ``image`` as of :func:`read_layers`.
    """
    with open_hdf5(path, image) as file:
        history, least = file.get("history"), file.get("minimum_loss")
        if history is None or file.get("iter") is None:
            hint = " (weights, perhaps)" if file.get("data") else ""
            raise FileError(
                f"{path}: an HDF5 file without /iter and /history of a .solverstate.h5; "
                f"it holds {_names(file)}{hint}"
            )
        blobs = _numbered(file, history)
        return (
            _integer(file, "iter"),
            _learned_net(file),
            [BlobArray(blobs[i]) for i in sorted(blobs)],
            _integer(file, "current_step") if file.get("current_step") is not None else 0,
            1e38 if least is None else float(file.values(least).reshape(-1)[0]),
            _integer(file, "iter_last_event") if file.get("iter_last_event") is not None else 0,
        )


def _learned_net(file: HDF5File) -> str:
    dataset = file.get("learned_net")
    if dataset is None:
        return ""
    long = dataset.size != 1 or dataset.dtype.itemsize > MOST_NAME
    learned = None if long else dataset[()]
    if not isinstance(learned, bytes):
        raise FileError(f"{file.path}: /learned_net is not a string")
    return learned.decode("utf-8", "replace")


def _integer(file: HDF5File, name: str) -> int:
    dataset = file.get(name)
    if dataset is None or dataset.size != 1 or dataset.dtype.kind not in "iuf":
        raise FileError(f"{file.path}: /{name} is not one number")
    value = file.values(dataset, "f8").item()
    if not np.isfinite(value):
        raise FileError(f"{file.path}: /{name} is not one number")
    return int(value)


# -- writing --------------------------------------------------------------------------------------


def write_layers(
    path: Path_,
    names: Sequence[str],
    blobs: Sequence[Sequence[Array | None]],
    diffs: Sequence[Sequence[Array]] | None = None,
) -> int:
    """Write a .caffemodel.h5: a group for every layer, also one without blobs; its checksum.

    None stands for a blob that another layer owns: it is left out, the others keep their numbers.
    """
    taken: set[str] = set()
    for name, layer in zip(names, blobs, strict=True):
        own = {name, *(f"{name}/{i}" for i in range(len(layer)))}
        plain = name and "\0" not in name and not {"", "."} & set(name.split("/"))
        if not plain or own & taken:
            raise FileError(
                f"{path}: the layer name {name!r} cannot be kept in HDF5: "
                + ("another layer has it, too" if plain else "it is no path")
            )
        taken |= own
    with _sealed(path) as (file, checksum):
        for root, arrays in (("data", blobs), ("diff", diffs)):
            if arrays is None:
                continue
            for name, layer in zip(names, arrays, strict=True):
                group = file.require_group(f"{root}/{name}")
                for i, values in enumerate(layer):
                    if values is not None:
                        group.create_dataset(str(i), data=np.asarray(values, np.float32))
    return checksum[0]


@contextmanager
def _sealed(path: Path_) -> Iterator[tuple[h5py.File, list[int]]]:
    """A new file that gets a seal behind its end, and room for its checksum."""
    checksum: list[int] = []
    with atomic_write(path) as raw:
        with h5py.File(raw, "w") as file:
            yield file, checksum
        checksum.append(seal_end(raw))


def write_state(
    path: Path_,
    iteration: int,
    learned_net: str,
    history: Sequence[Array],
    current_step: int,
    plateau: tuple[float, int] | None = None,
) -> int:
    """Write a .solverstate.h5; ``plateau`` are minimum_loss and iter_last_event.  Its checksum."""
    with _sealed(path) as (file, checksum):
        file["iter"] = np.array([iteration], np.int32)
        file["current_step"] = np.array([current_step], np.int32)
        if plateau:
            file["minimum_loss"] = np.array([plateau[0]], np.float32)
            file["iter_last_event"] = np.array([plateau[1]], np.int32)
        _write_string(file, "learned_net", learned_net)
        group = file.create_group("history")
        for i, values in enumerate(history):
            group.create_dataset(str(i), data=np.asarray(values, np.float32))
    return checksum[0]


def _write_string(file: h5py.File, name: str, text: str) -> None:
    """A string that ends in a zero byte: Caffe's reader relies on it."""
    value = text.encode() + b"\0"
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(len(value))
    dataset = h5py.h5d.create(file.id, name.encode(), kind, h5py.h5s.create(h5py.h5s.SCALAR))
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array(value, f"S{len(value)}"), kind)
