"""InnerProduct with happynear's ``normalize``."""

from __future__ import annotations

from pycaffe_dist.blob import Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.inner_product import InnerProduct

EPS = 1e-6


@register(
    "InnerProduct",
    dialect="happynear",
    when=lambda p: p.inner_product_param.normalize,
    why="inner_product_param has normalize",
)
class NormalizedInnerProduct(InnerProduct):
    """y = x Wᵀ + b.  Every forward pass **scales the rows of W to length 1** first; the gradients
    are those of the plain product.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        self.check(not self.transpose, "takes either normalize or transpose, and both are given")

    def forward(self, bottom: Views, top: Views) -> None:
        w = self.params[0].change_data()
        w /= self.xp.sqrt(self.xp.einsum("nk,nk->n", w, w) + self.dtype.type(EPS))[:, None]
        super().forward(bottom, top)
