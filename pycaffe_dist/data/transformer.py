"""What happens to an image between its file and the net: crop, mirror, mean, scale."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from pycaffe_dist.aliases import Array
from pycaffe_dist.channels import in_words
from pycaffe_dist.data.draws import RAW_MAX
from pycaffe_dist.data.image import Color
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.proto.caffe_pb2 import TRAIN, TransformationParameter
from pycaffe_dist.proto.weights import read_binaryproto
from pycaffe_dist.rng import child

Shape = tuple[int, int, int]  # channels, height, width
Draws = NDArray[np.uint32]  # (images, numbers for each)

CACHED = 1 << 18  # bytes of floats that are worked on together, so that they stay near
FEW = 4  # images, fewer of which are better taken one by one


class Transformer:
    """y = (x − mean) · scale, of a crop, perhaps mirrored.

    The crop is at a random place in training, else in the middle.  The mirror is thrown in both
    phases.  A mean image has the size of the whole image and is cropped and mirrored with it.
    """

    random = False  # whether the generator is needed for other things too

    def __init__(self, param: TransformationParameter, phase: int) -> None:
        self.param = param
        self.crop = crop_of(param)
        self.scale = param.scale
        self.random_crop = bool(self.crop) and phase == TRAIN
        self.mean: Array | None = None  # (channels, height, width), or (values, 1, 1)
        if param.HasField("mean_file"):
            if param.mean_value:
                raise NetError("transform_param has both a mean_file and a mean_value")
            self.mean = read_mean(param.mean_file)
        elif param.mean_value:
            self.mean = np.array(param.mean_value, np.float32).reshape(-1, 1, 1)
        self.means: Array | None = None  # of a mean image: as it is, and mirrored
        if param.HasField("mean_file") and self.mean is not None:
            self.means = np.stack([self.mean, self.mean[:, :, ::-1]])
        self.rng: np.random.RandomState | None = None
        self.one_pass: Callable[..., bool] | None = None  # an engine's, where it has a faster way

    def init_rand(self) -> None:
        """Draw a seed for the generator, if one is needed."""
        if self.param.mirror or self.random_crop or self.random:
            self.rng = child()

    def draws(self, count: int) -> Draws:
        """The raw numbers for so many images: for each mirror, row, column, as far as needed."""
        width = int(self.param.mirror) + 2 * self.random_crop
        if not width:
            return np.empty((count, 0), np.uint32)
        assert self.rng is not None, "init_rand was not called"
        return self.rng.randint(0, RAW_MAX + 1, size=(count, width), dtype=np.uint32)

    def transform(self, image: Array, out: Array) -> None:
        """From an image (channels, height, width) to ``out``, of the shape that output_shape says.

        Raises:
            NetError: the image does not fit the output, or the mean does not fit the image.
        """
        draws = self.draws(1)
        self.check(image.shape, out.shape)
        self.apply([image], draws, out[None])

    def check(self, shape: tuple[int, ...], out: tuple[int, ...]) -> None:
        """Raise a NetError unless an image of ``shape`` gives one of the shape ``out``."""
        found = output_shape(self.param, shape)
        if found != out:
            remedy = "make them all the same size, or give a crop_size"
            if found[0] != out[0]:
                remedy = (
                    f"it has {in_words(found[0])}, the batch {in_words(out[0])}: make the database "
                    "of one kind, or for encoded images give force_color or force_gray"
                )
            raise NetError(
                f"an image of the shape {shape} gives {found}, the batch takes {out}; {remedy}"
            )
        self._check_mean(shape)

    def apply(self, images: Sequence[Array], draws: Draws, out: Array) -> None:
        """Images that were checked, each by its own draws, to ``out``; may run in any thread."""
        each = zip(images, draws.tolist(), out, strict=True)
        if self.one_pass is not None and all(self._at_once(*one) for one in each):
            return
        first = images[0]
        small = out[0].nbytes * FEW <= CACHED and first.dtype == np.uint8
        step = CACHED // out[0].nbytes if small else 1
        alike = small and all(i.shape == first.shape and i.dtype == np.uint8 for i in images)
        if not alike:
            for image, own, target in zip(images, draws.tolist(), out, strict=True):
                self._apply_one(image, own, target)
            return
        for begin in range(0, len(images), step):
            part = slice(begin, begin + step)
            self._apply_alike(np.stack(images[part]), draws[part], out[part])

    def _at_once(self, image: Array, draws: list[int], out: Array) -> bool:
        assert self.one_pass is not None
        return self.one_pass(image, self.mean, self.scale, self.place(image.shape, draws), out)

    # A mirrored image is mirrored first, and its crop and its mean with it: so the long loops run
    # over memory in order.

    def _apply_one(self, image: Array, draws: list[int], out: Array) -> None:
        mirrored, top, left = self.place(image.shape, draws)
        rows, columns = slice(top, top + out.shape[1]), slice(left, left + out.shape[2])
        image = mirror(image[:, rows]) if mirrored else image[:, rows]
        mean = self.mean if self.means is None else self.means[mirrored, :, rows, columns]
        out[...] = image[:, :, columns]
        if mean is not None:
            out -= mean
        if self.scale != 1:
            out *= self.scale

    def _apply_alike(self, images: Array, draws: Draws, out: Array) -> None:
        places = [self.place(images.shape[1:], own) for own in draws.tolist()]
        mirrored, tops, lefts = np.array(places, np.intp).T
        which = np.flatnonzero(mirrored)
        images[which] = images[which, :, :, ::-1]
        size = out.shape[2:]
        every = np.arange(len(images))
        out[...] = windows(images, size)[every, :, tops, lefts]
        if self.means is not None:
            out -= windows(self.means, size)[mirrored, :, tops, lefts]
        elif self.mean is not None:
            out -= self.mean
        if self.scale != 1:
            out *= self.scale

    def place(self, shape: tuple[int, ...], draws: list[int]) -> tuple[int, int, int]:
        """Whether an image is mirrored, and where its crop begins in what it is then."""
        mirrored = draws[0] % 2 if self.param.mirror else 0
        if not self.crop:
            return mirrored, 0, 0
        rows, columns = shape[1] - self.crop[0], shape[2] - self.crop[1]
        if self.random_crop:
            top, left = draws[-2] % (rows + 1), draws[-1] % (columns + 1)
        else:
            top, left = rows // 2, columns // 2
        return mirrored, top, columns - left if mirrored else left

    def _check_mean(self, shape: tuple[int, ...]) -> None:
        if self.mean is None:
            return
        if self.param.HasField("mean_file"):
            if self.mean.shape != shape:
                channels = len(self.mean), shape[0]
                kinds = "its images have {}, these {}; ".format(*map(in_words, channels))
                raise NetError(
                    f"the mean of {self.param.mean_file} has the shape {self.mean.shape}, "
                    f"an image {shape} (before cropping): {kinds if len({*channels}) > 1 else ''}"
                    "`pcd compute_image_mean` makes the mean of a database"
                )
        elif len(self.mean) not in (1, shape[0]):
            raise NetError(
                f"{len(self.mean)} mean_value for {in_words(shape[0])}; give 1 or one for each"
            )


class SeededTransformer(Transformer):
    """A Transformer whose draws begin with a seed for everything else that is random."""

    def draws(self, count: int) -> Draws:
        plain = super().draws(count)
        seeds = np.zeros((count, 1), np.uint32)
        if self.rng is not None:
            seeds = self.rng.randint(0, RAW_MAX + 1, size=(count, 1), dtype=np.uint32)
        return np.concatenate([seeds, plain], axis=1)


def mirror(image: Array) -> Array:
    """An image (channels, height, width) with its columns turned round."""
    if image.dtype == np.uint8 and image.strides[2] == 1:
        for word in (np.uint64, np.uint32, np.uint16):
            if image.shape[2] % word().itemsize == 0:
                # Several pixels at a time, and then within them.
                return image.view(word)[:, :, ::-1].byteswap().view(np.uint8)
    return image[:, :, ::-1]


def windows(images: Array, size: tuple[int, ...]) -> Array:
    """[n, :, top, left] is the part of image n that begins there, without a copy."""
    return sliding_window_view(images, size, axis=(2, 3))


def output_shape(param: TransformationParameter, shape: tuple[int, ...]) -> Shape:
    """What becomes of an image of ``shape``.

    Raises:
        NetError: it is smaller than the crop, or has no channels.
    """
    channels, height, width = shape
    crop = crop_of(param)
    if channels < 1:
        raise NetError(f"an image has {channels} channels")
    if crop and (height < crop[0] or width < crop[1]):
        if param.crop_size:
            raise NetError(f"an image of {height} × {width} is smaller than crop_size {crop[0]}")
        raise NetError(f"an image of {height} × {width} is smaller than its crop, {crop}")
    return (channels, *crop) if crop else (channels, height, width)


def crop_of(param: TransformationParameter) -> tuple[int, int] | None:
    """Height and width of what is cut out of images: BVLC's square, or a rectangle of forks.

    Raises:
        NetError: both are given, or one side only.
    """
    rectangles = (param.crop_h, param.crop_w), (param.crop_height, param.crop_width)
    given = [size for size in rectangles if any(size)]
    if param.crop_size:
        given.append((param.crop_size, param.crop_size))
    if len(given) > 1 or not all(all(size) for size in given):
        raise NetError("transform_param takes crop_size, or both crop_h and crop_w, but not both")
    return given[0] if given else None


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
