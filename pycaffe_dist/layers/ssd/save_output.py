"""Files of detections, in the formats of three benchmarks."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import numpy as np

from pycaffe_dist.aliases import Array, Facts
from pycaffe_dist.data.label_map import names, read_label_map
from pycaffe_dist.files import atomic_write
from pycaffe_dist.layers.ssd.image_sizes import ImageSizes

if TYPE_CHECKING:
    from pycaffe_dist.layer import Layer
    from pycaffe_dist.proto.caffe_pb2 import SaveOutputParameter

FORMATS = ("VOC", "COCO", "ILSVRC")


class SaveOutput:
    """Collects detections and writes them whenever those of ``num_test_image`` images are there.

    VOC: a file for each class but the background, ``<prefix><class>.txt``, of lines ``image score
    x1 y1 x2 y2``; COCO: ``<prefix>.json``, a list of image_id, category_id, bbox (x, y, width,
    height), score; ILSVRC: ``<prefix>.txt`` of lines ``image class score x1 y1 x2 y2``.
    As in SSD the numbers of COCO are hundredths of pixels, those of the others whole ones, of which
    x2 is x1 and the width, each cut off.  Without a folder, a label map or a list of images nothing
    is written.
    """

    def __init__(self, layer: Layer, p: SaveOutputParameter, background: int) -> None:
        wanted = p.output_directory and p.label_map_file and p.name_size_file
        self.on = bool(wanted) and not layer.context.dry
        self.count = 0
        self.rows: list[tuple[int, int, float, list[float]]] = []
        if not self.on:
            return
        layer.check(
            p.output_format in FORMATS,
            f"output_format is one of {', '.join(FORMATS)}, found {p.output_format!r}",
        )
        self.format, self.background = p.output_format, background
        self.names = names(read_label_map(p.label_map_file))
        resize = p.resize_param if p.HasField("resize_param") else None
        self.images = ImageSizes(p.name_size_file, resize, p.num_test_image)
        os.makedirs(p.output_directory, exist_ok=True)
        self.start = os.path.join(p.output_directory, p.output_name_prefix)

    def add(self, rows: Array, images: int) -> None:
        """Take the detections of the next images: (image, class, score, box)."""
        if not self.on:
            return
        for i in range(images):
            of_image = rows[(rows[:, 0] == i) & (rows[:, 1] != -1)]
            placed = self.images.to_pixels(of_image[:, 3:], self.count)
            for row, box in zip(of_image, placed, strict=True):
                sides = np.concatenate([box[:2], box[2:] - box[:2]]).astype(float)
                inside = (np.floor(sides * 100 + 0.5) / 100).tolist()
                self.rows.append((self.count, int(row[1]), float(row[2]), inside))
            self.count += 1
            if self.count == len(self.images.names):
                self._write()
                self.rows, self.count = [], 0

    def _write(self) -> None:
        for path, text in self._files().items():
            with atomic_write(path) as file:
                file.write(text.encode())

    def _files(self) -> dict[str, str]:
        """The text of each file by its path."""
        if self.format == "COCO":
            return {
                f"{self.start}.json": json.dumps([self._entry(*r) for r in self.rows], indent=1)
            }
        if self.format == "ILSVRC":
            lines = [
                f"{self.images.names[i]} {label} {_line(s, box)}" for i, label, s, box in self.rows
            ]
            return {f"{self.start}.txt": "".join(lines)}
        classes = [name for label, name in self.names.items() if label != self.background]
        found = {f"{self.start}{name}.txt": "" for name in classes}
        for i, label, score, box in self.rows:
            path = f"{self.start}{self.names.get(label, label)}.txt"
            found[path] = found.get(path, "") + f"{self.images.names[i]} {_line(score, box)}"
        return found

    def _entry(self, image: int, label: int, score: float, box: list[float]) -> Facts:
        name, kind = self.images.names[image], self.names.get(label, str(label))
        return {
            "image_id": int(name) if name.isdigit() else name,
            "category_id": int(kind) if kind.isdigit() else kind,
            "bbox": box,
            "score": score,
        }


def _line(score: float, box: list[float]) -> str:
    x, y, width, height = (int(v) for v in box)
    return f"{score:g} {x} {y} {x + width} {y + height}\n"
