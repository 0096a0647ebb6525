"""MarginInnerProduct (A-softmax) and LargeMarginInnerProduct (L-softmax): a margin of angles.

θ is the angle between x and the weights w of its label.  In place of |x||w| cos θ the label's score
is |x||w| ψ(θ), ψ(θ) = (−1)ᵏ cos mθ − 2k for θ in [kπ/m, (k + 1)π/m], m = 1 to 4; λ mixes the two.
"""

from __future__ import annotations

from pycaffe_dist.aliases import Array, ArrayModule
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.counted import Counted
from pycaffe_dist.layers.loss import class_numbers
from pycaffe_dist.proto.caffe_pb2 import (
    LargeMarginInnerProductParameter,
    MarginInnerProductParameter,
)

TIMES = {"SINGLE": 1, "DOUBLE": 2, "TRIPLE": 3, "QUADRUPLE": 4}
TINY = 1e-9


def margin(xp: ArrayModule, m: int, c: Array) -> tuple[Array, Array, Array]:
    """Of c = cos θ: ψ, its derivative ψ′ by c, and cψ′ − ψ."""
    s = xp.sign(c)
    if m == 2:
        return 2 * s * c**2 - 1, 4 * s * c, 2 * s * c**2 + 1
    if m == 3:
        s1 = xp.sign(abs(c) - 0.5)
        s2 = s * (1 + s1) - 2
        return s1 * (4 * c**3 - 3 * c) + s2, s1 * (12 * c**2 - 3), 8 * s1 * c**3 - s2
    s3 = s * xp.sign(2 * c**2 - 1)
    s4 = 2 * s + s3 - 3
    psi = s3 * (8 * c**4 - 8 * c**2 + 1) + s4
    return psi, s3 * (32 * c**3 - 16 * c), s3 * (24 * c**4 - 8 * c**2 - 1) - s4


class AngularProduct(Counted):
    """y = x Wᵀ, at the label (|x||w| ψ(θ) + λ xw)/(1 + λ).

    λ = max(base·(1 + gamma·i)^−power, lambda_min), i is ``iteration`` plus the forward passes so
    far.  Tops: y and, if wanted, λ: (1,).
    """

    bottoms = 2
    tops = (1, 2)
    label_bottoms = (1,)

    def read(
        self,
        param: MarginInnerProductParameter | LargeMarginInnerProductParameter,
        name: str,
        bottom: Views,
    ) -> None:
        """``name`` is that of the parameter's ``type``."""
        self.param = param
        self.outputs = param.num_output
        self.start(param.iteration)
        self.check(name in TIMES, f"type must be one of {', '.join(TIMES)}, found {name}")
        self.times = TIMES[name]
        self.axis = bottom[0].axis(param.axis)
        self.inputs = bottom[0].count_from(self.axis)
        self.add_blob((self.outputs, self.inputs), param.weight_filler)
        self.mix = 0.0

    def reshape(self, bottom: Views, top: Views) -> None:
        inputs, items = bottom[0].count_from(self.axis), bottom[0].count_from(0, self.axis)
        self.check(
            inputs == self.inputs,
            f"its weights are for {self.inputs} inputs, the bottom {bottom[0].shape} has {inputs}",
        )
        self.check(
            bottom[1].count == items,
            f"needs {items} labels, one for each item, found the shape {bottom[1].shape}",
        )
        top[0].reshape(*bottom[0].shape[: self.axis], self.outputs)
        for view in top[1:]:
            view.reshape(1)

    def forward(self, bottom: Views, top: Views) -> None:
        p, xp = self.param, self.xp
        self.iteration += 1
        self.mix = max(p.base * (1 + p.gamma * self.iteration) ** -p.power, p.lambda_min)
        for view in top[1:]:
            view.data[...] = self.mix
        y = top[0].data.reshape(-1, self.outputs)
        xp.matmul(self._x(bottom), self.params[0].data.T, out=y)
        if self.times > 1:
            at = self._labelled(bottom)
            x_norm, w_norm, cosine = self._angles(bottom, at)
            psi, _, _ = margin(xp, self.times, cosine)
            y[at] = (x_norm * w_norm * psi + self.mix * y[at]) / (1 + self.mix)

    def flops(self, bottom: Views, top: Views) -> int:
        return int(2 * top[0].count * self.inputs)

    # -- help for backward ---------------------------------------------------------------------

    def _x(self, bottom: Views) -> Array:
        return bottom[0].data.reshape(-1, self.inputs)

    def _labelled(self, bottom: Views) -> tuple[Array, Array]:
        """Where y has the labels' own scores."""
        items = bottom[1].count
        labels, _ = class_numbers(self, bottom[1], (items, self.outputs, 1))
        return self.xp.arange(items), labels.reshape(-1)

    def _angles(self, bottom: Views, at: tuple[Array, Array]) -> tuple[Array, Array, Array]:
        """|x|, |w| and cos θ for each item and the weights of its label."""
        x, w, xp = self._x(bottom), self.params[0].data[at[1]], self.xp
        x_norm, w_norm = (xp.sqrt(xp.einsum("mk,mk->m", a, a)) for a in (x, w))
        return x_norm, w_norm, xp.einsum("mk,mk->m", x, w) / (x_norm * w_norm + TINY)


