"""Pillow and scikit-image."""

from __future__ import annotations

import functools
import importlib

import numpy as np

from pycaffe_dist.py2.added.words import Adding, in_place, old_words
from pycaffe_dist.py2.operations import whole
from pycaffe_dist.py2.strings import ByteStr
from pycaffe_dist.py2.values import Names, Value


def _image(module: Value) -> Names:
    image = module.Image
    image.tostring = lambda self, *args: ByteStr(self.tobytes(*args))
    resize, new = image.resize, module.new
    image.resize = lambda self, size, *args, **kwargs: resize(self, whole(size), *args, **kwargs)
    module.new = lambda mode, size, *args, **kwargs: new(mode, whole(size), *args, **kwargs)
    return {
        "ANTIALIAS": module.Resampling.LANCZOS,
        "LINEAR": module.Resampling.BILINEAR,
        "CUBIC": module.Resampling.BICUBIC,
        "fromstring": module.frombytes,
    }


def _image_draw(module: Value) -> Names:
    def textsize(self: Value, text: str, *args: Value, **kwargs: Value) -> tuple[int, int]:
        left, top, right, bottom = self.textbbox((0, 0), text, *args, **kwargs)
        return int(right - left), int(bottom - top)

    if not hasattr(module.ImageDraw, "textsize"):
        module.ImageDraw.textsize = textsize
    return {}


def _image_font(module: Value) -> Names:
    def getsize(self: Value, text: str, *args: Value, **kwargs: Value) -> tuple[int, int]:
        left, top, right, bottom = self.getbbox(text, *args, **kwargs)
        return int(right - left), int(bottom - top)

    for font in (module.ImageFont, module.FreeTypeFont):
        if not hasattr(font, "getsize"):
            font.getsize = getsize
    return {}


def _skimage_io(module: Value) -> Names:
    imsave = module.imsave

    def of_floats(fname: Value, arr: Value, *args: Value, **kwargs: Value) -> Value:
        """Floats, from 0 to 1, are written as bytes where the format knows no others."""
        arr = np.asarray(arr)
        if arr.dtype.kind == "f" and not str(fname).lower().endswith((".tif", ".tiff")):
            arr = np.round(np.clip(arr, 0, 1) * 255).astype(np.uint8)
        return imsave(fname, arr, *args, **kwargs)

    module.imread = old_words(module.imread, as_grey="as_gray")
    module.imsave = of_floats
    return {}


def _skimage_transform(module: Value) -> Names:
    pyramids = tuple(f"pyramid_{kind}" for kind in ("expand", "gaussian", "laplacian", "reduce"))
    in_place(module, (*pyramids, "rescale", "rotate"), _channels_last)
    in_place(module, (*pyramids, "rescale"), _colours_last)
    in_place(module, ("rescale", "resize"), _without_smoothing)
    return {}


def _without_smoothing(function: Value) -> Value:
    """Nothing was smoothed before shrinking, and an image had zeros around it."""
    before_mode = 3  # arguments: the image, its new size, the order

    @functools.wraps(function)
    def call(*args: Value, **kwargs: Value) -> Value:
        kwargs.setdefault("anti_aliasing", False)
        if len(args) <= before_mode:
            kwargs.setdefault("mode", "constant")
        return function(*args, **kwargs)

    return call


def _colours_last(function: Value) -> Value:
    """The last axis of an image in colours was never scaled."""

    @functools.wraps(function)
    def call(image: Value, *args: Value, **kwargs: Value) -> Value:
        if np.ndim(image) == 3 and np.shape(image)[2] in (3, 4):
            kwargs.setdefault("channel_axis", -1)
        return function(image, *args, **kwargs)

    return call


def _channels_last(function: Value) -> Value:
    """``multichannel=True``: the last axis has the channels."""

    @functools.wraps(function)
    def call(*args: Value, **kwargs: Value) -> Value:
        if kwargs.pop("multichannel", False):
            kwargs["channel_axis"] = -1
        return function(*args, **kwargs)

    return call


def _skimage_measure(module: Value) -> Names:
    """Measures of likeness, which have a module of their own today."""

    def later(name: str) -> Value:
        def call(*args: Value, **kwargs: Value) -> Value:
            measure = getattr(importlib.import_module("skimage.metrics"), name)
            if name == "structural_similarity" and np.asarray(args[0]).dtype.kind == "f":
                kwargs.setdefault("data_range", 2.0)  # floats were taken for -1 to 1
            return _channels_last(measure)(*args, **kwargs)

        return call

    in_place(module, ("label",), _with_neighbors)
    return {
        "compare_mse": later("mean_squared_error"),
        "compare_nrmse": later("normalized_root_mse"),
        "compare_psnr": later("peak_signal_noise_ratio"),
        "compare_ssim": later("structural_similarity"),
        "structural_similarity": later("structural_similarity"),
    }


def _with_neighbors(function: Value) -> Value:
    """``neighbors=8`` of a pixel."""

    @functools.wraps(function)
    def call(*args: Value, neighbors: Value = None, **kwargs: Value) -> Value:
        if neighbors is not None:
            kwargs["connectivity"] = {4: 1, 8: 2}[neighbors]
        return function(*args, **kwargs)

    return call


def _elsewhere(**places: str) -> Adding:
    """Functions by their old names, each looked up where it is today when it is called."""

    def later(place: str) -> Value:
        def call(*args: Value, **kwargs: Value) -> Value:
            module, _, name = place.rpartition(".")
            return getattr(importlib.import_module(module), name)(*args, **kwargs)

        return call

    return lambda module: {name: later(place) for name, place in places.items()}


def _skimage_filters(module: Value) -> Names:
    def threshold_adaptive(image: Value, *args: Value, **kwargs: Value) -> Value:
        return image > module.threshold_local(image, *args, **kwargs)

    old = _elsewhere(gaussian_filter="skimage.filters.gaussian")(module)
    return {**old, "threshold_adaptive": threshold_adaptive}


def _skimage_draw(module: Value) -> Names:
    def circle(r: Value, c: Value, radius: Value, shape: Value = None) -> Value:
        return module.disk((r, c), radius, shape=shape)

    return {"circle": circle}


def _skimage_feature(module: Value) -> Names:
    peaks = module.peak_local_max

    def peak_local_max(image: Value, *args: Value, **kwargs: Value) -> Value:
        """``indices=False``: a mask."""
        listed = kwargs.pop("indices", True)
        found = peaks(image, *args, **kwargs)
        if listed:
            return found
        mask = np.zeros(np.shape(image), bool)
        mask[tuple(found.T)] = True
        return mask

    module.peak_local_max = peak_local_max
    module.hog = old_words(module.hog, visualise="visualize", normalise=None)
    return {}


ADDED: dict[str, Adding] = {
    "PIL.Image": _image,
    "PIL.ImageDraw": _image_draw,
    "PIL.ImageFont": _image_font,
    "skimage.color": _elsewhere(
        rgb2grey="skimage.color.rgb2gray", grey2rgb="skimage.color.gray2rgb"
    ),
    "skimage.data": _elsewhere(imread="skimage.io.imread"),
    "skimage.draw": _skimage_draw,
    "skimage.feature": _skimage_feature,
    "skimage.filters": _skimage_filters,
    "skimage.io": _skimage_io,
    "skimage.measure": _skimage_measure,
    "skimage.morphology": _elsewhere(watershed="skimage.segmentation.watershed"),
    "skimage.transform": _skimage_transform,
    "skimage.util": _elsewhere(pad="numpy.pad"),
}
