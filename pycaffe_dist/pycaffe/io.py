"""Images, arrays and messages: what scripts do before a net and after it."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.data.pillow import open_image
from pycaffe_dist.optional import require
from pycaffe_dist.proto import caffe_pb2  # scripts write caffe.io.caffe_pb2
from pycaffe_dist.proto.caffe_pb2 import BlobProto, BlobProtoVector, Datum

Dims = Sequence[int] | Array

GREY = (0.2125, 0.7154, 0.0721)  # luminance of red, green, blue for today's screens (BT.709)
# The largest value of Pillow's modes with one channel that are not 8 bits wide.
_WHITE = {"I": 65535, "I;16": 65535, "I;16L": 65535, "I;16B": 65535, "I;16N": 65535, "F": 1}

__all__ = [
    "Transformer",
    "array_to_blobproto",
    "array_to_datum",
    "arraylist_to_blobprotovecor_str",
    "arraylist_to_blobprotovector_str",
    "blobproto_to_array",
    "blobprotovector_str_to_arraylist",
    "caffe_pb2",
    "datum_to_array",
    "load_image",
    "oversample",
    "resize_image",
]

# -- messages --------------------------------------------------------------------------------------


def blobproto_to_array(blob: BlobProto, return_diff: bool = False) -> Array:
    """The data, or the diff, of a BlobProto as float64.

    Raises:
        ValueError: shape and values do not agree, or there are several values and no shape.
    """
    values = np.array(list(blob.diff if return_diff else blob.data), dtype=float)
    if any(blob.HasField(name) for name in ("num", "channels", "height", "width")):
        return values.reshape(blob.num, blob.channels, blob.height, blob.width)
    return values.reshape(tuple(blob.shape.dim))


def array_to_blobproto(arr: Array, diff: Array | None = None) -> BlobProto:
    """A BlobProto with the values of ``arr``, and those of ``diff`` if it is given."""
    blob = BlobProto()
    blob.shape.dim.extend(arr.shape)
    blob.data.extend(arr.astype(float).ravel().tolist())
    if diff is not None:
        blob.diff.extend(diff.astype(float).ravel().tolist())
    return blob


def arraylist_to_blobprotovector_str(arraylist: Iterable[Array]) -> bytes:
    """The bytes of a BlobProtoVector."""
    return BlobProtoVector(blobs=map(array_to_blobproto, arraylist)).SerializeToString()


arraylist_to_blobprotovecor_str = arraylist_to_blobprotovector_str  # how old pycaffes spell it


def blobprotovector_str_to_arraylist(str: bytes) -> list[Array]:
    """The arrays of a BlobProtoVector's bytes."""
    return [blobproto_to_array(blob) for blob in BlobProtoVector.FromString(str).blobs]


def array_to_datum(arr: Array, label: int | None = None) -> Datum:
    """A Datum of channels × height × width: uint8 as bytes, other types as floats."""
    if arr.ndim != 3:
        raise ValueError(f"Incorrect array shape: a Datum has 3 axes, the array {arr.ndim}")
    channels, height, width = arr.shape
    datum = Datum(channels=channels, height=height, width=width)
    if arr.dtype == np.uint8:
        datum.data = arr.tobytes()
    else:
        datum.float_data.extend(arr.astype(float).ravel().tolist())
    if label is not None:
        datum.label = label
    return datum


def datum_to_array(datum: Datum) -> Array:
    """The pixels of a Datum: uint8 if it holds bytes, else float64."""
    if datum.encoded:
        raise ValueError("the datum holds an encoded image (JPEG or PNG): decode its data instead")
    shape = datum.channels, datum.height, datum.width
    if datum.data:
        return np.frombuffer(datum.data, np.uint8).reshape(shape).copy()
    return np.array(list(datum.float_data), dtype=float).reshape(shape)


# -- from images to inputs -------------------------------------------------------------------------


