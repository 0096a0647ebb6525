"""Boxes of objects in an image: SSD's records of them, and what becomes of them with the image.

Boxes are rows (label, instance, xmin, ymin, xmax, ymax, difficult) of floats; the corners are parts
of the image's width and height, from 0 to 1.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from pycaffe_dist.aliases import Array
from pycaffe_dist.boxes import areas, intersections
from pycaffe_dist.data.datum import parse_datum
from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import Datum, EmitConstraint, ResizeParameter
from pycaffe_dist.proto.wire_format import LEN, Field, WireError, fields, head, signed, varint

Boxes = NDArray[np.float32]  # (count, 7)
Window = NDArray[np.float32]  # xmin, ymin, xmax, ymax

LABEL, INSTANCE, DIFFICULT = 0, 1, 6
CORNERS = slice(2, 6)
WHOLE: Window = np.array([0, 0, 1, 1], np.float32)

# -- records ---------------------------------------------------------------------------------------

# AnnotatedDatum: datum 1, type 2 (BBOX is 0), annotation_group 3: group_label 1, annotation 2:
# instance_id 1, bbox 2: xmin 1, ymin 2, xmax 3, ymax 4, label 5, difficult 6.

ANNOTATED = bytes([1 << 3 | LEN])  # how such a record begins; in a Datum field 1 is a number


def parse_annotated(value: bytes | memoryview) -> tuple[memoryview, Boxes | None]:
    """The Datum in an AnnotatedDatum, as bytes, and its boxes; None if it is not of boxes at all.

    Raises:
        ValueError: the bytes are something else.
    """
    buffer = memoryview(value)
    datum: memoryview | None = None
    annotated, rows = False, []
    try:
        for field in fields(buffer, 0, len(buffer)):
            if field.number == 1 and field.wire == LEN:
                datum = buffer[field.begin : field.end]
            elif field.number == 2:
                annotated = True
                if field.value != 0:
                    raise ValueError(f"has annotations of the unknown type {field.value}")
            elif field.number == 3 and field.wire == LEN:
                rows += _group(buffer, field)
    except (WireError, struct.error) as e:
        raise ValueError(f"is not an AnnotatedDatum: {e}") from e
    if datum is None:
        raise ValueError("is not an AnnotatedDatum: there is no Datum in it")
    return datum, np.array(rows, np.float32).reshape(-1, 7) if annotated else None


def either_record(value: bytes | memoryview) -> tuple[Datum, Boxes | None]:
    """The Datum of a record, and its boxes if it is one of SSD's.

    Raises:
        ValueError: the bytes are neither.
    """
    if bytes(value[:1]) != ANNOTATED:
        return parse_datum(value), None
    inner, boxes = parse_annotated(value)
    return parse_datum(inner), boxes


def labels_in(datum: Datum, boxes: Boxes | None) -> list[int]:
    """The labels of a record: the image's, or those of its boxes."""
    return [datum.label] if boxes is None else [int(label) for label in boxes[:, LABEL]]


def _group(buffer: memoryview, group: Field) -> list[list[float]]:
    label, rows = 0, []
    for field in fields(buffer, group.begin, group.end):
        if field.number == 1:
            label = signed(field.value)
        elif field.number == 2:
            rows.append(_annotation(buffer, field))
    for row in rows:
        row[LABEL] = label
    return rows


def _annotation(buffer: memoryview, annotation: Field) -> list[float]:
    row = [0.0] * 7
    for field in fields(buffer, annotation.begin, annotation.end):
        if field.number == 1:
            row[INSTANCE] = signed(field.value)
        elif field.number == 2:
            for part in fields(buffer, field.begin, field.end):
                if part.number <= 4:
                    row[1 + part.number] = struct.unpack("<f", buffer[part.begin : part.end])[0]
                elif part.number == 6:
                    row[DIFFICULT] = part.value
    return row


def write_annotated(datum: bytes, boxes: Iterable[Sequence[float]]) -> bytes:
    """An AnnotatedDatum of a serialized Datum and rows of boxes; a label's stand together."""
    groups: dict[int, list[bytes]] = {}
    for label, instance, *corners, difficult in boxes:
        numbers = enumerate(corners, 1)
        box = b"".join(varint(n << 3 | 5) + struct.pack("<f", value) for n, value in numbers)
        box += varint(6 << 3) + varint(int(difficult))
        one = varint(1 << 3) + varint(int(instance)) + head(2, len(box)) + box
        groups.setdefault(int(label), []).append(head(2, len(one)) + one)
    out = head(1, len(datum)) + datum + varint(2 << 3) + varint(0)
    for label, members in groups.items():
        group = varint(1 << 3) + varint(label) + b"".join(members)
        out += head(3, len(group)) + group
    return out


