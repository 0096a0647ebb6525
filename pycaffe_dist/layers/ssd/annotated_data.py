"""AnnotatedData of SSD: images with boxes, from a database."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.data.annotated import COLUMNS, Pipeline, Stored, in_rows, in_yolos_form
from pycaffe_dist.data.annotations import fitted_size, parse_annotated
from pycaffe_dist.data.prefetch import Batch
from pycaffe_dist.data.transformer import Draws, SeededTransformer, Transformer, output_shape
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import register
from pycaffe_dist.layers.base_data import BadRecord, Draft, Label
from pycaffe_dist.layers.data import Data, Record
from pycaffe_dist.proto.caffe_pb2 import ResizeParameter


@register("AnnotatedData")
class AnnotatedData(Data):
    """Images (N, C, H, W) and all of their boxes as rows (1, 1, R, 8).

    A row is: item of the batch, label, instance, xmin, ymin, xmax, ymax (parts of the image) and
    whether it is difficult; one row of −1 if there is no box in the batch.  Records are SSD's
    AnnotatedDatum.  Of records without annotations the labels are those of the Datum, (N,).

    An image is distorted (``distort_param``), put into a larger one (``expand_param``), cut to a
    random part (``batch_sampler``), resized (``resize_param``; of several one for each batch, by
    ``prob``), made noisy (``noise_param``), then cropped, mirrored, shifted and scaled as by Data.
    Boxes go with it; those outside, or not let pass by ``emit_constraint``, are left out.
    With ``yolo_data_type: 1`` labels are (N, 1, 300, 5): class from 0, centre and size.
    """

    fork_fields = (
        *Data.fork_fields,
        "TransformationParameter.resize_param",
        "TransformationParameter.noise_param",
        "TransformationParameter.emit_constraint",
        "TransformationParameter.distort_param",
        "TransformationParameter.expand_param",
    )

    def make_transformer(self) -> Transformer:
        p = self.layer_param.transform_param
        transformer = SeededTransformer(p, self.phase)
        mean = transformer.mean
        color = None if mean is None else mean.reshape(len(mean), -1).mean(axis=1)
        self.pipeline = Pipeline(p, self.layer_param.annotated_data_param.batch_sampler, color)
        transformer.random = self.pipeline.random
        return transformer

    def size_told(self) -> tuple[int, int] | None:
        ways = self.layer_param.transform_param.resize_param
        fixed = ways and ways[0].resize_mode != ResizeParameter.FIT_SMALL_SIZE
        return super().size_told() or ((ways[0].height, ways[0].width) if fixed else None)

    def shape_of(self, image: tuple[int, ...]) -> tuple[int, ...]:
        p = self.layer_param.transform_param
        for way in p.resize_param:
            if not way.height or not way.width:
                raise NetError("resize_param needs a height and a width above 0")
        if p.resize_param:
            size = fitted_size(p.resize_param[0], *image[1:])
            if p.resize_param[0].resize_mode == ResizeParameter.FIT_LARGE_SIZE_AND_PAD:
                size = p.resize_param[0].height, p.resize_param[0].width
            image = (image[0], *size)
        return output_shape(p, image)

    def label_shape(self, size: int, image: tuple[int, ...]) -> tuple[int, ...]:
        return (1, 1, 1, COLUMNS)

    def decode(self, item: Record) -> tuple[Array, Label]:
        try:
            datum, boxes = parse_annotated(item[1])
        except ValueError as e:
            raise BadRecord(f"{self.describe(item)}: {e}") from e
        pixels, label, encoded = self.parse((item[0], datum))
        return pixels, Stored(boxes, label, encoded)

    def begin_shape(self, image: Array, label: Label, draws: Draws) -> tuple[int, ...]:
        """What is not resized to one size has that of its first image, as it comes out."""
        if self.size_told() and len(self.pipeline.param.resize_param) < 2:
            return self.shape_of(image.shape)
        policy = self.pipeline.policy(int(draws[0]))
        example = self.pipeline.augment(image, label, int(draws[0]), policy)
        return output_shape(self.layer_param.transform_param, example.image.shape)

    def fill(self, draft: Draft, places: range) -> None:
        policy = self.pipeline.policy(int(draft.draws[0, 0]))
        for i in places:
            decoded = self.decoded(draft, i)
            if decoded is None:
                continue
            (image, stored), draws = decoded, draft.draws[i : i + 1, 1:]
            try:
                example = self.pipeline.augment(image, stored, int(draft.draws[i, 0]), policy)
                self.transformer.check(example.image.shape, draft.out.shape[1:])
                place = self.transformer.place(example.image.shape, draws[0].tolist())
                boxes = self.pipeline.placed(example, place, draft.out.shape[2:], policy)
            except NetError as e:
                raise NetError(f"{self.describe(draft.items[i])}: {e}") from e
            draft.ready[i] = image, stored.label if stored.boxes is None else boxes
            self.transformer.apply([example.image], draws, draft.out[i : i + 1])

    def complete(self, draft: Draft, batch: Batch) -> None:
        labels = [draft.ready[i][1] for i in range(len(draft.items))]
        boxed = [isinstance(label, np.ndarray) for label in labels]
        if any(boxed) and not all(boxed):
            other = self.describe(draft.items[boxed.index(not boxed[0])])
            raise NetError(f"{other}: some records of the batch have boxes, others have none")
        rows = np.array(labels) if not any(boxed) else self._rows(labels)
        batch.labels.reshape(*rows.shape)
        batch.labels.replace_data()[...] = rows

    def _rows(self, boxes: list[Array]) -> Array:
        yolo = self.layer_param.annotated_data_param.yolo_data_type == 1
        return in_yolos_form(boxes) if yolo else in_rows(boxes)
