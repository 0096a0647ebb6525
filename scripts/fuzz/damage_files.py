"""Damage to files that have a structure of their own: HDF5, LMDB, and .pcdstate."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from damage import INTEGERS, damage_bytes, overwrite

PAGE = 4096
SHAPES = [(), (0,), (1,), (6,), (6, 3, 8, 8), (2, 0, 3), (5, 1), (1,) * 32, (1 << 20, 4)]
HUGE = [(1 << 40,), (1 << 31, 4), (1 << 20, 1 << 12), (65536, 65536)]
TYPES = ("f4", "f8", "f2", "i1", "u8", "S3", "c8", "b1", "V4")


def damage_pages(rng: random.Random, data: bytes) -> bytes:
    """LMDB: the two meta pages, and the heads and tables of the others."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        page = rng.randrange(max(1, len(out) // PAGE)) * PAGE
        at = page + rng.choice((rng.randrange(24), rng.randrange(152), rng.randrange(PAGE)))
        if at >= len(out):
            continue
        if rng.random() < 0.5:
            out[at] ^= 1 << rng.randrange(8)
        else:
            overwrite(rng, out, at)
    if rng.random() < 0.15:
        del out[rng.randrange(len(out)) :]
    return bytes(out)


# -- HDF5 ------------------------------------------------------------------------------------------


def damage_hdf5(rng: random.Random, path: Path) -> None:
    """Change an object of an HDF5 file: its type, shape, links; or its bytes."""
    if rng.random() < 0.4:
        path.write_bytes(damage_bytes(rng, path.read_bytes(), 800))
        return
    with h5py.File(path, "r+") as file:
        names: list[str] = []
        file.visit(names.append)
        for _ in range(rng.choice((1, 1, 2))):
            name = rng.choice(names)
            if name not in file:
                continue
            if rng.random() < 0.1:
                number = rng.choice(("0", "1", "999", "99999999999", "-1", "x"))
                file[f"{name}_more/{number}"] = file[name]
                continue
            del file[name]
            rng.choice((_link, _link, _dataset, _dataset, _elsewhere, _many_names))(rng, file, name)


def _link(rng: random.Random, file: Any, name: str) -> None:
    soft = [h5py.SoftLink(to) for to in ("/", "/none", f"/{name}", "/x", "/data")]
    external = [h5py.ExternalLink(to, "/") for to in ("none.h5", "data.h5", "../data.h5")]
    file[name] = rng.choice((*soft, *external))


def _dataset(rng: random.Random, file: Any, name: str) -> None:
    what = rng.randrange(6)
    if what == 0:
        file.create_group(name)
    elif what == 1:
        file.create_dataset(name, (2,), dtype=h5py.string_dtype())
    elif what == 2:
        huge = rng.choice(HUGE)
        file.create_dataset(name, huge, "f4", chunks=(1024,) + (1,) * (len(huge) - 1))
    elif what == 3:
        file.create_dataset(name, data=np.zeros(2_000_000, "f4"), compression="gzip")
    elif what == 4:
        file.create_dataset(name, (3,), rng.choice((h5py.ref_dtype, h5py.regionref_dtype)))
    else:
        file.create_dataset(name, rng.choice(SHAPES), dtype=rng.choice(TYPES))


def _elsewhere(rng: random.Random, file: Any, name: str) -> None:
    """Values that lie in other files, or in other datasets."""
    if rng.random() < 0.5:
        layout = h5py.VirtualLayout((6, 3, 8, 8), "f4")
        layout[...] = h5py.VirtualSource(rng.choice((".", "none.h5")), "x", (6, 3, 8, 8))
        file.create_virtual_dataset(name, layout)
    else:
        outside = [(rng.choice(("none.bin", "list.txt")), 0, 16)]
        file.create_dataset(name, (16,), "u1", external=outside)


def _many_names(rng: random.Random, file: Any, name: str) -> None:
    """One small dataset of many values, under many names."""
    file.create_dataset(name, data=np.zeros(1 << 20, "f4"), compression="gzip")
    for i in range(rng.choice((10, 300))):
        file[f"data/many{i}/0"] = file[name]


# -- .pcdstate -------------------------------------------------------------------------------------


def damage_sidecar(rng: random.Random, path: Path) -> None:
    """Its bytes, its facts or its arrays."""
    if rng.random() < 0.3:
        path.write_bytes(damage_bytes(rng, path.read_bytes(), 200))
        return
    with np.load(path) as stored:
        arrays = dict(stored)
    facts = json.loads(arrays["facts"].tobytes())
    damage_json(rng, facts)
    arrays["facts"] = np.frombuffer(json.dumps(facts).encode(), np.uint8)
    if rng.random() < 0.4:
        others = (
            np.zeros(0),
            np.zeros(3, "u1"),
            np.zeros((624, 2), "u4"),
            np.array(7),
            np.array("x"),
        )
        arrays[rng.choice(list(arrays))] = rng.choice(others)
    save = np.savez_compressed if rng.random() < 0.1 else np.savez
    with path.open("wb") as file:
        save(file, **arrays)


def damage_json(rng: random.Random, value: Any) -> None:
    """Another value or name, at any depth."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not keys:
        return
    key = rng.choice(keys)
    if isinstance(value[key], (dict, list)) and value[key] and rng.random() < 0.6:
        damage_json(rng, value[key])
    elif isinstance(value, dict) and rng.random() < 0.3:
        new = rng.choice(("0/0/x", "9/9/y", "x/y/z", "1:0/0/x", f"{key}_"))
        value[new] = value.pop(key)
    else:
        value[key] = rng.choice([None, "x", 1.5, [], {}, True, *INTEGERS])
