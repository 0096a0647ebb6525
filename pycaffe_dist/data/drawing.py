"""Boxes, classes of pixels and their names, drawn onto images."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.data.image import Pixels
from pycaffe_dist.data.pillow import pillow
from pycaffe_dist.errors import visible

CLASSES = 256


def palette() -> Pixels:
    """(256, 3): VOC's colours of classes, red first.

    The bits of a number, three at a time from the lowest, are the bits of red, green and blue from
    the highest: class 1 is (128, 0, 0), class 8 (64, 0, 0), class 0 black.
    """
    number = np.arange(CLASSES)
    colors: Pixels = np.zeros((CLASSES, 3), np.uint8)
    for place in range(8):
        for channel in range(3):
            bit = number >> (3 * place + channel) & 1
            colors[:, channel] |= (bit << (7 - place)).astype(np.uint8)
    return colors


def draw_boxes(image: Pixels, boxes: Array, classes: Sequence[int], texts: Sequence[str]) -> Pixels:
    """An image (height, width, channels), blue first, in colour with boxes (n, 4) in its pixels.

    Each has the colour of its class, and its text in its upper left corner.
    """
    Image, ImageDraw = pillow(), pillow("ImageDraw")
    colors = image.repeat(3, 2) if image.shape[2] == 1 else image[:, :, 2::-1]
    picture = Image.fromarray(np.ascontiguousarray(colors))
    draw = ImageDraw.Draw(picture)
    thick = max(1, round(min(image.shape[:2]) / 200))
    known = palette()
    last = np.array([picture.width, picture.height] * 2) - 1
    for box, kind, text in zip(boxes, classes, texts, strict=True):
        color = tuple(int(value) for value in known[kind % CLASSES])
        x1, y1, x2, y2 = (int(v) for v in np.clip(np.rint(box), 0, last))
        draw.rectangle((x1, y1, max(x1, x2), max(y1, y2)), outline=color, width=thick)
        if text:
            text = (
                visible(text).encode("latin-1", "replace").decode("latin-1")
            )  # the font has these
            left, top, right, bottom = draw.textbbox((x1 + thick, y1 + thick), text)
            draw.rectangle((left - 1, top - 1, right + 1, bottom + 1), fill=color)
            dark = sum(color) < 3 * 128
            draw.text((x1 + thick, y1 + thick), text, fill=(255,) * 3 if dark else (0,) * 3)
    drawn: Pixels = np.asarray(picture)[:, :, ::-1]
    return drawn
