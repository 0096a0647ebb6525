"""Data: images and labels from a database."""

from __future__ import annotations

import logging
from contextlib import closing, suppress

from pycaffe_dist.data.datum import datum_pixels, parse_datum
from pycaffe_dist.data.image import Color
from pycaffe_dist.data.source import Source, open_source
from pycaffe_dist.data.transformer import Shape, encoded_color, output_shape
from pycaffe_dist.errors import FileError, MissingPartError, NetError
from pycaffe_dist.layer import register
from pycaffe_dist.layers.base_data import BaseData
from pycaffe_dist.memory import Array
from pycaffe_dist.proto.caffe_pb2 import TRAIN

log = logging.getLogger(__name__)


@register("Data")
class Data(BaseData):
    """The records of an LMDB or LevelDB in the order of their keys, round and round.

    In training record i is for rank i mod ranks.  With one top there are no labels.
    """

    tops = (1, 2)
    told = False  # that force_color or force_gray does nothing here

    def batch_size(self) -> int:
        return self.layer_param.data_param.batch_size

    def open(self) -> Shape:
        self.source = self._source()
        self.offset = 0
        self.ranks = self.context.ranks if self.phase == TRAIN else 1
        return self._first_shape()

    def guess_shape(self) -> Shape:
        with suppress(FileError, MissingPartError):
            return self._first_shape()
        p = self.layer_param.transform_param
        if not p.crop_size:
            raise NetError(
                f"the shape of its images is not known: {self.layer_param.data_param.source} "
                "cannot be read, and there is no transform_param.crop_size"
            )
        channels = 1 if p.force_gray else len(p.mean_value) if len(p.mean_value) > 1 else 3
        return channels, p.crop_size, p.crop_size

    def next_image(self) -> tuple[str, Array, int]:
        while self.ranks > 1 and self.offset % self.ranks != self.context.rank:
            self.source.skip()
            self.offset += 1
        record = self.source.read()
        self.offset += 1
        return self._decode(self.source, *record)

    def _source(self) -> Source:
        p = self.layer_param.data_param
        return open_source(p.source, p.backend)

    def _first_shape(self) -> Shape:
        with closing(self._source()) as source:
            name, image, _ = self._decode(source, *source.read())
        try:
            return output_shape(self.layer_param.transform_param, image.shape)
        except NetError as e:
            raise NetError(f"{name}: {e}") from e

    def _decode(self, source: Source, key: bytes, value: bytes) -> tuple[str, Array, int]:
        name = f"{source.path}: record {key!r}"
        color = encoded_color(self.layer_param.transform_param)
        try:
            datum = parse_datum(value)
            if color is not Color.NATIVE and not datum.encoded and not self.told:
                log.error("force_color and force_gray only for encoded datum")
                self.told = True
            return name, datum_pixels(datum, color), datum.label
        except ValueError as e:
            raise NetError(f"{name}: {e}") from e
