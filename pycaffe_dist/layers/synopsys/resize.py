"""ResizeBilinear and ResizeNearestNeighbor: images of another size, as TensorFlow makes them."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, View, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.proto.caffe_pb2 import ResizeBilinearParameter, ResizeNearestNeighborParameter

HALF = np.float32(0.5)
AXES = {"NCHW": (2, 3), "NHWC": (1, 2)}  # of height and width


class Resize(Layer):
    """Along each of the two axes, y[i] = (1 − w)·x[first] + w·x[second], by ``taps``; a pixel that
    is asked for beyond the ends is that at the end, or 0 if ``fades``.

    The size is output_height × output_width, or scale_height and scale_width times the bottom's.
    ``data_format`` says where the channels are: NCHW or NHWC.
    ∂x = Aᵀ ∂y B, with the weights of an axis in a matrix (out, in).
    """

    fades = False

    def read(self, param: ResizeBilinearParameter | ResizeNearestNeighborParameter) -> None:
        self.param = param
        self.check(
            param.data_format in AXES,
            f"data_format must be one of {', '.join(AXES)}, found {param.data_format!r}",
        )
        self.axes = AXES[param.data_format]
        self.check(
            not (param.align_corners and param.half_pixel_centers),
            "takes either align_corners or half_pixel_centers, and both are given",
        )

    def taps(self, i: Array, size: int, scale: np.float32) -> tuple[Array, Array, Array]:
        """For pixels i of the top, two of the bottom's ``size``, and the weight of the second."""
        raise NotImplementedError

    def reshape(self, bottom: Views, top: Views) -> None:
        self.check(top[0].blob is not bottom[0].blob, "cannot work in place")
        self.check(len(bottom[0].shape) == 4, f"needs a bottom of 4 axes, found {bottom[0].shape}")
        shape = [*bottom[0].shape]
        for axis, side in zip(self.axes, ("height", "width"), strict=True):
            shape[axis] = self._size(bottom[0], axis, side)
        top[0].reshape(*shape)
        sizes = [(bottom[0].shape[axis], shape[axis]) for axis in self.axes]
        self.along = [(*s, *self._taps(*s)) for s in sizes]

    def _size(self, x: View, axis: int, side: str) -> int:
        if self.param.HasField(f"output_{side}"):
            size = int(getattr(self.param, f"output_{side}"))
        else:
            size = int(np.float32(x.shape[axis]) * np.float32(getattr(self.param, f"scale_{side}")))
        self.check(size > 0, f"the {side} of the top would be {size}; give output_{side}")
        return size

    def _taps(self, size: int, out: int) -> tuple[Array, Array, Array]:
        aligned = self.param.align_corners and out > 1
        scale = np.float32(size - aligned) / np.float32(out - aligned)
        first, second, weight = self.taps(np.arange(out, dtype=np.float32), size, scale)
        places = np.clip([first, second], 0, size - 1).astype(np.intp)
        weights = np.array([1 - weight, weight], self.dtype)
        if self.fades:
            weights[places != [first, second]] = 0
        return places[0], places[1], weights

    def forward(self, bottom: Views, top: Views) -> None:
        y = bottom[0].data
        for axis, (_, _, first, second, weights) in zip(self.axes, self.along, strict=True):
            low, high = (self.xp.take(y, self.xp.asarray(t), axis=axis) for t in (first, second))
            a, b = self.xp.asarray(weights.reshape(2, -1, *[1] * (3 - axis)))
            y = low * a + high * b
        top[0].data[...] = y

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if not propagate_down[0]:
            return
        g = top[0].diff
        for axis, (size, out, first, second, weights) in zip(self.axes, self.along, strict=True):
            matrix, rows = np.zeros((out, size), self.dtype), np.arange(out)
            np.add.at(matrix, (rows, first), weights[0])
            np.add.at(matrix, (rows, second), weights[1])
            spread = self.xp.moveaxis(g, axis, -1) @ self.xp.asarray(matrix)
            g = self.xp.moveaxis(spread, -1, axis)
        bottom[0].diff[...] = g

    def flops(self, bottom: Views, top: Views) -> int:
        return 6 * top[0].count


@register("ResizeBilinear")
class ResizeBilinear(Resize):
    """The weighted mean of the pixels beside p, on either axis: p = i·s for pixel i of the top,
    s = in/out.  With ``half_pixel_centers`` (or pytorch_half_pixel) p = (i + ½)·s − ½, with
    ``align_corners`` s = (in − 1)/(out − 1).  ∂x gets the same weights.

    The size is output_height × output_width, or scale_height and scale_width times the bottom's;
    ``data_format`` says where the channels are: NCHW or NHWC.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        self.read(self.layer_param.resize_bilinear_param)
        self.pytorch = self.layer_param.resize_bilinear_param.pytorch_half_pixel

    def taps(self, i: Array, size: int, scale: np.float32) -> tuple[Array, Array, Array]:
        p = i * scale
        if self.pytorch and len(i) == 1:
            p = -HALF + i
        elif self.param.half_pixel_centers or self.pytorch:
            p = (i + HALF) * scale - HALF
        low = np.floor(p)
        return low, np.ceil(p), p - low


@register("ResizeNearestNeighbor")
class ResizeNearestNeighbor(Resize):
    """Pixel ⌊i·s⌋ of the bottom for pixel i of the top, on either axis, s = in/out.

    With ``half_pixel_centers`` ⌊(i + ½)·s⌋, with ``align_corners`` i·s to the nearest,
    s = (in − 1)/(out − 1).  Size and ``data_format`` as those of ResizeBilinear.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        self.read(self.layer_param.resize_nearest_neighbor_param)

    def taps(self, i: Array, size: int, scale: np.float32) -> tuple[Array, Array, Array]:
        p = (i + HALF) * scale if self.param.half_pixel_centers else i * scale
        nearest = np.floor(p + HALF if self.param.align_corners else p)
        return nearest, nearest, np.zeros_like(p)
