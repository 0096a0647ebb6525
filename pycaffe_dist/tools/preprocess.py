"""From images on disk to what a deployed net takes, for classify, predict and detect."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.files import check_is_file, reading
from pycaffe_dist.npy import read_npy
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.proto.weights import read_binaryproto
from pycaffe_dist.pycaffe import io

PICTURES = ("bmp", "gif", "jpeg", "jpg", "pgm", "png", "ppm", "tif", "tiff", "webp")


@dataclass
class Preprocess:
    """A net's files, and how images are prepared for it; the names are Caffe's flags."""

    model_def: str
    pretrained_model: str
    mean_file: str = ""
    mean_value: tuple[float, ...] = ()
    input_scale: float | None = None
    raw_scale: float = 255.0
    channel_swap: tuple[int, ...] | None = None  # None: blue first if there are three

    def channels(self) -> int:
        """Of the images that the net takes: 1 for grey, 3 for colour."""
        return self.input_shape()[0]

    def input_shape(self) -> tuple[int, int, int]:
        """Channels, height and width of the images that the net takes."""
        layers = [layer for layer in read_net(self.model_def).net.layer if layer.type == "Input"]
        inputs = [top for layer in layers for top in layer.top or [layer.name]]
        if not layers or not layers[0].input_param.shape:
            raise NetError(
                f"{self.model_def}: images need a net with an Input layer: the deploy.prototxt, "
                "most likely"
            )
        if len(inputs) > 1:
            raise NetError(
                f"{self.model_def}: takes {len(inputs)} inputs ({', '.join(inputs)}), of which "
                "images are one: a script has to give the others"
            )
        dims = layers[0].input_param.shape[0].dim
        if len(dims) != 4:
            raise NetError(
                f'{self.model_def}: input "{inputs[0]}" has {len(dims)} axes; images need '
                "4 (batch, channels, height, width)"
            )
        return int(dims[1]), int(dims[2]), int(dims[3])

    def swap(self, channels: int) -> tuple[int, ...] | None:
        if self.channel_swap is None:
            return (2, 1, 0) if channels == 3 else None
        if sorted(self.channel_swap) != list(range(channels)):
            raise NetError(
                f"channel_swap {self.channel_swap}: the net takes {channels} channel(s), give each "
                f"number from 0 to {channels - 1} once"
            )
        return self.channel_swap

    def mean(self) -> Array | None:
        """What to subtract: a value for each channel, or an image."""
        if self.mean_file and self.mean_value:
            raise NetError("give a mean_file or a mean_value, not both")
        if self.mean_value:
            return np.array(self.mean_value, np.float32)
        return read_mean(self.mean_file) if self.mean_file else None


def read_mean(path: str) -> Array:
    """A mean from .npy or .binaryproto: (channels, height, width), or (channels,)."""
    if not path.endswith(".npy"):
        mean = read_binaryproto(path).data
        with reading(path, "is not the mean of one image"):
            return mean.reshape(mean.shape[-3:])
    return read_npy(path)


def read_picture(path: str, color: bool = True) -> Array:
    """As :func:`pycaffe_dist.pycaffe.io.load_image`, with an error that names the file."""
    check_is_file(path)
    with reading(path, "cannot be read as an image"):
        return io.load_image(path, color)


def pictures_in(folder: str, ext: str = "") -> list[str]:
    """The images of a folder, by name: those with the ending ``ext``, or with any we know."""
    endings = (ext.lstrip("."),) if ext else PICTURES
    names = sorted(os.listdir(folder))
    found = [name for name in names if name.rpartition(".")[2].lower() in endings]
    if not found:
        raise FileError(f"{folder}: has no image that ends in .{', .'.join(endings)}")
    return [os.path.join(folder, name) for name in found]


@contextmanager
def as_net_error(where: str) -> Iterator[None]:
    """Sizes and means that do not fit, which pycaffe's classes tell by ValueError."""
    try:
        yield
    except ValueError as e:
        raise NetError(f"{where}: {e}") from e
