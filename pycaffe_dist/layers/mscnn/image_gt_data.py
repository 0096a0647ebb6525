"""ImageGtData of MS-CNN: parts of images, and maps of the boxes in them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Blob, View, Views
from pycaffe_dist.data.field_labels import (
    PER_CELL,
    Entry,
    FieldMaps,
    Part,
    ignore_some,
    prepare,
    read_entries,
)
from pycaffe_dist.data.image import read_image
from pycaffe_dist.data.prefetch import Batch
from pycaffe_dist.data.transformer import Draws, SeededTransformer, Shape, Transformer
from pycaffe_dist.errors import FileError
from pycaffe_dist.layer import register
from pycaffe_dist.layers.base_data import BadRecord, Draft, Item, Label
from pycaffe_dist.layers.image_data import ImageData

NOBODY = (0, 1, 1, 2, 2, 1, 1)  # the row of a batch without any box, which is ignored
COLUMNS = 7


@register("ImageGtData")
class ImageGtData(ImageData):
    """Images (N, C, H, W), then for each ``field_w`` × ``field_h`` a map of labels (N, 6, h, w),
    h = H/``downsample_rate``; with ``output_gt_boxes`` the boxes (G, 7, 1, 1): item, x1, y1, x2,
    y2, class, ignored.

    Labels are the class, middle and size of the box that a field overlaps most, by more than
    ``fg_threshold``, and that overlap; the class of ignored boxes is 0.  A box that no field
    overlaps so gets the cell of its middle.  Where there is no image, or no interest, the overlap
    is 1.

    The window file has for each image: ``# index``, path, channels, height, width, count, count
    times ``class ignored x1 y1 x2 y2``, count, count times ``x1 y1 x2 y2`` without interest.
    Images are resized, perhaps once more (``do_multiple_scale``), cut to the crop around one of
    their boxes, and mirrored.  Images with boxes come ``fg_img_multiple`` times.
    """

    tops = (2, None)

    def setup(self, bottom: Views, top: Views) -> None:
        own, p = self.layer_param.image_gt_data_param, self.layer_param.image_data_param
        for name in ("source", "batch_size", "shuffle", "root_folder"):
            setattr(p, name, getattr(own, name))
        self.own = own
        count = len(own.downsample_rate)
        self.check(
            count > 0 and count == len(own.field_w) == len(own.field_h),
            "needs a field_w, field_h and downsample_rate for each map",
        )
        self.check(
            len(top) == 1 + count + own.output_gt_boxes,
            f"has {count} maps and output_gt_boxes {own.output_gt_boxes}, and {len(top)} tops",
        )
        self.check(
            min(*own.downsample_rate, *own.field_w, *own.field_h) > 0,
            "downsample_rate, field_w and field_h must be above 0",
        )
        self.check(
            not self.layer_param.transform_param.HasField("mean_file"),
            "takes mean_value, but no mean_file",
        )
        blobs = (Blob(dtype=self.dtype) for _ in range(2))
        self.packed, self.rows = (View(blob, self.context.home, "data") for blob in blobs)
        super().setup(bottom, [top[0], self.packed])
        for view, shape in zip(top[1:], self.maps.shapes, strict=False):
            view.reshape(top[0].shape[0], PER_CELL, *shape)
        for view in top[1 + count :]:
            view.reshape(1, COLUMNS, 1, 1)

    def forward(self, bottom: Views, top: Views) -> None:
        super().forward(bottom, [top[0], self.packed, self.rows])
        packed, at = self.packed.data, 0
        for view, shape in zip(top[1:], self.maps.shapes, strict=False):
            view.reshape(len(packed), PER_CELL, *shape)
            size = PER_CELL * prod(shape)
            view.data[...] = packed[:, at : at + size].reshape(view.shape)
            at += size
        for view in top[1 + len(self.maps.shapes) :]:
            view.reshape(*self.rows.shape)
            view.data[...] = self.rows.data

    # -- what there is to read -------------------------------------------------------------------

    def read_list(self, path: str) -> Sequence[Item]:
        found: list[tuple[str, Entry]] = []
        for entry in read_entries(path):
            has_object = bool((entry.boxes[:, 1] == 0).any())
            found += [(entry.name, entry)] * (self.own.fg_img_multiple if has_object else 1)
        return found

    def guess_shape(self) -> tuple[int, ...]:
        own = self.own
        if not (own.crop_height or own.resize_height) or not (own.crop_width or own.resize_width):
            self.lines = self.read_list(own.source)
            return self.shape_of(self.lines[0][1].size)
        return self.shape_of((3, 0, 0))

    def shape_of(self, image: tuple[int, ...]) -> tuple[int, ...]:
        own = self.own
        height = own.crop_height or own.resize_height or image[1]
        width = own.crop_width or own.resize_width or image[2]
        self.maps = FieldMaps(own, (height, width))
        return 3, height, width

    def label_shape(self, size: int, image: tuple[int, ...]) -> tuple[int, ...]:
        return size, sum(PER_CELL * prod(shape) for shape in self.maps.shapes)

    def make_transformer(self) -> Transformer:
        transformer = SeededTransformer(self.layer_param.transform_param, self.phase)
        transformer.random = True
        return transformer

    def begin(
        self, items: list[Item], draws: Draws, batch: Batch
    ) -> tuple[dict[int, tuple[Array, Label]], Shape]:
        return {}, (3, *self.maps.size)

    # -- batches ---------------------------------------------------------------------------------

    def fill(self, draft: Draft, places: range) -> None:
        for i in places:
            try:
                draft.ready[i] = draft.out[i], self._fill(draft, i)
            except FileError as e:
                draft.bad.append((i, BadRecord(str(e))))

    def _fill(self, draft: Draft, i: int) -> Array:
        """The rows (G, 7) of an image, which is put into its place with its labels."""
        transform, (name, entry) = self.layer_param.transform_param, draft.items[i]
        rng = np.random.default_rng(int(draft.draws[i, 0]))
        path = self.layer_param.image_data_param.root_folder + name
        part = Part(read_image(path), entry.boxes.copy(), entry.dull.copy())
        if transform.mirror and rng.integers(2):
            part.mirror()
        try:
            pixels, begin, count = prepare(part, self.own, self.maps.size, rng)
        except FileError as e:
            raise FileError(f"{path}: {e}") from e
        ignore_some(part.boxes, self.own, self.maps.size)
        draft.out[i] = 0
        seen = draft.out[i][:, begin[0] : begin[0] + count[0], begin[1] : begin[1] + count[1]]
        seen[...] = pixels.transpose(2, 0, 1)
        seen -= np.array(transform.mean_value or [0], self.dtype).reshape(-1, 1, 1)
        seen *= self.own.scale
        labels = self.maps.labels(part.boxes, part.dull, begin, count)
        draft.labels[i] = np.concatenate([found.reshape(-1) for found in labels])
        order = [2, 3, 4, 5, 0, 1]
        return np.insert(part.boxes[:, order], 0, i, axis=1)

    def complete(self, draft: Draft, batch: Batch) -> None:
        rows = np.concatenate([draft.ready[i][1] for i in range(len(draft.items))])
        if not len(rows):
            rows = np.array([NOBODY])
        if batch.extra is None:
            batch.extra = Blob(dtype=self.dtype)
        batch.extra.reshape(len(rows), COLUMNS, 1, 1)
        batch.extra.replace_data()[..., 0, 0] = rows