@register("MarginInnerProduct")
class MarginInnerProduct(AngularProduct):
    """A-softmax of SphereFace: y = x Wᵀ with rows of W of length 1, at the label
    (|x| ψ(θ) + λ xw)/(1 + λ).  Every forward pass **scales the rows of W to length 1**.

    ``type`` SINGLE, DOUBLE, TRIPLE, QUADRUPLE: m = 1 to 4;  λ = max(base·(1 + gamma·i)^−power,
    lambda_min), i counts the forward passes from ``iteration`` on.  Tops: y, and λ if wanted.

    Not the true gradient: ∂W = ∂yᵀ x, and the label's share of ∂x, a·w + b·x, has a and b scaled
    to a² + b² = 1.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.margin_inner_product_param
        self.read(p, MarginInnerProductParameter.MarginType.Name(p.type), bottom)

    def forward(self, bottom: Views, top: Views) -> None:
        w = self.params[0].change_data()
        w /= self.xp.sqrt(self.xp.einsum("nk,nk->n", w, w))[:, None]
        super().forward(bottom, top)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.check(not propagate_down[1], "cannot give its labels a gradient")
        gy, x, w = top[0].diff.reshape(-1, self.outputs), self._x(bottom), self.params[0].data
        if self.param_propagate_down[0]:
            self.params[0].diff[...] += gy.T @ x
        if not propagate_down[0]:
            return
        gx = bottom[0].diff.reshape(-1, self.inputs)
        self.xp.matmul(gy, w, out=gx)
        if self.times > 1:
            at = self._labelled(bottom)
            x_norm, _, cosine = self._angles(bottom, at)
            _, a, b = margin(self.xp, self.times, cosine)
            b = -b / x_norm
            length = self.xp.sqrt(a * a + b * b)
            share = gy[at] / (1 + self.mix)
            gx += (share * (a / length - 1))[:, None] * w[at[1]]
            gx += (share * (b / length))[:, None] * x


@register("LargeMarginInnerProduct")
class LargeMarginInnerProduct(AngularProduct):
    """L-softmax: y = x Wᵀ, the label's own score with ψ(θ): (|x||w| ψ(θ) + λ xw)/(1 + λ).

    ``type``, λ and the tops as those of MarginInnerProduct; W stays as it is.
    ∂x at the label: ψ′ w − (|w|/|x|)(cos θ ψ′ − ψ) x, and ∂w with x and w exchanged.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.largemargin_inner_product_param
        self.read(p, LargeMarginInnerProductParameter.LargeMarginType.Name(p.type), bottom)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.check(not propagate_down[1], "cannot give its labels a gradient")
        gy, x, w = top[0].diff.reshape(-1, self.outputs), self._x(bottom), self.params[0].data
        gw, gx = self.params[0].diff, bottom[0].diff.reshape(-1, self.inputs)
        if self.param_propagate_down[0]:
            gw += gy.T @ x
        if propagate_down[0]:
            self.xp.matmul(gy, w, out=gx)
        if self.times == 1:
            return
        at = self._labelled(bottom)
        x_norm, w_norm, cosine = self._angles(bottom, at)
        _, a, b = margin(self.xp, self.times, cosine)
        share, own = gy[at] / (1 + self.mix), w[at[1]]
        if self.param_propagate_down[0]:
            ratio = x_norm / (w_norm + TINY)
            change = (share * (a - 1))[:, None] * x - (share * b * ratio)[:, None] * own
            self.xp.add.at(gw, at[1], change)
        if propagate_down[0]:
            ratio = w_norm / (x_norm + TINY)
            gx += (share * (a - 1))[:, None] * own - (share * b * ratio)[:, None] * x
