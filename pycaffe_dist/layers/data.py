"""Data: images and labels from a database."""

from __future__ import annotations

from contextlib import closing, suppress

from pycaffe_dist import caffe_log as log
from pycaffe_dist.aliases import Array, Facts
from pycaffe_dist.blob import Views
from pycaffe_dist.data.backends import open_source
from pycaffe_dist.data.datum import parse_record
from pycaffe_dist.data.image import Color
from pycaffe_dist.data.shards import Records, shard_of, sources
from pycaffe_dist.data.source import Buffer, Source, key_text
from pycaffe_dist.data.transformer import crop_of, encoded_color
from pycaffe_dist.errors import FileError, MissingPartError, NetError
from pycaffe_dist.layer import register
from pycaffe_dist.layers.base_data import BadRecord, BaseData, Label
from pycaffe_dist.proto.caffe_pb2 import TRAIN, DataParameter

Record = tuple[bytes, Buffer]  # key and value
SHUFFLED = (
    "shuffle",
    "random_order",
    "init_seed",
    "rand_permute",
    "rand_permute_seed",
    "shuffle_pool_size",
)


@register("Data")
class Data(BaseData):
    """The records of an LMDB or LevelDB in the order of their keys, round and round.

    In training record i is for rank i mod ranks; with ``shared_file_system: false`` rank k reads
    all of ``<source>_k`` instead, if it is there.  With one top there are no labels.

    ``shuffle``, ``random_order``, ``rand_permute`` and a ``shuffle_pool_size`` above 1 of forks are
    `--shuffle`: in training the records have a new order every time round.
    """

    tops = (1, 2)
    fork_fields = (*BaseData.fork_fields, *(f"DataParameter.{name}" for name in SHUFFLED))

    def setup(self, bottom: Views, top: Views) -> None:
        self.untold = ["force_color and force_gray only for encoded datum"]
        super().setup(bottom, top)

    def batch_size(self) -> int:
        return self.layer_param.data_param.batch_size

    def open(self) -> tuple[int, ...]:
        rank, ranks = (self.context.rank, self.context.ranks) if self.phase == TRAIN else (0, 1)
        if self._shard():
            rank, ranks = 0, 1
        seed = self._shuffle_seed() if self.phase == TRAIN else None
        source = self._source()
        kind = DataParameter.DB.Name(self.layer_param.data_param.backend).lower()
        log.info(f"db_{kind}.cpp:35", "Opened %s %s", kind, self.layer_param.data_param.source)
        self.records = Records(source, rank, ranks, seed)
        return self._first_shape()

    def _shuffle_seed(self) -> int | None:
        """The same on all ranks; None where records come in the order of their keys."""
        p, given = self.layer_param.data_param, self.context.data.shuffle_seed
        asked = p.shuffle or p.rand_permute or p.shuffle_pool_size > 1
        asked |= p.HasField("random_order") and p.random_order
        if given is not None or not asked:
            return given
        return p.init_seed if p.random_order else p.rand_permute_seed

    def guess_shape(self) -> tuple[int, ...]:
        with suppress(FileError, MissingPartError):
            return self._first_shape()
        p, size = self.layer_param.transform_param, self.size_told()
        if not size:
            raise NetError(
                f"the shape of its images is not known: {self.layer_param.data_param.source} "
                "cannot be read, and there is no transform_param.crop_size"
            )
        channels = 1 if p.force_gray else len(p.mean_value) if len(p.mean_value) > 1 else 3
        return channels, *size

    def size_told(self) -> tuple[int, int] | None:
        """Height and width of what leaves the layer, as far as the settings tell."""
        return crop_of(self.layer_param.transform_param)

    def take(self, place: int) -> Record:
        return self.records.view()

    def decode(self, item: Record) -> tuple[Array, Label]:
        pixels, label, _ = self.parse(item)
        return pixels, label

    def parse(self, item: Record) -> tuple[Array, int, bool]:
        """The image, the label, and whether the image was stored as a file."""
        color = encoded_color(self.layer_param.transform_param)
        try:
            pixels, label, encoded = parse_record(item[1], color)
        except ValueError as e:
            raise BadRecord(f"{self.describe(item)}: {e}") from e
        if color is not Color.NATIVE and not encoded:
            with suppress(IndexError):
                log.error("data_transformer.cpp:120", self.untold.pop())
        return pixels, label, encoded

    def describe(self, item: Record) -> str:
        return f"{self._path()}: record {key_text(item[0])}"

    def position(self) -> Facts:
        at: Facts = {"records": self.records.position}
        if self.records.seed is not None:
            at["shuffle_seed"] = self.records.seed
        return at

    def go_to(self, position: Facts) -> None:
        if self.records.seed is not None:
            self.records.seed = position.get("shuffle_seed", self.records.seed)
        self.records.position = position.get("records", self.records.position)

    def sources(self) -> Facts:
        if self.context.dry:
            return {}
        return sources(self._shard(), self.records.source.quick_count)

    def restarts(self) -> int:
        return self.records.restarts

    def reopen(self) -> None:
        self.records.source.reopen()

    def _shard(self) -> str | None:
        p = self.layer_param.data_param
        shared = p.shared_file_system if p.HasField("shared_file_system") else None
        return shard_of(p.source, shared, self.context.rank, self.context.ranks)

    def _path(self) -> str:
        return self._shard() or self.layer_param.data_param.source

    def _source(self) -> Source:
        return open_source(self._path(), self.layer_param.data_param.backend)

    def _first_shape(self) -> tuple[int, ...]:
        """Of the first record, or where bad ones are skipped of the first good one."""
        with closing(self._source()) as source:
            while True:
                item = source.read()
                try:
                    image, _ = self.decode(item)
                    return self.shape_of(image.shape)
                except BadRecord:
                    if self.context.data.bad_records == "stop" or source.restarts:
                        raise
                except NetError as e:
                    raise NetError(f"{self.describe(item)}: {e}") from e
