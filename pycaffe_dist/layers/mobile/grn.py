"""GRN: global response normalisation."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.work import Working, planes


@register("GRN")
class GRN(Working):
    """y = x/n, n = √(Σ x² + bias) over the channels of each place;  ∂x = (∂y − y Σ y·∂y)/n.

    ``dummy_backward``: ∂x = ∂y.
    """

    def reshape(self, bottom: Views, top: Views) -> None:
        self.check(len(bottom[0].shape) > 1, f"needs a bottom (N, C, …), found {bottom[0].shape}")
        top[0].reshape_like(bottom[0])

    def forward(self, bottom: Views, top: Views) -> None:
        x, p = planes(bottom[0].data), self.layer_param.grn_param
        norm = self.work("norm", (x.shape[0], 1, x.shape[2]))
        squares = self.xp.einsum("nci,nci->ni", x, x)[:, None]
        self.xp.sqrt(squares + self.dtype.type(p.bias), out=norm)
        self.xp.divide(x, norm, out=planes(top[0].data))

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if not propagate_down[0]:
            return
        gy, gx, y = planes(top[0].diff), planes(bottom[0].diff), planes(top[0].data)
        if self.layer_param.grn_param.dummy_backward:
            gx[...] = gy
            return
        along = self.xp.einsum("nci,nci->ni", y, gy)[:, None]
        norm = self.work("norm", along.shape)
        gx[...] = (gy - y * along) / norm
