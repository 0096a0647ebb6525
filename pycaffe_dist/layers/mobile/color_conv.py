"""ColorConv: BGR to Lab, for nets that give images colours."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register

BGR, LAB = 0, 3
# Of linear B, G, R, each row the share in X, Y, Z, over the white of D65.
TO_XYZ = (
    (0.180423 / 0.950456, 0.357580 / 0.950456, 0.412453 / 0.950456),
    (0.072169, 0.715160, 0.212671),
    (0.950227 / 1.088754, 0.119193 / 1.088754, 0.019334 / 1.088754),
)


@register("ColorConv")
class ColorConv(Layer):
    """Images (N, 3, H, W) of BGR from 0 to 255 (``input`` 0) as CIE Lab (``output`` 3): L from 0 to
    100, a and b around 0.  No gradient comes back.  No source of this layer is known; this is the
    conversion of sRGB under D65 that OpenCV makes of floats.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.color_conv_param
        self.check(
            (p.input, p.output) == (BGR, LAB),
            f"converts from BGR (0) to Lab (3) only, found {p.input} to {p.output}",
        )

    def reshape(self, bottom: Views, top: Views) -> None:
        shape = bottom[0].shape
        self.check(len(shape) > 1 and shape[1] == 3, f"needs 3 channels on axis 1, found {shape}")
        top[0].reshape(*shape)

    def forward(self, bottom: Views, top: Views) -> None:
        xp = self.xp
        given = bottom[0].data / self.dtype.type(255)
        curved = xp.power(xp.maximum(given + 0.055, 0) / 1.055, 2.4)
        linear = xp.where(given > 0.04045, curved, given / 12.92)
        x, y, z = (self._root(self._mixed(linear, row)) for row in TO_XYZ)
        lab = top[0].data
        lab[:, 0] = 116 * y - 16
        lab[:, 1] = 500 * (x - y)
        lab[:, 2] = 200 * (y - z)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.check(not propagate_down[0], "has no gradient; give it propagate_down: false")

    @staticmethod
    def _mixed(linear: Array, row: tuple[float, float, float]) -> Array:
        red, green, blue = row
        return linear[:, 0] * red + linear[:, 1] * green + linear[:, 2] * blue

    def _root(self, t: Array) -> Array:
        """CIE's f: the cube root, and a line near 0."""
        root = self.xp.power(self.xp.maximum(t, 0), 1 / 3)
        return self.xp.where(t > 0.008856, root, 7.787 * t + 16 / 116)
