"""What happens to an image between its file and the net: crop, mirror, mean, scale."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.data.draws import raw
from pycaffe_dist.data.image import Color
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.memory import Array
from pycaffe_dist.proto.caffe_pb2 import TRAIN, TransformationParameter
from pycaffe_dist.proto.weights import read_binaryproto
from pycaffe_dist.rng import child

Shape = tuple[int, int, int]  # channels, height, width


class Transformer:
    """y = (x − mean) · scale, of a crop, perhaps mirrored.

    The crop is at a random place in training, else in the middle.  The mirror is thrown in both
    phases.  A mean image has the size of the whole image and is cropped and mirrored with it.
    """

    def __init__(self, param: TransformationParameter, phase: int) -> None:
        self.param = param
        self.crop = param.crop_size
        self.scale = param.scale
        self.random_crop = bool(self.crop) and phase == TRAIN
        self.mean: Array | None = None  # (channels, height, width), or (values, 1, 1)
        if param.HasField("mean_file"):
            if param.mean_value:
                raise NetError("transform_param has both a mean_file and a mean_value")
            self.mean = read_mean(param.mean_file)
        elif param.mean_value:
            self.mean = np.array(param.mean_value, np.float32).reshape(-1, 1, 1)
        self.rng: np.random.RandomState | None = None

    def init_rand(self) -> None:
        """Draw a seed for the generator, if one is needed."""
        if self.param.mirror or self.random_crop:
            self.rng = child()

    def transform(self, image: Array, out: Array) -> None:
        """From an image (channels, height, width) to ``out``, of the shape that output_shape says.

        Raises:
            NetError: the image does not fit the output, or the mean does not fit the image.
        """
        # The order of the draws is Caffe's: mirror, row, column.
        mirrored = self.param.mirror and self._rand(2) == 1
        shape = output_shape(self.param, image.shape)
        if shape != out.shape:
            raise NetError(
                f"an image of the shape {image.shape} gives {shape}, the batch takes {out.shape}; "
                "make them all the same size, or give a crop_size"
            )
        self._check_mean(image.shape)
        mean = self.mean
        if self.crop:
            spare = image.shape[1] - self.crop, image.shape[2] - self.crop
            if self.random_crop:
                top, left = self._rand(spare[0] + 1), self._rand(spare[1] + 1)
            else:
                top, left = spare[0] // 2, spare[1] // 2
            window = np.s_[:, top : top + self.crop, left : left + self.crop]
            image = image[window]
            if mean is not None and self.param.HasField("mean_file"):
                mean = mean[window]
        target = out[:, :, ::-1] if mirrored else out
        target[...] = image
        if mean is not None:
            target -= mean
        if self.scale != 1:
            out *= self.scale

    def _rand(self, n: int) -> int:
        assert self.rng is not None, "init_rand was not called"
        return raw(self.rng) % n

    def _check_mean(self, shape: tuple[int, ...]) -> None:
        if self.mean is None:
            return
        if self.param.HasField("mean_file"):
            if self.mean.shape != shape:
                raise NetError(
                    f"the mean of {self.param.mean_file} has the shape {self.mean.shape}, "
                    f"an image {shape} (before cropping)"
                )
        elif len(self.mean) not in (1, shape[0]):
            raise NetError(f"{len(self.mean)} mean_value for {shape[0]} channels; give 1 or all")


def output_shape(param: TransformationParameter, shape: tuple[int, ...]) -> Shape:
    """What becomes of an image of ``shape``.

    Raises:
        NetError: it is smaller than the crop, or has no channels.
    """
    channels, height, width = shape
    crop = param.crop_size
    if channels < 1:
        raise NetError(f"an image has {channels} channels")
    if crop and (height < crop or width < crop):
        raise NetError(f"an image of {height} × {width} is smaller than crop_size {crop}")
    return (channels, crop, crop) if crop else (channels, height, width)


def encoded_color(param: TransformationParameter) -> Color:
    """What encoded images are decoded to."""
    if param.force_color and param.force_gray:
        raise NetError("transform_param has both force_color and force_gray")
    if param.force_color:
        return Color.COLOR
    return Color.GRAY if param.force_gray else Color.NATIVE


def read_mean(path: str) -> Array:
    """The mean image of a .binaryproto, (channels, height, width).

    Raises:
        FileError: it cannot be read, or is not (1, channels, height, width).
    """
    values = read_binaryproto(path).data
    if values.ndim != 4:
        raise FileError(
            f"{path}: has the shape {values.shape}; a mean image is (1, channels, height, width)"
        )
    return np.array(values[0], np.float32)
