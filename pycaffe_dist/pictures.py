"""Arrays as small pictures in a page or a notebook; PNG needs no library."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from pycaffe_dist.aliases import Array

Bytes = NDArray[np.uint8]
MOST_TILES = 64
LEAST_SIDE = 24  # pixels of a tile; smaller ones are enlarged by whole numbers


def png(pixels: Bytes) -> bytes:
    """An image (height, width, 3), blue first, as a PNG file."""
    height, width = pixels.shape[:2]
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each begins with its filter: none
    rows[:, 1:] = pixels[:, :, ::-1].reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )


def data_uri(pixels: Bytes) -> str:
    """The same as the source of an <img>."""
    return "data:image/png;base64," + base64.b64encode(png(pixels)).decode()


def tiles(planes: Array) -> Bytes:
    """The first planes (n, height, width) or (n, 3, height, width) side by side, each over its
    own range from black to white; those of three channels in colour, over their common range.
    """
    shown = [_scaled(plane) for plane in planes[:MOST_TILES]]
    height, width = shown[0].shape[:2]
    columns = min(len(shown), max(1, int(np.ceil(np.sqrt(len(shown) * height / max(width, 1))))))
    rows = -(-len(shown) // columns)
    sheet: Bytes = np.full((rows * (height + 1) + 1, columns * (width + 1) + 1, 3), 128, np.uint8)
    for i, tile in enumerate(shown):
        y, x = 1 + i // columns * (height + 1), 1 + i % columns * (width + 1)
        sheet[y : y + height, x : x + width] = tile
    return sheet


def _scaled(plane: Array) -> Bytes:
    values = np.nan_to_num(np.asarray(plane, np.float64), posinf=0, neginf=0)
    low, high = values.min(), values.max()
    bytes_ = ((values - low) * (255 / ((high - low) or 1))).astype(np.uint8)
    image = bytes_[:, :, None].repeat(3, 2) if bytes_.ndim == 2 else bytes_.transpose(1, 2, 0)
    times = max(1, LEAST_SIDE // max(image.shape[:2]))
    enlarged: Bytes = image.repeat(times, 0).repeat(times, 1)
    return enlarged
