"""What ``pcd detect --ssd`` does: the boxes that a net finds in images, and drawings of them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.data.drawing import draw_boxes
from pycaffe_dist.data.encoded import encode
from pycaffe_dist.data.image import Pixels, read_image
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.files import atomic_write, make_folder
from pycaffe_dist.layers.ssd.image_sizes import in_pixels
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.report.table import table
from pycaffe_dist.tools.detect import read_names
from pycaffe_dist.tools.image_net import ImageNet
from pycaffe_dist.tools.preprocess import Preprocess, pictures_in

DETECTORS = ("DetectionOutput", "YoloDetectionOutput", "Yolov3DetectionOutput")
COLUMNS = 7  # image, class, score, xmin, ymin, xmax, ymax


@dataclass
class Found:
    """What a detector finds in an image, the best first.

    Attributes:
        name: the image's.
        size: its height and width.
        rows: (n, 6): class, score, xmin, ymin, xmax, ymax in pixels.
    """

    name: str
    size: tuple[int, int]
    rows: Array


class BoxDetector(ImageNet):
    """A net that ends in one of ``DETECTORS``."""

    def __init__(self, how: Preprocess, size: tuple[int, ...] | None = None) -> None:
        super().__init__(how, size)
        tops = [
            ids[0]
            for layer, ids in zip(self.net.layers, self.net.top_ids, strict=True)
            if layer.type in DETECTORS
        ]
        if not tops:
            raise NetError(
                f"{how.model_def}: has no layer that gives boxes ({', '.join(DETECTORS)}); a net "
                "for training has none"
            )
        self.output = self.net.blobs[tops[-1]]

    def detect(self, image: Pixels, name: str = "", threshold: float = 0.0) -> Found:
        """What is in an image, with a score of at least ``threshold``."""
        self.run(image)
        found = np.array(self.output.data, np.float64)
        rows = found.reshape(-1, found.shape[-1])[:, :COLUMNS]  # polygons are not drawn
        rows = rows[(rows[:, 1] >= 0) & (rows[:, 2] >= threshold)]
        rows = rows[np.argsort(-rows[:, 2], kind="stable"), 1:]
        size = image.shape[0], image.shape[1]
        rows[:, 2:] = in_pixels(rows[:, 2:], size, self.resize)
        return Found(name, size, rows)


def finds_boxes(model: str) -> bool:
    """Whether a deployed net, by its file, ends in a layer that gives boxes."""
    layers = read_net(model).net.layer
    return bool(layers) and layers[-1].type in DETECTORS


def images_of(path: str) -> list[str]:
    """The images that a path stands for: one, those of a folder, or those that a .txt lists."""
    if os.path.isdir(path):
        return pictures_in(path)
    return read_names(path) if path.endswith(".txt") else [path]


def detect_images(
    net: BoxDetector, names: Sequence[str], threshold: float
) -> Iterator[tuple[Pixels, Found]]:
    for name in names:
        image = read_image(name, color=net.color)
        yield image, net.detect(image, name, threshold)


# -- what is done with it --------------------------------------------------------------------------


def as_json(found: Found, names: Mapping[int, str]) -> dict[str, object]:
    return {
        "input": found.name,
        "height": found.size[0],
        "width": found.size[1],
        "detections": [
            {
                "class": int(label),
                "label": names.get(int(label)),
                "score": round(score, 6),
                "box": [round(corner, 2) for corner in corners],
            }
            for label, score, *corners in found.rows.tolist()
        ],
    }


def as_table(found: Sequence[Found], names: Mapping[int, str]) -> list[str]:
    rows = [
        (
            one.name if i == 0 else "",
            names.get(int(label), str(int(label))),
            f"{score:.4f}",
            *(f"{corner:.1f}" for corner in corners),
        )
        for one in found
        for i, (label, score, *corners) in enumerate(one.rows.tolist())
    ]
    return table(("image", "class", "score", "xmin", "ymin", "xmax", "ymax"), rows, left=2)


def drawings(names: Sequence[str], output: str) -> list[str]:
    """Where the drawing of each image goes: a .png for one image, or into a folder, made if needed.

    Raises:
        FileError: two images would go into one file, or a file would be written over itself.
    """
    if output.endswith(".png") and not os.path.isdir(output):
        if len(names) > 1:
            raise FileError(f"{output}: {len(names)} images need a folder for their drawings")
        paths = [output]
    else:
        stems = [os.path.splitext(os.path.basename(name))[0] for name in names]
        paths = [os.path.join(output, f"{stem}.png") for stem in stems]
        [(path, count)] = Counter(paths).most_common(1)
        if count > 1:
            raise FileError(f"{path}: {count} images of that name; give each folder one of its own")
        make_folder(output)
    for name, path in zip(names, paths, strict=True):
        if os.path.exists(path) and os.path.exists(name) and os.path.samefile(name, path):
            raise FileError(f"{path}: is the image itself; name another folder for the drawings")
    return paths


def write_drawing(path: str, image: Pixels, found: Found, names: Mapping[int, str]) -> None:
    classes = found.rows[:, 0].astype(int).tolist()
    texts = [
        f"{names.get(kind, kind)} {score:.2f}"
        for kind, score in zip(classes, found.rows[:, 1], strict=True)
    ]
    write_png(path, draw_boxes(image, found.rows[:, 2:], classes, texts))


def write_png(path: str, image: Pixels) -> None:
    with atomic_write(path) as file:
        file.write(encode(image, "png"))
