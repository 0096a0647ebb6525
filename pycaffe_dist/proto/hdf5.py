"""Weights and solver state as HDF5: ``/data/<layer>/<i>``, ``/history/<i>``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import h5py
import numpy as np

from pycaffe_dist.errors import FileError
from pycaffe_dist.files import atomic_write, read_bytes
from pycaffe_dist.proto.blobs import Array, BlobArray

Path_ = str | os.PathLike[str]
_HDF5_ERRORS = (OSError, RuntimeError, KeyError, ValueError, TypeError, MemoryError)
_MAGIC = b"\x89HDF\r\n\x1a\n"


def is_hdf5(path: Path_) -> bool:
    """True if the file's first bytes are HDF5's."""
    return read_bytes(path, len(_MAGIC)) == _MAGIC


# -- reading --------------------------------------------------------------------------------------


def read_layers(path: Path_) -> list[tuple[str, list[BlobArray | None]]]:
    """The layers of a .caffemodel.h5: name and blobs, in the order of their names."""
    with _open(path) as file:
        if "data" not in file or not isinstance(file["data"], h5py.Group):
            has = ", ".join(f"/{k}" for k in file) or "nothing"
            hint = " (a solver state, perhaps)" if "history" in file else _keras(file)
            raise FileError(
                f"{path}: an HDF5 file without the group /data of a .caffemodel.h5; "
                f"it holds {has}{hint}"
            )
        diff = file.get("diff")
        if diff is not None and not isinstance(diff, h5py.Group):
            raise FileError(f"{path}: /diff is not a group")
        return [
            (name, _read_blobs(path, group, diff.get(name) if diff else None))
            for name, group in _layer_groups(file["data"], "", set())
        ]


def _keras(file: Any) -> str:
    of_keras = {"keras_version", "layer_names"} & set(file.attrs)
    return " (a Keras model: convert it to a .caffemodel first)" if of_keras else ""


def _layer_groups(parent: Any, prefix: str, seen: set[Any]) -> Iterator[tuple[str, Any]]:
    """The groups that stand for layers.  A slash in a layer's name makes groups within groups."""
    if parent in seen:
        raise ValueError(f"{parent.name} is linked to more than once")
    seen.add(parent)
    for key in parent:
        child = parent[key]
        if not isinstance(child, h5py.Group):
            continue
        inner = list(_layer_groups(child, f"{prefix}{key}/", seen))
        if any(isinstance(child[k], h5py.Dataset) for k in child) or not inner:
            yield f"{prefix}{key}", child
        yield from inner


def _read_blobs(path: Path_, group: Any, diffs: Any) -> list[BlobArray | None]:
    # None for a blob that another layer owns: Caffe stores shared weights once.
    data = _numbered(path, group)
    diff = _numbered(path, diffs) if diffs else {}
    count = max(data, default=-1) + 1
    if count > 1000:
        raise FileError(f"{path}: {group.name} has a blob {count - 1}")
    return [BlobArray(data[i], diff.get(i)) if i in data else None for i in range(count)]


def _numbered(path: Path_, group: Any) -> dict[int, Array]:
    """The datasets "0", "1", ... of a group."""
    sets = {key: group[key] for key in group if isinstance(group[key], h5py.Dataset)}
    for key, dataset in sets.items():
        if not key.isdigit() or dataset.dtype.kind not in "fiu":
            raise FileError(
                f"{path}: {dataset.name} is not a blob: expected numbers in datasets 0, 1, ..."
            )
    return {int(key): _as_floats(dataset) for key, dataset in sets.items()}


def _as_floats(dataset: Any) -> Array:
    # No filter shrinks more than a thousandfold: a larger size is damage, and not to be allocated.
    size = dataset.file.id.get_filesize()
    if dataset.size * dataset.dtype.itemsize > 1100 * size:
        raise ValueError(
            f"{dataset.name} claims {dataset.size:,} values in a file of {size:,} bytes"
        )
    kind = np.float64 if dataset.dtype == np.float64 else np.float32
    values: Array = np.asarray(dataset[()], kind)
    return values


def read_state(path: Path_) -> tuple[int, str, list[BlobArray], int]:
    """The iteration, learned_net, history and current_step of a .solverstate.h5."""
    with _open(path) as file:
        if "history" not in file or "iter" not in file:
            has = ", ".join(f"/{k}" for k in file) or "nothing"
            hint = " (weights, perhaps)" if "data" in file else ""
            raise FileError(
                f"{path}: an HDF5 file without /iter and /history of a .solverstate.h5; "
                f"it holds {has}{hint}"
            )
        history = _numbered(path, file["history"])
        learned = file["learned_net"][()] if "learned_net" in file else b""
        if not isinstance(learned, bytes):
            raise FileError(f"{path}: /learned_net is not a string")
        return (
            _integer(path, file, "iter"),
            learned.decode("utf-8", "replace"),
            [BlobArray(history[i]) for i in sorted(history)],
            _integer(path, file, "current_step") if "current_step" in file else 0,
        )


def _integer(path: Path_, file: Any, name: str) -> int:
    values = np.asarray(file[name][()]).reshape(-1)
    if values.size != 1 or values.dtype.kind not in "iuf" or not np.isfinite(values[0]):
        raise FileError(f"{path}: /{name} is not one number")
    return int(values[0])


class _open:
    """An HDF5 file for reading; whatever HDF5 says goes out as our error, with the file's name."""

    def __init__(self, path: Path_) -> None:
        self.path = path

    def __enter__(self) -> Any:
        try:
            self.file = h5py.File(self.path, "r")
        except (OSError, RuntimeError) as e:
            raise FileError(f"{self.path}: a damaged HDF5 file: {e}") from e
        return self.file

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: Any
    ) -> None:
        self.file.close()
        if isinstance(
            error, (OSError, RuntimeError, KeyError, ValueError, TypeError, MemoryError)
        ) and not isinstance(error, FileError):
            raise FileError(f"{self.path}: a damaged HDF5 file: {error}") from error


# -- writing --------------------------------------------------------------------------------------


def write_layers(
    path: Path_,
    names: Sequence[str],
    blobs: Sequence[Sequence[Array | None]],
    diffs: Sequence[Sequence[Array]] | None = None,
) -> None:
    """Write a .caffemodel.h5: a group for every layer, also one without blobs.

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
    with atomic_write(path) as raw, h5py.File(raw, "w") as file:
        for root, arrays in (("data", blobs), ("diff", diffs)):
            if arrays is None:
                continue
            for name, layer in zip(names, arrays, strict=True):
                group = file.require_group(f"{root}/{name}")
                for i, values in enumerate(layer):
                    if values is not None:
                        group.create_dataset(str(i), data=np.asarray(values, np.float32))


def write_state(
    path: Path_, iteration: int, learned_net: str, history: Sequence[Array], current_step: int
) -> None:
    """Write a .solverstate.h5."""
    with atomic_write(path) as raw, h5py.File(raw, "w") as file:
        file["iter"] = np.array([iteration], np.int32)
        file["current_step"] = np.array([current_step], np.int32)
        _write_string(file, "learned_net", learned_net)
        group = file.create_group("history")
        for i, values in enumerate(history):
            group.create_dataset(str(i), data=np.asarray(values, np.float32))


def _write_string(file: Any, name: str, text: str) -> None:
    """A string that ends in a zero byte: Caffe's reader relies on it."""
    value = text.encode() + b"\0"
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(len(value))
    dataset = h5py.h5d.create(file.id, name.encode(), kind, h5py.h5s.create(h5py.h5s.SCALAR))
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array(value, f"S{len(value)}"), kind)
