"""The files of a case: records, and the texts of its nets and solvers."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from PIL import Image

from cluster_fuzz.case import Case
from cluster_fuzz.writer import CLASSES, boolean
from pycaffe_dist.data.lmdb_writer import image_record, write_lmdb

TRANSFORM = "transform_param { scale: 0.02 mean_value: 100 @CROP }"


def solver_text(case: Case, folder: Path, prefix: str) -> str:
    """The solver without its nets."""
    return (
        f'{case.solver} snapshot: {case.snapshot} snapshot_prefix: "{folder}/{prefix}" '
        f"max_iter: {case.steps} solver_mode: CPU snapshot_after_train: false display: 0 "
    )


def whole_solver_text(case: Case, folder: Path, ranks: int, prefix: str) -> str:
    text = solver_text(case, folder, prefix)
    text += f"train_net_param {{ {net_text(case, folder, case.joint // ranks)} }} "
    for batch, _ in case.tests:
        text += f"test_net_param {{ {net_text(case, folder, batch)} }} "
    return text


def net_text(case: Case, folder: Path, batch: int) -> str:
    c, h, w = case.shape
    batch_size = f"batch_size: {batch}"
    body = {
        "HDF5Data": f'hdf5_data_param {{ source: "{folder}/h5.txt" {batch_size} '
        f"shuffle: {boolean(case.shuffle)} }}",
        "Data": f'data_param {{ source: "{folder}/lmdb" backend: LMDB {batch_size} }} {TRANSFORM}',
        "ImageData": f'image_data_param {{ source: "{folder}/images.txt" {batch_size} }} '
        f"{TRANSFORM}",
        "WindowData": f'window_data_param {{ source: "{folder}/windows.txt" {batch_size} '
        f"fg_fraction: 0.5 scale: 0.02 }} {TRANSFORM}".replace("@CROP", f"crop_size: {w}"),
        "MemoryData": f"memory_data_param {{ {batch_size} channels: {c} height: {h} width: {w} }}",
    }[case.source].replace("@CROP", "")
    if case.source == "WindowData":
        body = body.replace("scale: 0.02 mean_value", "mean_value", 1)
    head, _, layers = case.net.partition("layer")
    data = f'layer {{ name: "data" type: "{case.source}" top: "data" top: "label" {body} }}\n'
    return head + data + ("layer" + layers).replace("@B", str(batch))


def write_records(case: Case, folder: Path) -> None:
    """The files of a case's source."""
    rng = np.random.default_rng(case.seed)
    labels = rng.integers(0, CLASSES, case.records)
    pixels = rng.integers(0, 256, (case.records, *case.shape), dtype=np.uint8)
    if case.source == "HDF5Data":
        _write_hdf5(case, folder, pixels, labels)
    elif case.source == "Data":
        pairs = enumerate(zip(pixels, labels, strict=True))
        write_lmdb(folder / "lmdb", [image_record(f"{i:05}", x, int(y)) for i, (x, y) in pairs])
    elif case.source in ("ImageData", "WindowData"):
        names = [folder / f"{i}.png" for i in range(case.records)]
        for name, image in zip(names, pixels, strict=True):
            Image.fromarray(image.transpose(1, 2, 0)).save(name)
        lines = [f"{name} {label}" for name, label in zip(names, labels, strict=True)]
        (folder / "images.txt").write_text("\n".join(lines) + "\n")
        (folder / "windows.txt").write_text(_windows(case, names, labels))


def _write_hdf5(case: Case, folder: Path, pixels: Any, labels: Any) -> None:
    n = case.records
    cuts = [0, n] if case.seed % 2 else [0, n // 3, n // 3 + 1, n]
    names = []
    for i, (a, b) in enumerate(pairwise(cuts)):
        names.append(f"{folder}/part{i}.h5")
        with h5py.File(names[-1], "w") as file:
            file["data"] = ((pixels[a:b] - 100.0) * 0.02).astype(np.float32)
            file["label"] = labels[a:b].astype(np.float32)
    (folder / "h5.txt").write_text("\n".join(names) + "\n")


def _windows(case: Case, names: list[Path], labels: Any) -> str:
    """Two windows of each image: the left one with an object, the right one without."""
    (_, h, w), text = case.shape, ""
    for i, (name, label) in enumerate(zip(names, labels, strict=True)):
        text += f"# {i}\n{name}\n3\n{h}\n{w}\n2\n{max(1, label)} 0.9 0 0 {w - 2} {h - 1}\n"
        text += f"0 0.1 1 0 {w - 1} {h - 1}\n"
    return text


def give_arrays(case: Case, solver: Any, rank: int, ranks: int) -> None:
    """MemoryData's: this rank's share of records, dealt as the other sources deal them."""
    rng = np.random.default_rng(case.seed)
    n = case.joint * 4
    data = rng.standard_normal((n, *case.shape)).astype(np.float32)
    labels = rng.integers(0, CLASSES, n).astype(np.float32)
    solver.net.layers[0].set_arrays(*(np.ascontiguousarray(a[rank::ranks]) for a in (data, labels)))
