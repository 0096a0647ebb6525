"""Images as the bytes of an image file: made from pixels, and measured without decoding."""

from __future__ import annotations

import io

import numpy as np

from pycaffe_dist.data.image import Pixels
from pycaffe_dist.data.pillow import pillow

JPEG_QUALITY = 95  # OpenCV's


def encode(pixels: Pixels, extension: str, quality: int = JPEG_QUALITY) -> bytes:
    """The file that OpenCV's imencode would make of ``pixels``; JPEGs differ in single bits.

    Args:
        pixels: (height, width, channels), blue first.
        extension: such as ``png`` or ``jpg``.
        quality: of a JPEG.

    Raises:
        ValueError: images of that kind cannot be written.
    """
    Image = pillow()
    kind = Image.registered_extensions().get(f".{extension.lower()}")
    if kind not in Image.SAVE:
        raise ValueError(f"images cannot be encoded as {extension!r}; png and jpg are usual")
    gray = pixels.shape[2] == 1
    colors = pixels[:, :, 0] if gray else pixels[:, :, ::-1]
    file = io.BytesIO()
    settings = {"quality": quality, "subsampling": "4:2:0"} if kind == "JPEG" else {}
    Image.fromarray(np.ascontiguousarray(colors)).save(file, kind, **settings)
    return file.getvalue()


def encoded_shape(encoded: bytes) -> tuple[str, tuple[int, int, int]]:
    """The kind of an image file, and its channels, height and width, from its first bytes.

    Raises:
        ValueError: it is not an image.
    """
    Image = pillow()
    try:
        with Image.open(io.BytesIO(encoded)) as image:
            width, height = image.size
            channels = {"1": 1, "L": 1, "I": 1, "I;16": 1, "F": 1}.get(image.mode)
            if channels is None:
                alpha = image.mode in ("LA", "RGBA", "PA") or "transparency" in image.info
                channels = 4 if alpha else 3
            return str(image.format), (channels, height, width)
    except Exception as e:  # a decoder may meet anything in a damaged file
        raise ValueError(f"is not a readable image: {e}") from e
