"""ImageData: image files named in a list."""

from __future__ import annotations

import logging
from contextlib import suppress

from pycaffe_dist.data.draws import shuffle
from pycaffe_dist.data.image import Color, read_image
from pycaffe_dist.data.image_list import read_image_list
from pycaffe_dist.data.transformer import Shape, output_shape
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.layer import register
from pycaffe_dist.layers.base_data import BaseData
from pycaffe_dist.memory import Array
from pycaffe_dist.proto.caffe_pb2 import TRAIN
from pycaffe_dist.rng import child, draw

log = logging.getLogger(__name__)


@register("ImageData")
class ImageData(BaseData):
    """Images and labels of a list, resized if asked for, round and round.

    With ``shuffle`` the list gets a new order at the start and every time round.  Ranks do not
    share the list out: with several of them, shuffle or skip.
    """

    def batch_size(self) -> int:
        return self.layer_param.image_data_param.batch_size

    def open(self) -> Shape:
        p = self.layer_param.image_data_param
        self._check_size()
        self.lines = read_image_list(p.source)
        if p.shuffle:
            log.info("Shuffling data")
            self.rng = child()
            shuffle(self.rng, self.lines)
        elif self.phase == TRAIN and self.context.rank > 0 and not p.rand_skip:
            log.warning("Shuffling or skipping recommended for multi-GPU")
        log.info("A total of %d images.", len(self.lines))
        self.line = 0
        if p.rand_skip:
            self.line = draw() % p.rand_skip
            log.info("Skipping first %d data points.", self.line)
            if self.line >= len(self.lines):
                raise NetError(f"rand_skip: {self.line} of {len(self.lines)} images to be skipped")
        return output_shape(self.layer_param.transform_param, self._read(self.line).shape)

    def guess_shape(self) -> Shape:
        p, transform = self.layer_param.image_data_param, self.layer_param.transform_param
        self._check_size()
        channels = 3 if p.is_color else 1
        if transform.crop_size:
            return channels, transform.crop_size, transform.crop_size
        if p.new_height:
            return channels, p.new_height, p.new_width
        with suppress(FileError):
            self.lines = read_image_list(p.source)
            return output_shape(transform, self._read(0).shape)
        raise NetError(
            "the size of its images is not known: they cannot be read, and there is neither "
            "image_data_param.new_height and new_width nor transform_param.crop_size"
        )

    def next_image(self) -> tuple[str, Array, int]:
        image = self._read(self.line)
        name, label = self.lines[self.line]
        self.line += 1
        if self.line == len(self.lines):
            self.line = 0
            if self.layer_param.image_data_param.shuffle:
                shuffle(self.rng, self.lines)
        return name, image, label

    def _check_size(self) -> None:
        p = self.layer_param.image_data_param
        if (p.new_height > 0) != (p.new_width > 0):
            raise NetError("new_height and new_width must be given together or not at all")

    def _read(self, line: int) -> Array:
        p = self.layer_param.image_data_param
        color = Color.COLOR if p.is_color else Color.GRAY
        path = p.root_folder + self.lines[line][0]
        return read_image(path, p.new_height, p.new_width, color).transpose(2, 0, 1)
