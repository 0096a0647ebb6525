"""HDF5Output: one batch into a file."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, View, Views
from pycaffe_dist.data import hdf5_sink
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.base_data import naming


@register("HDF5Output")
class HDF5Output(Layer):
    """Writes its bottoms as the datasets ``data`` and ``label``, with four axes.

    The file is made anew at setup.  It holds one batch: a second forward is an error.  A net that
    is only timed or tried writes nothing.
    """

    bottoms = 2
    tops = 0

    def setup(self, bottom: Views, top: Views) -> None:
        self.file_name = self.layer_param.hdf5_output_param.file_name
        self.check(bool(self.file_name), "hdf5_output_param has no file_name")
        self.written = False
        if self.context.writes and not self.context.dry:
            with naming(self):
                hdf5_sink.create(self.file_name)

    def reshape(self, bottom: Views, top: Views) -> None:
        pass

    def forward(self, bottom: Views, top: Views) -> None:
        self.check(not self.written, f"{self.file_name} holds a batch already, and takes only one")
        with naming(self):
            shapes = [view.legacy_shape() for view in bottom]
        self.check(
            shapes[0][0] == shapes[1][0],
            f"data and labels have different batch sizes: {shapes[0][0]} and {shapes[1][0]}",
        )
        if not self.context.writes:
            return
        on_host = [View(view.blob).data for view in bottom]
        data, label = (x.reshape(shape) for x, shape in zip(on_host, shapes, strict=True))
        with naming(self):
            hdf5_sink.write(self.file_name, data=data, label=label)
        self.written = True

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        pass

    def flops(self, bottom: Views, top: Views) -> int:
        return 0
