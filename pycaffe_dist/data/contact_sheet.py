"""Many small images on one, each with a line of text below: for a look into a database."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.data.annotations import CORNERS, LABEL, Boxes
from pycaffe_dist.data.drawing import draw_boxes
from pycaffe_dist.data.encoded import encode
from pycaffe_dist.data.image import Pixels, resize
from pycaffe_dist.data.pillow import pillow
from pycaffe_dist.files import atomic_write

COLUMNS = 10
SIDE = 96
GAP = 4
TEXT_HEIGHT = 14
BACKGROUND = 32


def write_sheet(path: str, images: Sequence[tuple[Array, str]]) -> None:
    """Write a PNG of images (channels, height, width) and what to write below each.

    Raises:
        FileError: it cannot be written.
    """
    with atomic_write(path) as file:
        file.write(encode(sheet_of(images), "png"))


def sheet_of(images: Sequence[tuple[Array, str]]) -> Pixels:
    """The same as one image, blue first."""
    Image, ImageDraw = pillow(), pillow("ImageDraw")
    columns = min(COLUMNS, len(images))
    rows = -(-len(images) // columns)
    cell = SIDE + GAP, SIDE + GAP + TEXT_HEIGHT
    sheet = Image.new("RGB", (columns * cell[0] + GAP, rows * cell[1] + GAP), (BACKGROUND,) * 3)
    draw = ImageDraw.Draw(sheet)
    for i, (values, text) in enumerate(images):
        left, top = GAP + i % columns * cell[0], GAP + i // columns * cell[1]
        picture = Image.fromarray(np.ascontiguousarray(_thumbnail(values)[:, :, ::-1]))
        beside = (SIDE - picture.width) // 2, (SIDE - picture.height) // 2
        sheet.paste(picture, (left + beside[0], top + beside[1]))
        draw.text((left, top + SIDE + 1), text[: SIDE // 6], fill=(255, 255, 255))
    whole: Pixels = np.asarray(sheet)[:, :, ::-1]
    return whole


def with_boxes(values: Array, boxes: Boxes) -> Array:
    """An image (channels, height, width) at the size it has on a sheet, with its objects' boxes."""
    pixels = _thumbnail(values)
    height, width = pixels.shape[:2]
    corners = boxes[:, CORNERS] * [width, height, width, height]
    drawn = draw_boxes(pixels, corners, boxes[:, LABEL].astype(int).tolist(), [""] * len(boxes))
    return drawn.transpose(2, 0, 1)


def _thumbnail(values: Array) -> Pixels:
    """Within SIDE × SIDE; small ones are enlarged by whole numbers."""
    pixels = _pixels(values)
    height, width = pixels.shape[:2]
    larger = max(height, width)
    if larger > SIDE:
        return resize(
            pixels, max(1, round(height * SIDE / larger)), max(1, round(width * SIDE / larger))
        )
    times = SIDE // larger
    return pixels.repeat(times, 0).repeat(times, 1)


def _pixels(values: Array) -> Pixels:
    """Bytes of three channels; other numbers of channels become grey images side by side."""
    if values.dtype != np.uint8:  # features: from the least to the greatest value
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        values = np.nan_to_num((values - low) * (255 / (high - low or 1))).astype(np.uint8)
    if len(values) not in (3, 4):
        values = np.concatenate(list(values), 1)[None]
    pixels: Pixels = values[:3].transpose(1, 2, 0)
    return pixels.repeat(3, 2) if pixels.shape[2] == 1 else pixels
