"""ImageData: image files named in a list."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from pycaffe_dist import caffe_log as log
from pycaffe_dist.aliases import Array, Facts
from pycaffe_dist.data import draws
from pycaffe_dist.data.image import Color, read_image
from pycaffe_dist.data.image_list import read_image_list
from pycaffe_dist.data.shards import Deal, shard_of, sources
from pycaffe_dist.data.transformer import crop_of
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.layer import register
from pycaffe_dist.layers.base_data import BadRecord, BaseData, Item, Label
from pycaffe_dist.proto.caffe_pb2 import TRAIN
from pycaffe_dist.rng import child, draw

SAME_ORDER = 1  # seeds what several ranks shuffle alike: their random numbers are different ones


@register("ImageData")
class ImageData(BaseData):
    """Images and labels of a list, resized if asked for, round and round.

    With ``shuffle`` the list gets a new order at the start and every time round.  In training line
    i is for rank i mod ranks; several ranks shuffle alike, in every run.  With
    ``shared_file_system: false`` rank k reads the list ``<source>_k`` instead, if it is there.
    """

    def batch_size(self) -> int:
        return self.layer_param.image_data_param.batch_size

    def open(self) -> tuple[int, ...]:
        p = self.layer_param.image_data_param
        self._check_size()
        shard = self._shard()
        self.lines = self.read_list(shard or p.source)
        self.order = np.arange(len(self.lines), dtype=np.int32)
        self.deal = None if shard else self._deal()
        if p.shuffle and not self.deal:
            log.info("image_data_layer.cpp:54", "Shuffling data")
            self.rng = child()
            self._shuffle()
        log.info("image_data_layer.cpp:54", "A total of %d images.", len(self.lines))
        self.taken = 0
        if p.rand_skip:
            self.taken = draw() % p.rand_skip
            log.info("image_data_layer.cpp:54", "Skipping first %d data points.", self.taken)
            if self.taken >= len(self.lines):
                raise NetError(f"rand_skip: {self.taken} of {len(self.lines)} images to be skipped")
        return self.shape_of(self._first_image().shape)

    def guess_shape(self) -> tuple[int, ...]:
        p, transform = self.layer_param.image_data_param, self.layer_param.transform_param
        self._check_size()
        channels = 3 if p.is_color else 1
        if crop := crop_of(transform):
            return channels, *crop
        if p.new_height:
            return channels, p.new_height, p.new_width
        with suppress(FileError):
            self.lines = self.read_list(p.source)
            return self.shape_of(self._read(self.lines[0][0]).shape)
        raise NetError(
            "the size of its images is not known: they cannot be read, and there is neither "
            "image_data_param.new_height and new_width nor transform_param.crop_size"
        )

    def read_list(self, path: str) -> Sequence[Item]:
        """The lines of a list: each begins with the path of an image."""
        return read_image_list(path)

    def take(self, place: int) -> Item:
        line = self.lines[self._line()]
        self.taken += 1
        if not self.deal and self.taken == len(self.lines):
            self.taken = 0
            if self.layer_param.image_data_param.shuffle:
                self._shuffle()
        return line

    def decode(self, item: Item) -> tuple[Array, Label]:
        try:
            return self._read(item[0]), item[1]
        except FileError as e:
            raise BadRecord(str(e)) from e

    def describe(self, item: Item) -> str:
        return str(item[0])

    def position(self) -> Facts:
        """In a list that is dealt: how many lines all ranks have taken together."""
        if self.deal:
            at: Facts = {"lines": self.taken * self.deal.ranks}
            return at if self.deal.seed is None else {**at, "shuffle_seed": self.deal.seed}
        if self.layer_param.image_data_param.shuffle:
            return {"line": self.taken, "order": self.order, "shuffle": draws.state_of(self.rng)}
        return {"line": self.taken}

    def go_to(self, position: Facts) -> None:
        if self.deal:
            if self.deal.seed is not None:
                self.deal.seed = position.get("shuffle_seed", self.deal.seed)
            lines: int = position.get("line", self.taken * self.deal.ranks)
            self.taken = int(position.get("lines", lines)) // self.deal.ranks
            return
        lines = position.get("lines", self.taken)
        self.taken = position.get("line", lines % len(self.lines))
        if "order" in position and self.layer_param.image_data_param.shuffle:
            self.order = position["order"]
            self.rng = draws.from_state(position["shuffle"])
        if len(self.order) != len(self.lines) or self.taken >= len(self.lines):
            raise NetError(
                f"the snapshot was made with a list of {len(self.order)} images, "
                f"{self.layer_param.image_data_param.source} has {len(self.lines)}"
            )

    def sources(self) -> Facts:
        return {} if self.context.dry else sources(self._shard(), len(self.lines))

    def _line(self) -> int:
        return self.deal.record(self.taken) if self.deal else int(self.order[self.taken])

    def _deal(self) -> Deal | None:
        """How ranks share the list out, if they do."""
        seed = self.context.data.shuffle_seed
        rank, ranks = self.context.rank, self.context.ranks
        if self.phase != TRAIN or (ranks == 1 and seed is None):
            return None
        if seed is None and self.layer_param.image_data_param.shuffle:
            seed = SAME_ORDER
        return Deal(len(self.lines), rank, ranks, seed)

    def _shard(self) -> str | None:
        p = self.layer_param.image_data_param
        shared = p.shared_file_system if p.HasField("shared_file_system") else None
        return shard_of(p.source, shared, self.context.rank, self.context.ranks)

    def _shuffle(self) -> None:
        """Into a new array: states of batches made before keep theirs."""
        numbers = self.order.tolist()
        draws.shuffle(self.rng, numbers)
        self.order = np.array(numbers, np.int32)

    def _check_size(self) -> None:
        p = self.layer_param.image_data_param
        if (p.new_height > 0) != (p.new_width > 0):
            raise NetError("new_height and new_width must be given together or not at all")

    def _first_image(self) -> Array:
        """The first, or where bad ones are skipped the first good one."""
        first = self._line()
        for line in [first, *range(len(self.lines))]:
            try:
                return self._read(self.lines[line][0])
            except FileError as e:
                error = e
                if self.context.data.bad_records == "stop":
                    break
        raise error

    def _read(self, name: str) -> Array:
        p = self.layer_param.image_data_param
        color = Color.COLOR if p.is_color else Color.GRAY
        image = read_image(p.root_folder + name, p.new_height, p.new_width, color)
        return image.transpose(2, 0, 1)
