"""HDF5Data: rows of HDF5 datasets."""

from __future__ import annotations

from pycaffe_dist.aliases import Facts
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.data.hdf5_source import HDF5Source, listed_files, row_shapes
from pycaffe_dist.errors import FileError
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.base_data import naming
from pycaffe_dist.proto.caffe_pb2 import TRAIN


@register("HDF5Data")
class HDF5Data(Layer):
    """Each top gets the dataset of its name, (batch, …); ``source`` lists the files.

    In training row i is for rank i mod ranks.  Nothing is transformed.
    """

    bottoms = 0
    tops = (1, None)

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.hdf5_data_param
        self.check(not self.layer_param.HasField("transform_param"), "does not transform data")
        self.check(p.batch_size > 0, "batch_size must be positive")
        names = list(self.layer_param.top)
        if self.context.dry:
            shapes = self._peek(names)
        else:
            with naming(self):
                self.source = HDF5Source(p.source, names, p.shuffle)
            shapes = self.source.row_shapes
        for view, shape in zip(top, shapes, strict=True):
            view.reshape(p.batch_size, *shape)

    def _peek(self, names: list[str]) -> list[tuple[int, ...]]:
        source = self.layer_param.hdf5_data_param.source
        try:
            return row_shapes(listed_files(source)[0], names)
        except FileError as e:
            raise self.error(
                f"the shapes of its tops are not known: they are in the files that {source} lists "
                f"({e})"
            ) from e

    def reshape(self, bottom: Views, top: Views) -> None:
        pass

    def forward(self, bottom: Views, top: Views) -> None:
        rank, ranks = self.context.rank, self.context.ranks
        if self.phase != TRAIN:
            rank, ranks = 0, 1
        with naming(self):
            self.source.read([view.blob.data for view in top], rank, ranks)

    def get_state(self) -> Facts:
        return {} if self.context.dry else self.source.position()

    def set_state(self, state: Facts) -> None:
        with naming(self):
            self.source.go_to(state)

    def sources(self) -> Facts:
        return {} if self.context.dry else self.source.sizes()

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        pass

    def flops(self, bottom: Views, top: Views) -> int:
        return 0
