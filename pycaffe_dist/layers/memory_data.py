"""MemoryData: batches from arrays that the user gives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pycaffe_dist import caffe_log as log
from pycaffe_dist.aliases import Array, Facts
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.data import draws
from pycaffe_dist.data.datum import datum_pixels
from pycaffe_dist.data.transformer import Transformer, encoded_color
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.base_data import naming
from pycaffe_dist.proto.caffe_pb2 import Datum


class ArrayError(NetError, RuntimeError):
    """Arrays that a MemoryData layer cannot take; pycaffe raises a RuntimeError for them."""


@register("MemoryData")
class MemoryData(Layer):
    """Slices of the user's arrays, round and round: ``net.set_input_arrays(data, labels)``.

    Arrays are used where they are and as they are; data that is added as datums or images goes
    through transform_param.
    """

    bottoms = 0
    tops = 2

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.memory_data_param
        self.batch_size = p.batch_size
        self.item = (p.channels, p.height, p.width)
        self.check(
            min(self.batch_size, *self.item) > 0,
            "memory_data_param must give a positive batch_size, channels, height and width",
        )
        self.data: Array | None = None
        self.labels: Array | None = None
        self.position = 0
        self.resumed = False  # at a position, and the arrays are still to come
        self.has_new_data = False  # added and not yet served to the end
        transform = self.layer_param.transform_param
        crop = transform.crop_size
        top[0].reshape(self.batch_size, *((p.channels, crop, crop) if crop else self.item))
        top[1].reshape(self.batch_size)
        if not self.context.dry:
            with naming(self):
                self.transformer = Transformer(transform, self.phase)
            self.transformer.init_rand()

    def reshape(self, bottom: Views, top: Views) -> None:
        pass

    def forward(self, bottom: Views, top: Views) -> None:
        if self.data is None or self.labels is None:
            raise self.error("has no data yet: call net.set_input_arrays(data, labels) first")
        # Labels get four axes here, but had one at setup: as in Caffe.
        top[0].reshape(self.batch_size, *self.item)
        top[1].reshape(self.batch_size, 1, 1, 1)
        batch = slice(self.position, self.position + self.batch_size)
        top[0].blob.data[...] = self.data[batch]
        top[1].blob.data[...] = self.labels[batch]
        self.position = (self.position + self.batch_size) % len(self.data)
        if self.position == 0:
            self.has_new_data = False

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        pass

    def get_state(self) -> Facts:
        """Where in the arrays it stands; the arrays are the user's."""
        if self.context.dry:
            return {}
        state: Facts = {"position": self.position}
        if self.transformer.rng:
            state["transformer"] = draws.state_of(self.transformer.rng)
        return state

    def set_state(self, state: Facts) -> None:
        """Before or after the arrays are given."""
        self.position = state["position"]
        self.resumed = self.data is None
        if self.transformer.rng and "transformer" in state:
            self.transformer.rng = draws.from_state(state["transformer"])

    # -- giving it data ----------------------------------------------------------------------

    def set_arrays(self, data: Array, labels: Array) -> None:
        """Serve float32 arrays (n, channels, height, width) and (n,) or (n, 1, 1, 1).

        They are not copied: what is changed in them later counts.
        """
        if getattr(labels, "ndim", 0) == 1:
            labels = np.ascontiguousarray(labels[:, None, None, None])
        self._check_array("data array", data, self.item)
        self._check_array("labels array", labels, (1, 1, 1))
        if len(data) != len(labels):
            raise self._refuse(
                "data and labels must have the same first dimension", f"{len(data)}, {len(labels)}"
            )
        if len(data) % self.batch_size or not len(data):
            raise self._refuse(
                "first dimensions of input arrays must be a multiple of batch size",
                f"{len(data)} for batches of {self.batch_size}",
            )
        if self.layer_param.HasField("transform_param"):
            log.warning(
                "memory_data_layer.cpp:84", "MemoryData does not transform array data on Reset()"
            )
        self._serve(data, labels)

    def add_datum_vector(self, datums: Sequence[Datum]) -> None:
        """Serve datums, transformed; not before what was added last is used up."""
        color = encoded_color(self.layer_param.transform_param)
        images = [datum_pixels(datum, color) for datum in datums]
        self._add(images, [datum.label for datum in datums])

    def add_mat_vector(self, images: Sequence[Array], labels: Sequence[int]) -> None:
        """Serve images (height, width, channels) of bytes, transformed; else as datums."""
        self._add([image.transpose(2, 0, 1) for image in images], labels)

    def set_batch_size(self, size: int) -> None:
        if self.has_new_data:
            raise self._refuse("Can't change batch_size until current data has been consumed")
        self.batch_size = size

    def _add(self, images: Sequence[Array], labels: Sequence[int]) -> None:
        if self.has_new_data:
            raise self._refuse("Can't add data until current data has been consumed")
        if not images or len(images) % self.batch_size:
            raise self._refuse(
                "The added data must be a multiple of the batch size",
                f"{len(images)} for batches of {self.batch_size}",
            )
        data = np.empty((len(images), *self.item), self.dtype)
        with naming(self):
            for image, out in zip(images, data, strict=True):
                self.transformer.transform(image, out)
        self._serve(data, np.array(labels, self.dtype).reshape(-1, 1, 1, 1))
        self.has_new_data = True

    def _serve(self, data: Array, labels: Array) -> None:
        self.data, self.labels = data, labels
        self.position = self.position % len(data) if self.resumed else 0
        self.resumed = False

    def _check_array(self, name: str, array: Array, item: tuple[int, int, int]) -> None:
        if not isinstance(array, np.ndarray):
            raise self._refuse(f"{name} must be a NumPy array", type(array).__name__)
        if not array.flags.c_contiguous:
            raise self._refuse(f"{name} must be C contiguous")
        if array.ndim != 4:
            raise self._refuse(f"{name} must be 4-d", f"{array.ndim}-d")
        if array.dtype != np.float32:
            raise self._refuse(f"{name} must be float32", str(array.dtype))
        wrong = ("wrong number of channels", "wrong height", "wrong width")
        for what, found, wanted in zip(wrong, array.shape[1:], item, strict=True):
            if found != wanted:
                raise self._refuse(f"{name} has {what}", f"{found}, not {wanted}")

    def _refuse(self, message: str, found: str = "") -> ArrayError:
        return ArrayError(str(self.error(f"{message}: {found}" if found else message)))

    def flops(self, bottom: Views, top: Views) -> int:
        return 0
