"""Images whose pixels are classes: read as numbers, written with VOC's palette."""

from __future__ import annotations

import io

import numpy as np

from pycaffe_dist.data.drawing import palette
from pycaffe_dist.data.image import Pixels
from pycaffe_dist.data.pillow import open_image, pillow
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import atomic_write, read_bytes, reading


def read_label_image(path: str) -> Pixels:
    """(height, width): the indices of a palette image, such as VOC's, or the values of a grey one.

    Raises:
        FileError: it is not an image, or one in colours.
    """
    data = read_bytes(path)
    with reading(path, "is not a readable image"):
        image = open_image(io.BytesIO(data))
        if image.mode not in ("P", "L", "1"):
            raise FileError(
                f"{path}: is an image of the kind {image.mode}; labels are a palette image or a "
                "grey one of 8 bits"
            )
        values: Pixels = np.asarray(image.convert("L") if image.mode == "1" else image)
    return values


def write_label_image(path: str, classes: Pixels) -> None:
    """A PNG of classes (height, width) as indices of VOC's palette."""
    image = pillow().fromarray(np.ascontiguousarray(classes))
    image.putpalette(palette().tobytes())
    file = io.BytesIO()
    image.save(file, "PNG")
    with atomic_write(path) as target:
        target.write(file.getvalue())
