"""Classifier: a net that takes images and gives their classes' scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import TEST
from pycaffe_dist.pycaffe import io
from pycaffe_dist.pycaffe.net import Net


class Classifier(Net):
    """A deployed net and the way images become its input.

    Args:
        model_file: the net's prototxt; its first input takes images.
        pretrained_file: its weights.
        image_dims: the height and width that images are scaled to before cropping; by default
            those of the input.
        mean: what to subtract, see :meth:`pycaffe_dist.pycaffe.io.Transformer.set_mean`.
        input_scale: a factor after the mean.
        raw_scale: a factor before the mean; 255 for most nets trained by Caffe.
        channel_swap: the order of channels; (2, 1, 0) for most nets trained by Caffe.
    """

    def __init__(
        self,
        model_file: str,
        pretrained_file: str,
        image_dims: Sequence[int] | None = None,
        mean: Array | None = None,
        input_scale: float | None = None,
        raw_scale: float | None = None,
        channel_swap: Sequence[int] | None = None,
    ) -> None:
        super().__init__(model_file, TEST, weights=pretrained_file)
        self.transformer = image_transformer(self, mean, input_scale, raw_scale, channel_swap)
        self.crop_dims = np.array(self.blobs[self.inputs[0]].shape[2:])
        self.image_dims: io.Dims = self.crop_dims if image_dims is None else image_dims

    def predict(self, inputs: Sequence[Array], oversample: bool = True) -> Array:
        """Scores of images (H × W × K each), one row an image.

        Args:
            inputs: the images, as :func:`pycaffe_dist.pycaffe.io.load_image` gives them.
            oversample: average over ten crops instead of taking the centre.
        """
        images = np.stack([io.resize_image(image, self.image_dims) for image in inputs])
        if oversample:
            images = io.oversample(images, self.crop_dims)
        else:
            y, x = ((np.array(self.image_dims) - self.crop_dims) // 2).tolist()
            images = images[:, y : y + self.crop_dims[0], x : x + self.crop_dims[1]]
        in_ = self.inputs[0]
        batch = np.stack([self.transformer.preprocess(in_, image) for image in images])
        predictions = self.forward_all(**{in_: batch})[self.outputs[0]]
        if not oversample:
            return predictions
        mean: Array = predictions.reshape(len(inputs), 10, -1).mean(axis=1)
        return mean


def image_transformer(
    net: Net,
    mean: Array | None = None,
    input_scale: float | None = None,
    raw_scale: float | None = None,
    channel_swap: Sequence[int] | None = None,
) -> io.Transformer:
    """The Transformer for images on their way to the first input of ``net``."""
    if not net.inputs:
        raise NetError("images need a net with an Input layer: the deploy.prototxt, most likely")
    in_ = net.inputs[0]
    transformer = io.Transformer({in_: net.blobs[in_].shape})
    transformer.set_transpose(in_, (2, 0, 1))
    if mean is not None:
        transformer.set_mean(in_, mean)
    if input_scale is not None:
        transformer.set_input_scale(in_, input_scale)
    if raw_scale is not None:
        transformer.set_raw_scale(in_, raw_scale)
    if channel_swap is not None:
        transformer.set_channel_swap(in_, channel_swap)
    return transformer
