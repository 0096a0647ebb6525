"""WindowData: windows of images, some with objects and some without."""

from __future__ import annotations

import numpy as np

from pycaffe_dist import caffe_log as log
from pycaffe_dist.aliases import Array, Facts
from pycaffe_dist.data import draws
from pycaffe_dist.data.draws import raw
from pycaffe_dist.data.image import Color, Pixels, decode, read_image
from pycaffe_dist.data.prefetch import Batch
from pycaffe_dist.data.shards import sources
from pycaffe_dist.data.transformer import Draws, Shape
from pycaffe_dist.data.window_file import Window, read_window_file, warp
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.files import read_bytes
from pycaffe_dist.layer import register
from pycaffe_dist.layers.base_data import BadRecord, BaseData, Draft
from pycaffe_dist.rng import child

Drawn = tuple[Window, bool]  # and whether it is mirrored


@register("WindowData")
class WindowData(BaseData):
    """⌊batch · fg_fraction⌋ foreground windows behind background ones, drawn with replacement.

    y = (x − mean) · scale with window_data_param's own scale; crop_size, mirror and mean are
    transform_param's.  The middle of a mean image is used.  Outside of an image y is 0.
    """

    def batch_size(self) -> int:
        return self.layer_param.window_data_param.batch_size

    def open(self) -> tuple[int, ...]:
        p = self.layer_param.window_data_param
        shape = self.guess_shape()
        self.rng = child()
        self.windows = read_window_file(p.source, p.fg_threshold, p.bg_threshold)
        for kind in ("foreground", "background"):
            if not getattr(self.windows, kind):
                raise NetError(f"{p.source}: there is no {kind} window")
        log.info("window_data_layer.cpp:45", "Number of images: %d", len(self.windows.images))
        self.paths = [p.root_folder + name for name in self.windows.images]
        self.cache = [read_bytes(path) for path in self.paths] if p.cache_images else []
        self.mean = self._mean_of(self.windows.channels, p.source)
        return self.windows.channels, *shape[1:]

    def guess_shape(self) -> tuple[int, ...]:
        crop = self.layer_param.transform_param.crop_size
        if not crop:
            raise NetError("needs a transform_param.crop_size, the size of its warped windows")
        return 3, crop, crop

    def take(self, place: int) -> Drawn:
        p = self.layer_param.window_data_param
        objects = int(np.float32(p.batch_size) * np.float32(p.fg_fraction))
        background = place < p.batch_size - objects
        among = self.windows.background if background else self.windows.foreground
        window = among[raw(self.rng) % len(among)]
        return window, self.layer_param.transform_param.mirror and raw(self.rng) % 2 == 1

    def begin(
        self, items: list[Array], draws: Draws, batch: Batch
    ) -> tuple[dict[int, tuple[Array, Array]], Shape]:
        crop = self.transformer.param.crop_size
        return {}, (self.windows.channels, crop, crop)

    def fill(self, draft: Draft, places: range) -> None:
        for i in places:
            window, mirror = draft.items[i]
            draft.out[i], draft.labels[i] = 0, window.label
            try:
                self._fill(draft.out[i], window, mirror)
            except FileError as e:
                draft.bad.append((i, BadRecord(str(e))))
            except ValueError as e:
                draft.bad.append((i, BadRecord(f"{self.paths[window.image]}: {e}")))

    def position(self) -> Facts:
        return {"windows": draws.state_of(self.rng)}

    def go_to(self, position: Facts) -> None:
        if "windows" in position:
            self.rng = draws.from_state(position["windows"])

    def sources(self) -> Facts:
        if self.context.dry:
            return {}
        return sources(None, len(self.windows.foreground) + len(self.windows.background))

    def _fill(self, out: Array, window: Window, mirror: bool) -> None:
        p = self.layer_param.window_data_param
        square = p.crop_mode == "square"
        image = self._image(window.image)
        pixels, row, column = warp(image, window, out.shape[1], p.context_pad, square, mirror)
        place = np.s_[:, row : row + pixels.shape[0], column : column + pixels.shape[1]]
        target = out[place]
        target[...] = pixels.transpose(2, 0, 1)
        if self.mean is not None:
            target -= self.mean[place]
        target *= p.scale

    def _image(self, index: int) -> Pixels:
        if self.cache:
            return decode(self.cache[index], Color.COLOR)
        return read_image(self.paths[index])

    def _mean_of(self, channels: int, source: str) -> Array | None:
        """(channels, crop, crop), from which a window takes the part it fills."""
        if channels != 3:
            raise NetError(f"{source}: images have 3 channels here, the file says {channels}")
        mean, crop = self.transformer.mean, self.transformer.param.crop_size
        if mean is None:
            return None
        if self.transformer.param.HasField("mean_file"):
            # As in Caffe: the offset of the columns is that of the rows too.
            begin = (mean.shape[2] - crop) // 2
            middle = mean[:, max(begin, 0) : begin + crop, max(begin, 0) : begin + crop]
            if middle.shape != (channels, crop, crop):
                raise NetError(f"no {crop} × {crop} fit into a mean image of {mean.shape}")
            return middle
        if len(mean) not in (1, channels):
            raise NetError(f"{len(mean)} mean_value for {channels} channels; give 1 or all")
        return np.broadcast_to(mean, (channels, crop, crop))
