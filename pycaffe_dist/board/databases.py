"""The databases below the folders of the board, and those of a run's tests."""

from __future__ import annotations

import os
from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np

from pycaffe_dist.aliases import Facts
from pycaffe_dist.board.places import Places
from pycaffe_dist.data.annotations import either_record, labels_in
from pycaffe_dist.data.contact_sheet import sheet_of, with_boxes
from pycaffe_dist.data.database import kind_of, records_of, size_of
from pycaffe_dist.data.datum import datum_pixels
from pycaffe_dist.data.image import Pixels
from pycaffe_dist.data.lmdb_writer import LABELS
from pycaffe_dist.errors import FileError
from pycaffe_dist.pictures import data_uri
from pycaffe_dist.tools.classify import read_labels

MOST = 500
COUNTED = 20_000  # records whose labels are counted
SHOWN = 60


def find(places: Places) -> dict[str, Path]:
    """The databases, by what they are called in the page."""
    found: dict[str, Path] = {}
    for root in (*places.roots, *places.data):
        for top, folders, files in os.walk(root):
            folders[:] = sorted(f for f in folders if not f.startswith("."))
            if "data.mdb" in files or "CURRENT" in files:
                here = Path(top)
                found[f"{root.resolve().name}/{here.relative_to(root).as_posix()}"] = here
                folders.clear()
            if len(found) >= MOST:
                return found
    return found


def look(path: Path) -> Facts:
    """How many records, of which labels and shapes, and the first images as one sheet."""
    kind = kind_of(str(path))
    labels: Counter[int] = Counter()
    shapes: Counter[str] = Counter()
    images: list[tuple[Pixels, str]] = []
    bad = read = 0
    boxed = False
    names = labels_beside(path)
    for _, value in islice(records_of(str(path), kind), COUNTED):
        try:
            datum, boxes = either_record(value)
            found = labels_in(datum, boxes)
            if len(images) < SHOWN:
                pixels = datum_pixels(datum)
                shapes["x".join(map(str, pixels.shape))] += 1
                text = ", ".join(names.get(label, str(label)) for label in found)
                if pixels.size:
                    images.append((pixels if boxes is None else with_boxes(pixels, boxes), text))
            labels.update(found)
            read, boxed = read + 1, boxed or boxes is not None
        except ValueError:
            bad += 1
    count = size_of(str(path), kind)
    read += bad
    return {
        "kind": kind,
        "count": count if count is not None else read,
        "read": read,
        "bad": bad,
        "boxed": boxed,
        "shapes": [shape for shape, _ in shapes.most_common(5)],
        "labels": [
            {"label": label, "name": names.get(label, ""), "count": labels[label]}
            for label in sorted(labels)
        ],
        "sheet": data_uri(np.asarray(sheet_of(images))) if images else "",
    }


def labels_beside(path: Path) -> dict[int, str]:
    try:
        return dict(enumerate(read_labels(str(path / LABELS))))
    except FileError:
        return {}
