"""DataAugmentation of FlowNet 2, as its deploy nets use it: images without their mean."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.blob import Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.without_gradient import WithoutGradient
from pycaffe_dist.proto.caffe_pb2 import TRAIN

# The parameters.
COUNT, PIXELS, CHANNELS = range(3)


@register("DataAugmentation")
class DataAugmentation(WithoutGradient):
    """y = x − m, m the mean of the batches so far: of each pixel, or without ``mean_per_pixel`` of
    each channel.

    Parameters, with ``recompute_mean`` R: the number of passes (1, 1, 1, 1), the mean image
    (1, C, H, W) and the mean of each channel (1, C, 1, 1); the first R passes of all, in TEST too,
    change them.  Without R only the first, and m is the three ``mean`` of the file, or 0.
    Random changes in TRAIN, and a crop, are not there yet.
    """

    on_host = True

    def setup(self, bottom: Views, top: Views) -> None:
        p, shape = self.layer_param.augmentation_param, bottom[0].shape
        self.check(len(shape) == 4, f"needs images (N, C, H, W), found {shape}")
        random = [f.name for f, _ in p.ListFields() if f.message_type and self._changes()]
        self.check(
            not random,
            f"changes images at random ({', '.join(random)}), which is not supported; it can be "
            "used in TEST without augment_during_test",
        )
        crop = (p.crop_height or shape[2], p.crop_width or shape[3])
        self.check(
            crop == shape[2:],
            f"crops {shape[2:]} to {crop}, which is not supported; give images of that size",
        )
        self.add_blob((1, 1, 1, 1))
        if p.recompute_mean:
            self.add_blob((1, *shape[1:]))
            self.add_blob((1, shape[1], 1, 1))
        elif p.mean:
            self.check(
                len(p.mean) == shape[1],
                f"{len(p.mean)} values of mean for {shape[1]} channels; give one for each",
            )
        # Nothing is taken of the mean image then: that of a file may be of any size.
        self.any_size = () if p.mean_per_pixel else (PIXELS,)
        self.remembers = self.follows_batches = bool(p.recompute_mean)
        specs = self.layer_param.param
        for i in range(len(self.blobs)):
            if len(specs) <= i:
                specs.add()
            specs[i].lr_mult = specs[i].decay_mult = 0

    def reshape(self, bottom: Views, top: Views) -> None:
        if len(self.blobs) > 1:
            image = self.blobs[PIXELS].shape[1:]
            self.check(
                bottom[0].shape[1:] == image, f"was set up for {image}, found {bottom[0].shape}"
            )
        top[0].reshape_like(bottom[0])

    def forward(self, bottom: Views, top: Views) -> None:
        p, x = self.layer_param.augmentation_param, bottom[0].data
        count = self.params[COUNT].change_data()
        count += 1
        if p.recompute_mean:
            passes = float(count.reshape(-1)[0])
            if passes <= p.recompute_mean:
                pixels = self.params[PIXELS].change_data()
                pixels *= (passes - 1) / passes
                pixels += x.mean(axis=0, keepdims=True) / passes
                self.params[CHANNELS].replace_data()[...] = pixels.mean(axis=(2, 3), keepdims=True)
            kind = PIXELS if p.mean_per_pixel else CHANNELS
            np.subtract(x, self.params[kind].data, out=top[0].data)
            return
        top[0].data[...] = x
        if p.mean and not p.mean_per_pixel:
            mean = np.array(list(p.mean), self.dtype)
            top[0].data[...] -= mean[:, None, None]

    def gives_gradient(self, index: int) -> bool:
        return False

    def _changes(self) -> bool:
        p = self.layer_param.augmentation_param
        return self.phase == TRAIN or p.augment_during_test
