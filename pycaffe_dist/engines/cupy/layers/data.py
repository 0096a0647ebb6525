"""Data and ImageData: bytes go to the device, and are cropped, mirrored and shifted there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pycaffe_dist.aliases import Array, DeviceArray
from pycaffe_dist.blob import Views
from pycaffe_dist.data.prefetch import Batch
from pycaffe_dist.engines.cupy.launch import OnDevice, accelerates
from pycaffe_dist.layers.base_data import BaseData, Draft
from pycaffe_dist.layers.data import Data
from pycaffe_dist.layers.image_data import ImageData


@dataclass
class Raw:
    """Images of one shape as they were stored, and what is to become of each.

    pixels: (images, channels, height, width), bytes  places: (images, 3): mirrored, top, left
    """

    pixels: Array
    places: Array


class DeviceBaseData(OnDevice, BaseData):
    """A quarter of the bytes cross over, and no thread of the host works on floats.

    Images of a batch that differ in size, or are no bytes, are transformed by the host.
    """

    _raw: Raw | None = None

    def transform(self, draft: Draft, images: dict[int, Array]) -> None:
        draft.ready |= {i: (image, 0) for i, image in images.items()}

    def complete(self, draft: Draft, batch: Batch) -> None:
        images = [draft.ready[i][0] for i in range(len(draft.items))]
        first = images[0]
        if any(i.dtype != np.uint8 or i.shape != first.shape for i in images):
            super().transform(draft, dict(enumerate(images)))
            batch.raw = None
            return
        places = [self.transformer.place(first.shape, own) for own in draft.draws.tolist()]
        pixels = _room(batch.raw, (len(images), *first.shape))
        np.stack(images, out=pixels)
        batch.raw = Raw(pixels, np.array(places, np.int32))

    def _next_batch(self) -> Batch:
        batch = super()._next_batch()
        self._raw = batch.raw
        return batch

    def forward(self, bottom: Views, top: Views) -> None:
        super().forward(bottom, top)
        raw = self._raw
        if raw is None:
            return
        home = self.engine.home
        pixels = self.kept("pixels", (raw.pixels.size,), np.uint8)
        places = self.kept("places", (raw.places.size,), np.int32)
        home.load(raw.pixels.reshape(-1), pixels)
        home.load(raw.places.reshape(-1), places)
        top[0].blob.data_value.replace(home)  # what the host has of it was never filled
        y = top[0].data
        kind, mean = self._mean()
        sizes = *raw.pixels.shape[1:], *y.shape[2:], kind, self.transformer.scale
        self.launch("transform_bytes", y.size, *sizes, places, mean, pixels, y)

    def _mean(self) -> tuple[int, DeviceArray]:
        """0: none, 1: one value, 2: one for each channel, 3: an image; and the values."""
        mean = self.transformer.mean
        if mean is None:
            return 0, self.engine.one(self.dtype)
        room = self.__dict__.get("_mean_room")
        if room is None:
            room = self._mean_room = self.xp.asarray(mean.reshape(-1).astype(self.dtype))
        if self.transformer.means is not None:
            return 3, room
        return (1 if mean.size == 1 else 2), room


def _room(raw: Raw | None, shape: tuple[int, ...]) -> Array:
    """Room for pixels: that of the batch before, if it fits."""
    return raw.pixels if raw and raw.pixels.shape == shape else np.empty(shape, np.uint8)


@accelerates("Data")
class DeviceData(DeviceBaseData, Data):
    pass


@accelerates("ImageData")
class DeviceImageData(DeviceBaseData, ImageData):
    pass
