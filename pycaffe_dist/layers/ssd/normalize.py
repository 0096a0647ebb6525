"""Normalize of three forks: vectors brought to length 1, and perhaps scaled again."""

from __future__ import annotations

from math import prod

from pycaffe_dist.aliases import Array, Number
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.proto.caffe_pb2 import FillerParameter, LayerParameter


@register("Normalize", dialect="ssd", why="norm_param or nothing is given")
class Normalize(Layer):
    """y = s·x/n,  n = √(Σ x² + eps) over an item (``across_spatial``) or over the channels only.

    The learnt scale s is one number (``channel_shared``) or one for each channel.
    ∂s = Σ y·∂y / s;  ∂x = s·(∂y − x·Σ(x·∂y)/n²)/n with the same sums: as SSD has it, which is the
    derivative only where all scales are equal.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.norm_param
        self.check(len(bottom[0].shape) >= 2, f"takes two axes or more, found {bottom[0].shape}")
        shape = () if p.channel_shared else (bottom[0].shape[1],)
        given = p.HasField("scale_filler")
        self.add_blob(shape, p.scale_filler if given else FillerParameter(value=1))

    def reshape(self, bottom: Views, top: Views) -> None:
        x = bottom[0].shape
        scale = self.blobs[0].shape
        self.check(scale in ((), x[1:2]), f"has {scale} scales, the bottom has the shape {x}")
        top[0].reshape(*x)
        self.folded = x[0], x[1], prod(x[2:])

    def forward(self, bottom: Views, top: Views) -> None:
        x = bottom[0].data.reshape(self.folded)
        self.norm = self.xp.sqrt(self._sum(x * x) + self.dtype.type(self._eps))
        self.xp.multiply(x / self.norm, self._scale(), out=top[0].data.reshape(self.folded))

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        x, dy = bottom[0].data.reshape(self.folded), top[0].diff.reshape(self.folded)
        if self.param_propagate_down[0]:
            shared = self.blobs[0].shape == ()
            products = x / self.norm * dy
            self.params[0].diff[...] += products.sum() if shared else products.sum((0, 2))
        if propagate_down[0]:
            along = self._sum(x * dy) / (self.norm * self.norm)
            dx = (dy - x * along) / self.norm * self._scale()
            bottom[0].diff[...] = dx.reshape(bottom[0].shape)

    @property
    def _eps(self) -> float:
        return self.layer_param.norm_param.eps

    def _sum(self, values: Array) -> Array:
        axes = (1, 2) if self.layer_param.norm_param.across_spatial else 1
        return values.sum(axes, keepdims=True)

    def _scale(self) -> Number:
        scale = self.params[0].data
        return scale if scale.ndim == 0 else scale[:, None]


def _is_face(p: LayerParameter) -> bool:
    return p.HasField("normalize_param") or len(p.top) == 2


@register("Normalize", dialect="happynear", when=_is_face, why="it has normalize_param or two tops")
class FaceNormalize(Layer):
    """y = x/n over the channels at each place; the top has four axes.  A second top is n.

    L2: n = √(Σ x² + 1e-6),  ∂x = (∂y − y·Σ y·∂y)/n;  L1: n = Σ|x| + 1e-6,
    ∂x = (∂y − sign(x)·Σ y·∂y)/n.  With ``bp_norm`` ∂n·y or ∂n·sign(x) is added.  ``fix_gradient``
    is read, and changes nothing there either.
    """

    tops = (1, 2)

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.normalize_param
        self.check(
            p.normalize_type in ("L1", "L2"),
            f'normalize_type is "L1" or "L2", found "{p.normalize_type}"',
        )
        self.l2 = p.normalize_type == "L2"

    def reshape(self, bottom: Views, top: Views) -> None:
        x = bottom[0].shape
        self.check(2 <= len(x) <= 4, f"takes two to four axes, found {x}")
        n, channels, h, w = (*x, 1, 1)[:4]
        top[0].reshape(n, channels, h, w)
        for view in top[1:]:
            view.reshape(n, 1, h, w)

    def forward(self, bottom: Views, top: Views) -> None:
        xp, x = self.xp, bottom[0].data.reshape(top[0].shape)
        eps = self.dtype.type(1e-6)
        if self.l2:
            self.norm = xp.sqrt((x * x).sum(1, keepdims=True) + eps)
        else:
            self.norm = abs(x).sum(1, keepdims=True) + eps
        xp.divide(x, self.norm, out=top[0].data)
        for view in top[1:]:
            view.data[...] = self.norm

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if not propagate_down[0]:
            return
        xp, dy = self.xp, top[0].diff
        y = bottom[0].data.reshape(dy.shape) / self.norm
        slope = y if self.l2 else xp.sign(y)
        dx = (dy - slope * (y * dy).sum(1, keepdims=True)) / self.norm
        if self.layer_param.normalize_param.bp_norm and len(top) > 1:
            dx += top[1].diff * slope
        bottom[0].diff[...] = dx.reshape(bottom[0].shape)


@register("Normalize", dialect="mpi", when=lambda p: False)
class PlainNormalize(Normalize):
    """y = x/√(Σ x²) over an item, with nothing to learn; only read so under its dialect."""

    _eps = 0.0

    def setup(self, bottom: Views, top: Views) -> None:
        self.check(len(bottom[0].shape) >= 2, f"takes two axes or more, found {bottom[0].shape}")

    def reshape(self, bottom: Views, top: Views) -> None:
        x = bottom[0].shape
        top[0].reshape(*x)
        self.folded = x[0], x[1], prod(x[2:])

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.param_propagate_down = [False]
        super().backward(top, propagate_down, bottom)

    def _scale(self) -> Number:
        return 1
