"""Images with an image of labels each: ImageSegData, DenseImageData and ImageLabelmapData."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Blob, Views
from pycaffe_dist.data.image import Color, Pixels, read_image
from pycaffe_dist.data.prefetch import Batch
from pycaffe_dist.data.scaling import resize_by, rounded
from pycaffe_dist.data.transformer import Draws, SeededTransformer, Transformer, crop_of
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import read_bytes
from pycaffe_dist.layer import register
from pycaffe_dist.layers.base_data import BadRecord, Draft, Label
from pycaffe_dist.layers.image_data import ImageData
from pycaffe_dist.proto.caffe_pb2 import ImageDataParameter, ResizeParameter

Pair = tuple[str, str]  # an image, and its labels


class LabelledPixels(ImageData):
    """Images (N, C, H, W) and a label for each of their pixels, (N, 1, H, W).

    A line of the list is an image and its labels, with white space between them.  Labels are
    resized without mixing them, cropped and mirrored with their image.
    """

    def labels_of(self, item: Pair, size: tuple[int, int]) -> Pixels:
        """The labels (height, width) of an image of this size."""
        p = self.layer_param.image_data_param
        plane = read_image(p.root_folder + item[1], color=Color.GRAY)
        if p.new_height:
            plane = resize_by(plane, *size, ResizeParameter.NEAREST)
        if plane.shape[:2] != size:
            height, width = plane.shape[:2]
            raise FileError(
                f"{p.root_folder}{item[1]}: is {height} × {width}, its image {item[0]} "
                f"{size[0]} × {size[1]}"
            )
        return plane[:, :, 0]

    def prepare(self, image: Array, labels: Pixels, seed: int) -> tuple[Array, Pixels]:
        """Both before they are cropped."""
        return image, labels

    def read_list(self, path: str) -> Sequence[Pair]:
        text = read_bytes(path).decode(errors="surrogateescape")
        pairs = [line.split() for line in text.splitlines() if line.strip()]
        if not pairs:
            raise FileError(f"{path}: lists no images")
        return [(words[0], words[1] if len(words) > 1 else "") for words in pairs]

    def label_shape(self, size: int, image: tuple[int, ...]) -> tuple[int, ...]:
        return (size, 1, *image[1:])

    def make_transformer(self) -> Transformer:
        return SeededTransformer(self.layer_param.transform_param, self.phase)

    def decode(self, item: Pair) -> tuple[Array, Label]:
        image, _ = super().decode(item)
        try:
            return image, self.labels_of(item, image.shape[1:])
        except FileError as e:
            raise BadRecord(str(e)) from e

    def begin_shape(self, image: Array, label: Label, draws: Draws) -> tuple[int, ...]:
        return self.shape_of(self.prepare(image, label, int(draws[0]))[0].shape)

    def fill(self, draft: Draft, places: range) -> None:
        for i in places:
            decoded = self.decoded(draft, i)
            if decoded is None:
                continue
            draws = draft.draws[i : i + 1, 1:]
            image, labels = self.prepare(*decoded, int(draft.draws[i, 0]))
            self.check_image(draft, i, image.shape)
            self.transformer.apply([image], draws, draft.out[i : i + 1])
            mirrored, top, left = self.transformer.place(image.shape, draws[0].tolist())
            seen = labels[:, ::-1] if mirrored else labels
            height, width = draft.out.shape[2:]
            draft.labels[i, 0] = seen[top : top + height, left : left + width]
            draft.ready[i] = decoded[0], None


@register("ImageSegData")
class ImageSegData(LabelledPixels):
    """DeepLab's and PSPNet's: images of random scales, filled up to the crop.

    ``label_type``: PIXEL labels are images; IMAGE (the default) a class for all pixels of an image;
    NONE ``ignore_label`` everywhere.  One of ``scale_factors`` is drawn for every image.  What is
    smaller than the crop is filled up below and on the right, with the mean and ``ignore_label``.
    The third top is height and width of each image, no more than the crop's: (N, 1, 1, 2).
    """

    tops = (1, 3)
    fork_fields = (
        *LabelledPixels.fork_fields,
        "ImageDataParameter.label_type",
        "ImageDataParameter.ignore_label",
        "TransformationParameter.scale_factors",
    )

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.transform_param
        self.check(not p.HasField("mean_file"), "takes mean_value, but no mean_file")
        self.check(all(f > 0 for f in p.scale_factors), "scale_factors must be above 0")
        super().setup(bottom, top)
        for view in top[2:]:
            view.reshape(self.batch_size(), 1, 1, 2)

    def make_transformer(self) -> Transformer:
        transformer = super().make_transformer()
        transformer.random = len(self.layer_param.transform_param.scale_factors) > 1
        return transformer

    def labels_of(self, item: Pair, size: tuple[int, int]) -> Pixels:
        p = self.layer_param.image_data_param
        if p.label_type == ImageDataParameter.PIXEL:
            return super().labels_of(item, size)
        if p.label_type == ImageDataParameter.NONE:
            return np.full(size, p.ignore_label, np.uint8)
        if not item[1].isdecimal() or int(item[1]) > 255:
            raise FileError(
                f"{p.source}: the label {item[1]!r} of {item[0]} is no class from 0 to 255; "
                "for images of labels give label_type: PIXEL"
            )
        return np.full(size, int(item[1]), np.uint8)

    def shape_of(self, image: tuple[int, ...]) -> tuple[int, ...]:
        crop = crop_of(self.layer_param.transform_param)
        return (image[0], *(crop or image[1:]))

    def prepare(self, image: Array, labels: Pixels, seed: int) -> tuple[Array, Pixels]:
        p = self.layer_param.transform_param
        factors, pixels = list(p.scale_factors), image.transpose(1, 2, 0)
        if factors:
            factor = factors[np.random.default_rng(seed).integers(len(factors))]
            height, width = (max(1, int(side * factor + 0.5)) for side in labels.shape)
            pixels = resize_by(pixels, height, width, ResizeParameter.LINEAR)
            plane = resize_by(labels[:, :, None], height, width, ResizeParameter.NEAREST)
            labels = plane[:, :, 0]
        crop = crop_of(p)
        if crop and (labels.shape[0] < crop[0] or labels.shape[1] < crop[1]):
            ignored = self.layer_param.image_data_param.ignore_label
            pixels = _filled(pixels, crop, list(p.mean_value) or [0])
            labels = _filled(labels[:, :, None], crop, [ignored])[:, :, 0]
        return pixels.transpose(2, 0, 1), labels

    def complete(self, draft: Draft, batch: Batch) -> None:
        """The sizes of the images as they were read."""
        sizes = np.array([draft.ready[i][0].shape[1:] for i in range(len(draft.items))])
        if batch.extra is None:
            batch.extra = Blob(dtype=self.dtype)
        batch.extra.reshape(len(sizes), 1, 1, 2)
        batch.extra.replace_data()[:, 0, 0] = np.minimum(sizes, draft.out.shape[2:])


def _filled(image: Pixels, size: tuple[int, int], values: Sequence[float]) -> Pixels:
    """An image in the corner of at least this size, the rest in one colour."""
    height, width, channels = image.shape
    out: Pixels = np.empty((max(height, size[0]), max(width, size[1]), channels), np.uint8)
    out[...] = rounded(np.array(values))
    out[:height, :width] = image
    return out


@register("DenseImageData")
class DenseImageData(LabelledPixels):
    """SegNet's: dense_image_data_param has the settings, ``mirror`` and the crop among them.

    Its crop is at a random place in both phases.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        own, p = self.layer_param.dense_image_data_param, self.layer_param.image_data_param
        transform = self.layer_param.transform_param
        self.check(
            not transform.mirror and crop_of(transform) is None,
            "takes mirror, crop_height and crop_width in dense_image_data_param",
        )
        names = ("source", "batch_size", "rand_skip", "shuffle", "new_height", "new_width")
        for name in (*names, "is_color", "root_folder"):
            setattr(p, name, getattr(own, name))
        transform.mirror = own.mirror
        transform.crop_height, transform.crop_width = own.crop_height, own.crop_width
        if own.HasField("mean_file"):
            transform.mean_file = own.mean_file
        super().setup(bottom, top)

    def make_transformer(self) -> Transformer:
        transformer = super().make_transformer()
        transformer.random_crop = transformer.crop is not None
        return transformer


@register("ImageLabelmapData")
class ImageLabelmapData(LabelledPixels):
    """HED's: labels are 1 where the image of labels is brighter than half, else 0."""

    def labels_of(self, item: Pair, size: tuple[int, int]) -> Pixels:
        return rounded(super().labels_of(item, size) / 255)
