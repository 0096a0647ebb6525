"""Detector: a net that scores windows of images, as R-CNN does."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Sequence

import numpy as np

from pycaffe_dist.aliases import Array, Facts
from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.proto.caffe_pb2 import TEST
from pycaffe_dist.pycaffe import io
from pycaffe_dist.pycaffe.classifier import image_transformer
from pycaffe_dist.pycaffe.net import Net

SELECTIVE_SEARCH = "selective_search_ijcv_with_python"


class Detector(Net):
    """A deployed net and the way windows of images become its input.

    Args:
        model_file: the net's prototxt; its first input takes square images.
        pretrained_file: its weights.
        mean: what to subtract, see :meth:`pycaffe_dist.pycaffe.io.Transformer.set_mean`.
        input_scale: a factor after the mean.
        raw_scale: a factor before the mean; 255 for most nets trained by Caffe.
        channel_swap: the order of channels; (2, 1, 0) for most nets trained by Caffe.
        context_pad: how many pixels of a net's input show what surrounds a window (R-CNN: 16).
    """

    def __init__(
        self,
        model_file: str,
        pretrained_file: str,
        mean: Array | None = None,
        input_scale: float | None = None,
        raw_scale: float | None = None,
        channel_swap: Sequence[int] | None = None,
        context_pad: int | None = None,
    ) -> None:
        super().__init__(model_file, TEST, weights=pretrained_file)
        self.transformer = image_transformer(self, mean, input_scale, raw_scale, channel_swap)
        self.configure_crop(context_pad)

    def detect_windows(
        self, images_windows: Iterable[tuple[str, Iterable[Sequence[float]]]]
    ) -> list[Facts]:
        """Score windows, each warped to the size of the net's input.

        Args:
            images_windows: (file name, windows) pairs, a window being ymin, xmin, ymax, xmax.

        Returns:
            A dict of ``window``, ``prediction`` and ``filename`` for each window, in their order.
        """
        in_ = self.inputs[0]
        found: list[Facts] = []
        inputs = []
        for filename, windows in images_windows:
            image = io.load_image(filename)
            for window in windows:
                inputs.append(self.transformer.preprocess(in_, self.crop(image, window)))
                found.append({"window": window, "prediction": None, "filename": filename})
        if found:
            predictions = self.forward_all(**{in_: np.stack(inputs)})[self.outputs[0]]
            for one, prediction in zip(found, predictions, strict=True):
                one["prediction"] = prediction
        return found

    def detect_selective_search(self, image_fnames: Iterable[str]) -> list[Facts]:
        """Score the windows that selective search proposes, for which it starts MATLAB."""
        try:
            search = importlib.import_module(SELECTIVE_SEARCH)
        except ImportError as e:
            raise MissingPartError(
                f"detect_selective_search needs MATLAB and the Python module {SELECTIVE_SEARCH!r} "
                f"(github.com/sergeyk/{SELECTIVE_SEARCH}) on the Python path; it cannot be "
                f"imported ({e}).",
                "With windows from anywhere else, call detect_windows.",
            ) from e
        names = [os.path.abspath(name) for name in image_fnames]  # MATLAB runs elsewhere
        windows = search.get_windows(names, cmd="selective_search_rcnn")
        return self.detect_windows(zip(names, windows, strict=True))

    def crop(self, im: Array, window: Sequence[float]) -> Array:
        """A window of an image, with its surroundings if there is a ``context_pad``.

        With context the crop has the size of the net's input, and the mean where it reaches beyond
        the image.
        """
        y0, x0, y1, x1 = (int(edge) for edge in window)
        inner = im[y0:y1, x0:x1]
        if not self.context_pad:
            self._check_pixels(inner, im, window)
            return inner
        size = self.blobs[self.inputs[0]].width
        half = np.array([y1 - y0 + 1, x1 - x0 + 1]) / 2
        centre = np.array([y0, x0]) + half
        half *= size / (size - 2 * self.context_pad)
        begin, end = np.round(centre - half), np.round(centre + half)
        scale = size / (end - begin + 1)
        pad = np.round(np.maximum(0, -begin) * scale).astype(int)
        # Caffe's arithmetic counts the last pixel, its slices leave it out.
        begin, end = (np.clip(corner, 0, im.shape[:2]).astype(int) for corner in (begin, end))
        room = np.minimum(np.round((end - begin + 1) * scale).astype(int), size - pad)
        inner = im[begin[0] : end[0], begin[1] : end[1]]
        self._check_pixels(inner, im, window)
        crop: Array = np.ones(self.crop_dims, dtype=np.float32) * self.crop_mean
        (y0, x0), (y1, x1) = pad, pad + room
        if (room > 0).all():  # else the image is less than half a pixel of such a window
            crop[y0:y1, x0:x1] = io.resize_image(inner, room)
        return crop

    @staticmethod
    def _check_pixels(crop: Array, im: Array, window: Sequence[float]) -> None:
        if not crop.size:
            raise ValueError(
                f"the window {list(window)} (ymin, xmin, ymax, xmax) has no pixels in an image of "
                f"{im.shape[0]} x {im.shape[1]}"
            )

    def configure_crop(self, context_pad: int | None) -> None:
        """Set ``context_pad``, and find the mean as it looks before all preprocessing."""
        in_ = self.inputs[0]
        shape = self.blobs[in_].shape[1:]
        back = np.argsort(self.transformer.transpose[in_])
        self.crop_dims = np.array(shape)[back]
        self.context_pad = context_pad
        mean = np.broadcast_to(self.transformer.mean.get(in_, np.float32(0)), shape)
        if in_ in self.transformer.channel_swap:
            mean = mean[np.argsort(self.transformer.channel_swap[in_])]
        mean = mean / self.transformer.raw_scale.get(in_, 1)
        self.crop_mean = mean.transpose(back).astype(np.float32)