class Transformer:
    """Makes an image (H × W × K) what a net's input expects (K × H × W), and back.

    In this order: resize to the input, transpose, swap channels, ``raw_scale``, subtract the mean,
    ``input_scale``; each only if it was set.

    Args:
        inputs: shape by name of input, such as ``{"data": net.blobs["data"].data.shape}``.
    """

    def __init__(self, inputs: Mapping[str, Sequence[int]]) -> None:
        self.inputs = inputs
        self.transpose: dict[str, Sequence[int]] = {}
        self.channel_swap: dict[str, Sequence[int]] = {}
        self.raw_scale: dict[str, float] = {}
        self.mean: dict[str, Array] = {}
        self.input_scale: dict[str, float] = {}

    def __check_input(self, in_: str) -> tuple[int, ...]:
        if in_ not in self.inputs:
            raise Exception(f"{in_} is not one of the net inputs: {self.inputs}")
        return tuple(self.inputs[in_])

    def preprocess(self, in_: str, data: Array) -> Array:
        """An image as the input ``in_`` takes it; ``data`` itself is left alone."""
        size = self.__check_input(in_)[2:]
        caffe_in = np.array(data, dtype=np.float32)
        if caffe_in.shape[:2] != size:
            caffe_in = resize_image(caffe_in, size)
        if in_ in self.transpose:
            caffe_in = caffe_in.transpose(self.transpose[in_])
        if in_ in self.channel_swap:
            caffe_in = caffe_in[list(self.channel_swap[in_])]
        if in_ in self.raw_scale:
            caffe_in *= self.raw_scale[in_]
        if in_ in self.mean:
            caffe_in -= self.mean[in_]
        if in_ in self.input_scale:
            caffe_in *= self.input_scale[in_]
        return caffe_in

    def deprocess(self, in_: str, data: Array) -> Array:
        """The image behind an input: :meth:`preprocess` backwards, but for the size."""
        self.__check_input(in_)
        decaf_in = data.copy().squeeze()
        axes = len(self.transpose.get(in_, ()))
        if decaf_in.ndim < axes:  # one channel, or one pixel wide
            decaf_in = decaf_in.reshape(data.shape[-axes:])
        if in_ in self.input_scale:
            decaf_in /= self.input_scale[in_]
        if in_ in self.mean:
            decaf_in += self.mean[in_]
        if in_ in self.raw_scale:
            decaf_in /= self.raw_scale[in_]
        if in_ in self.channel_swap:
            decaf_in = decaf_in[np.argsort(self.channel_swap[in_])]
        if in_ in self.transpose:
            decaf_in = decaf_in.transpose(np.argsort(self.transpose[in_]))
        return decaf_in

    def set_transpose(self, in_: str, order: Sequence[int]) -> None:
        """The order of axes; (2, 0, 1) makes H × W × K into K × H × W."""
        if len(order) != len(self.__check_input(in_)) - 1:
            raise Exception(
                "Transpose order needs to have the same number of dimensions as the input."
            )
        self.transpose[in_] = order

    def set_channel_swap(self, in_: str, order: Sequence[int]) -> None:
        """The order of channels; (2, 1, 0) makes RGB into BGR."""
        if len(order) != self.__check_input(in_)[1]:
            raise Exception(
                "Channel swap needs to have the same number of dimensions as the input channels."
            )
        self.channel_swap[in_] = order

    def set_raw_scale(self, in_: str, scale: float) -> None:
        """A factor before the mean: 255 for nets that expect pixels from 0 to 255."""
        self.__check_input(in_)
        self.raw_scale[in_] = scale

    def set_mean(self, in_: str, mean: Array) -> None:
        """What to subtract: a value for each channel, or an image (K × H × W or H × W).

        An image of another size than the input's is resized.
        """
        shape = self.__check_input(in_)
        mean = np.asarray(mean)
        if mean.ndim not in (1, 2, 3):
            raise ValueError(f"Mean shape invalid: {mean.shape}")
        channels = 1 if mean.ndim == 2 else mean.shape[0]
        if channels != shape[1] and (mean.ndim == 1 or channels != 1):
            raise ValueError(
                f"Mean channels incompatible with input: {channels} in the mean, {shape[1]} in "
                f"{in_}"
            )
        if mean.ndim == 1:
            mean = mean[:, np.newaxis, np.newaxis]
        elif mean.shape[-2:] != shape[2:]:
            image = mean.reshape(channels, *mean.shape[-2:]).transpose(1, 2, 0)
            mean = resize_image(image, shape[2:]).transpose(2, 0, 1)
        self.mean[in_] = mean

    def set_input_scale(self, in_: str, scale: float) -> None:
        """A factor after the mean."""
        self.__check_input(in_)
        self.input_scale[in_] = scale


# -- images ----------------------------------------------------------------------------------------


def load_image(filename: str | os.PathLike[str], color: bool = True) -> Array:
    """An image as float32 from 0 to 1: H × W × 3 in RGB, or H × W × 1 if not ``color``.

    An alpha channel is dropped.
    """
    with open_image(filename) as file:
        if file.mode in _WHITE:
            pixels = np.array(file, dtype=np.float32)
            pixels /= np.float32(_WHITE[file.mode])
        else:
            mode = "L" if file.mode in ("1", "L", "LA", "La") else "RGB"
            # Transparent colours of a palette are colours all the same.
            whole = file.convert("RGBA") if file.mode == "P" else file
            pixels = np.array(whole.convert(mode), dtype=np.float32)
            pixels /= np.float32(255)
    if pixels.ndim == 2:
        pixels = pixels[:, :, np.newaxis]
        return pixels.repeat(3, axis=2) if color else pixels
    if color:
        return pixels
    grey: Array = (pixels @ np.array(GREY)).astype(np.float32)[:, :, np.newaxis]
    return grey


