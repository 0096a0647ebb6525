"""YoloSeg and SegmentationEvaluate: masks beside the boxes of a YOLO net."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.data.scaling import resize_by
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.loss import Loss
from pycaffe_dist.layers.yolo.detection_output import sigmoid
from pycaffe_dist.proto.caffe_pb2 import ResizeParameter


@register("YoloSeg")
class YoloSeg(Loss):
    """y = Σ δ²/N, ∂x = δ·weight/N, with δ = object_scale·(σ(x) − label).

    x and the labels have the same number of values; further bottoms are not looked at.
    """

    bottoms = (2, 3)
    on_host = True
    label_bottoms = (1, 2)

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        self.check(
            bottom[0].count == bottom[1].count,
            f"needs a label for each value, found {bottom[0].shape} and {bottom[1].shape}",
        )

    def forward(self, bottom: Views, top: Views) -> None:
        x = bottom[0].data
        scale = self.layer_param.yolo_seg_param.object_scale
        self.delta = scale * (sigmoid(x) - bottom[1].data.reshape(x.shape))
        top[0].data[...] = np.square(self.delta).sum() / len(x)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.refuse_label_gradient(propagate_down)
        if propagate_down[0]:
            bottom[0].diff[...] = self.delta * self.scaled_weight(top, bottom[0].shape[0])


@register("SegmentationEvaluate")
class SegmentationEvaluate(Layer):
    """Intersection over union of the pixels above ``threshold``, of each channel: (1, 1, 1, C).

    Bottoms: masks (N, C, h, w) from 0 to 1 and the truth (N, C, H, W).  Masks of another size are
    resized to the truth's, as 8-bit images, by OpenCV's INTER_AREA.
    """

    bottoms = 2
    on_host = True
    label_bottoms = (1,)

    def reshape(self, bottom: Views, top: Views) -> None:
        masks, truth = (view.shape for view in bottom)
        self.check(
            len(masks) == len(truth) == 4 and masks[:2] == truth[:2],
            f"needs masks and a truth of the same channels, found {masks} and {truth}",
        )
        top[0].reshape(1, 1, 1, truth[1])

    def forward(self, bottom: Views, top: Views) -> None:
        threshold = self.layer_param.segmentation_evaluate_param.threshold
        masks, truth = bottom[0].data, bottom[1].data > threshold
        found = masks > threshold
        if masks.shape != truth.shape:
            bytes_ = (masks * 255).clip(0, 255).astype(np.uint8)
            height, width = truth.shape[2:]
            images = [
                resize_by(m.transpose(1, 2, 0), height, width, ResizeParameter.AREA) for m in bytes_
            ]
            found = np.stack(images).transpose(0, 3, 1, 2) > int(threshold * 255)
        common = (found & truth).sum((0, 2, 3))
        union = (found | truth).sum((0, 2, 3))
        top[0].data[...] = common / np.maximum(union, 1)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.check(not any(propagate_down), "has no gradient, but one is asked of it")

    def flops(self, bottom: Views, top: Views) -> int:
        return 4 * bottom[1].count