# -- geometry --------------------------------------------------------------------------------------


def projected(boxes: Boxes, window: Window, emit: EmitConstraint | None = None) -> Boxes:
    """Boxes as they are in a window of the image, cut off at its edges; others are left out.

    ``emit``: CENTER keeps those whose centre is in the window, MIN_OVERLAP those of which more than
    ``emit_overlap`` is.
    """
    corners = boxes[:, CORNERS]
    meets = (corners[:, :2] < window[2:]).all(axis=1) & (corners[:, 2:] > window[:2]).all(axis=1)
    if emit is not None:
        meets &= _emitted(corners, window, emit)
    out = boxes[meets]
    size = np.tile(window[2:] - window[:2], 2)
    out[:, CORNERS] = np.clip((out[:, CORNERS] - np.tile(window[:2], 2)) / size, 0, 1)
    return out[areas(out[:, CORNERS]) > 0]


def _emitted(corners: Array, window: Window, emit: EmitConstraint) -> Array:
    if emit.emit_type == EmitConstraint.CENTER:
        centres = (corners[:, :2] + corners[:, 2:]) / 2
        return np.all((centres >= window[:2]) & (centres <= window[2:]), axis=1)
    inside = intersections(corners, window[None])[:, 0]
    return inside > emit.emit_overlap * areas(corners)


def mirrored(boxes: Boxes) -> Boxes:
    """Boxes of the mirrored image."""
    out = boxes.copy()
    out[:, 2], out[:, 4] = 1 - boxes[:, 4], 1 - boxes[:, 2]
    return out


def fitted_size(resize: ResizeParameter, height: int, width: int) -> tuple[int, int]:
    """What an image is scaled to: the size asked for, or with its own proportions in or over it."""
    aspect, wanted = np.float32(width) / height, np.float32(resize.width) / resize.height
    if resize.resize_mode == ResizeParameter.WARP:
        return resize.height, resize.width
    large = resize.resize_mode == ResizeParameter.FIT_LARGE_SIZE_AND_PAD
    if aspect > wanted if large else aspect < wanted:
        return int(np.float32(resize.width) / aspect), resize.width
    return resize.height, int(aspect * resize.height)


def resized(boxes: Boxes, resize: ResizeParameter, height: int, width: int) -> Boxes:
    """Boxes of the image after its resizing, padding included."""
    if resize.resize_mode != ResizeParameter.FIT_LARGE_SIZE_AND_PAD:
        return boxes  # parts of the width and height stay what they are
    aspect, wanted = width / height, resize.width / resize.height
    filled = np.array([min(1.0, aspect / wanted), min(1.0, wanted / aspect)], np.float32)
    out = boxes.copy()
    out[:, CORNERS] = boxes[:, CORNERS] * np.tile(filled, 2) + np.tile((1 - filled) / 2, 2)
    return out


def extrapolated(
    boxes: Boxes, resize: ResizeParameter, shape: tuple[int, int], window: Window
) -> Boxes:
    """Boxes counted in ``width_scale`` and ``height_scale`` pixels, if both are given.

    ``shape`` is the image's height and width before FIT_SMALL_SIZE, ``window`` the crop after it.
    """
    scale = np.array([resize.width_scale, resize.height_scale], np.float32)
    if resize.resize_mode != ResizeParameter.FIT_SMALL_SIZE or not scale.all():
        return boxes
    aspect, wanted = shape[1] / shape[0], resize.width / resize.height
    sides = [resize.width, resize.width / aspect]
    if aspect >= wanted:
        sides = [resize.height * aspect, resize.height]
    crop = np.array(sides, np.float32) * (window[2:] - window[:2])
    if (crop < scale).any():
        raise NetError(
            f"height_scale {scale[1]:g} and width_scale {scale[0]:g} are larger than the "
            f"{crop[1]:g} × {crop[0]:g} pixels of the crop"
        )
    out = boxes.copy()
    out[:, CORNERS] *= np.tile(crop / scale, 2)
    return out