def resize_image(im: Array, new_dims: Dims, interp_order: int = 1) -> Array:
    """An image (H × W × K) in another size, as float32.

    As pycaffe has it, images of 1 or 3 channels and others are sampled differently: pixels as
    squares that the image's least value surrounds (skimage's ``resize``, ``mode="constant"``), or
    as points with the corners fixed (SciPy's ``zoom``).  Nothing is smoothed before shrinking.

    Args:
        im: the image.
        new_dims: height and width.
        interp_order: of the spline: 0 for the nearest pixel, 1 for linear; 2 to 5 need SciPy.
    """
    if im.ndim != 3:
        raise ValueError(f"an image has three axes (height, width, channels), not {im.ndim}")
    if interp_order not in range(6):
        raise ValueError(f"interp_order {interp_order}: there are 0 (nearest), 1 (linear) to 5")
    squares = im.shape[-1] in (1, 3)
    outside = float(im.min()) if squares else 0.0
    if interp_order > 1:
        return _by_splines(im - outside, new_dims, interp_order, squares) + np.float32(outside)
    out = im - outside
    for axis, size in enumerate(new_dims):
        out = _sampled(out, axis, _positions(out.shape[axis], int(size), squares), interp_order)
    return (out + outside).astype(np.float32)


def _by_splines(im: Array, new_dims: Dims, order: int, squares: bool) -> Array:
    """SciPy's ``zoom``; as in skimage's ``resize`` splines do not leave the image's own range."""
    ndimage = require("scipy.ndimage", "images", f"Resizing with interp_order {order}")
    factors = (new_dims[0] / im.shape[0], new_dims[1] / im.shape[1], 1)
    if not squares:
        return np.asarray(ndimage.zoom(im, factors, order=order), dtype=np.float32)
    out = ndimage.zoom(im, factors, order=order, mode="grid-constant", grid_mode=True)
    return np.asarray(out.clip(im.min(), im.max()), dtype=np.float32)


def _positions(old: int, new: int, squares: bool) -> Array:
    """Where the ``new`` pixels lie among the ``old``, in the old ones' coordinates."""
    if squares:
        return (np.arange(new) + 0.5) * (old / new) - 0.5
    return np.arange(new) * ((old - 1) / max(new - 1, 1))


def _sampled(im: Array, axis: int, at: Array, order: int) -> Array:
    """Values of ``im`` at the positions ``at`` of an axis; outside of it are zeros."""
    if order == 0:
        return im.take(np.floor(at + 0.5).astype(int), axis, mode="clip")
    below = np.floor(at).astype(int)
    share = at - below
    column = (-1,) + (1,) * (im.ndim - 1 - axis)
    total: Array = np.zeros(())
    for index, weight in ((below, 1 - share), (below + 1, share)):
        inside = (index >= 0) & (index < im.shape[axis])
        total = total + im.take(index, axis, mode="clip") * (weight * inside).reshape(column)
    return total


def oversample(images: Sequence[Array] | Array, crop_dims: Dims) -> Array:
    """Ten crops of each image: the corners, the centre, and the mirror images of these five.

    Args:
        images: N images of one size, H × W × K each.
        crop_dims: height and width of a crop.

    Returns:
        10 N × height × width × K, float32.
    """
    height, width = images[0].shape[:2]
    h, w = (int(d) for d in crop_dims)
    if h > height or w > width:
        raise ValueError(f"crops of {h} x {w} do not fit into images of {height} x {width}")
    places = [(y, x) for y in (0, height - h) for x in (0, width - w)]
    places.append(((height - h) // 2, (width - w) // 2))
    crops = np.empty((len(images), 10, h, w, images[0].shape[-1]), dtype=np.float32)
    for image, ten in zip(images, crops, strict=True):
        for i, (y, x) in enumerate(places):
            ten[i] = image[y : y + h, x : x + w]
    crops[:, 5:] = crops[:, :5, :, ::-1]
    return crops.reshape(-1, *crops.shape[2:])


# BVLC's io imports these names, and scripts reach through it for them.
_ELSEWHERE = {
    "skimage": ("skimage", None),
    "resize": ("skimage.transform", "resize"),
    "zoom": ("scipy.ndimage", "zoom"),
}


def __getattr__(name: str) -> Any:
    if name not in _ELSEWHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, what = _ELSEWHERE[name]
    importlib.import_module("skimage.io" if name == "skimage" else module)
    found = importlib.import_module(module)
    return found if what is None else getattr(found, what)
