"""Element-wise functions that forks of Caffe added, each with its derivative."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.neuron import Neuron
from pycaffe_dist.layers.sigmoid import sigmoid


class Curve(Neuron):
    """y = f(x);  ∂x = ∂y·f′(x).  A subclass writes ``value``, f, and ``slope``, f′.

    In place, x is kept for the way back.
    """

    def value(self, x: Array) -> Array:
        raise NotImplementedError

    def slope(self, x: Array) -> Array:
        raise NotImplementedError

    def forward(self, bottom: Views, top: Views) -> None:
        x = bottom[0].data
        if top[0].blob is bottom[0].blob:
            self.work("input", x.shape)[...] = x
        top[0].data[...] = self.value(x)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            in_place = top[0].blob is bottom[0].blob
            x = self.work("input", bottom[0].shape) if in_place else bottom[0].data
            self.xp.multiply(top[0].diff, self.slope(x), out=bottom[0].diff)

    def flops(self, bottom: Views, top: Views) -> int:
        return 4 * top[0].count

    # -- help for subclasses -----------------------------------------------------------------

    def sigmoid(self, x: Array) -> Array:
        gate = self.xp.empty_like(x)
        sigmoid(self.xp, x, self.dtype.type(1), out=gate)
        return gate

    def softplus(self, x: Array) -> Array:
        return self.xp.logaddexp(x, self.dtype.type(0))

    def between(self, x: Array, least: float, most: float) -> Array:
        """Where least < x < most."""
        return (x > least) & (x < most)


@register("Mish")
class Mish(Curve):
    """y = x·t, t = tanh(log(1 + eˣ));  ∂x = ∂y·(t + x·(1 − t²)·σ(x))."""

    def value(self, x: Array) -> Array:
        return x * self.xp.tanh(self.softplus(x))

    def slope(self, x: Array) -> Array:
        t = self.xp.tanh(self.softplus(x))
        return t + x * (1 - t * t) * self.sigmoid(x)


@register("HardSigmoid")
class HardSigmoid(Curve):
    """y = αx + β, cut off to [0, 1];  ∂x = α·∂y where y is strictly between."""

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.hard_sigmoid_param
        self.alpha, self.beta = self.dtype.type(p.alpha), self.dtype.type(p.beta)

    def value(self, x: Array) -> Array:
        return self.xp.minimum(self.xp.maximum(self.alpha * x + self.beta, 0), 1)

    def slope(self, x: Array) -> Array:
        return self.alpha * self.between(self.alpha * x + self.beta, 0, 1)


@register("HardSwish")
class HardSwish(Curve):
    """y = x·h, h = x/6 + 1/2 cut off to [0, 1];  ∂x = ∂y·(h + x/6 where h is strictly between)."""

    def value(self, x: Array) -> Array:
        return x * self._gate(x)

    def slope(self, x: Array) -> Array:
        return self._gate(x) + x * self.between(x, -3, 3) / self.dtype.type(6)

    def _gate(self, x: Array) -> Array:
        return self.xp.minimum(self.xp.maximum(x + 3, 0), 6) / self.dtype.type(6)


@register("SeLU", "SeLu")
class SeLU(Curve):
    """y = λ·(max(0, x) + α·(e^min(0, x) − 1));  ∂x = λ·∂y where x > 0, λ·α·eˣ·∂y elsewhere."""

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.selu_param
        self.alpha, self.scale = self.dtype.type(p.alpha), self.dtype.type(getattr(p, "lambda"))

    def value(self, x: Array) -> Array:
        below = self.alpha * (self._power(x) - 1)
        return self.scale * (self.xp.maximum(x, 0) + below)

    def slope(self, x: Array) -> Array:
        return self.scale * self.slopes(x, self.alpha * self._power(x))

    def _power(self, x: Array) -> Array:
        return self.xp.exp(self.xp.minimum(x, 0))


@register("Softplus")
class Softplus(Curve):
    """y = log(1 + eˣ);  ∂x = ∂y·σ(x)."""

    def value(self, x: Array) -> Array:
        return self.softplus(x)

    def slope(self, x: Array) -> Array:
        return self.sigmoid(x)


@register("Softsign")
class Softsign(Curve):
    """y = x / (1 + |x|);  ∂x = ∂y / (1 + |x|)²."""

    def value(self, x: Array) -> Array:
        return x / (1 + abs(x))

    def slope(self, x: Array) -> Array:
        return 1 / self.xp.square(1 + abs(x))


@register("ScaledTanH")
class ScaledTanH(Curve):
    """y = α·tanh(βx);  ∂x = ∂y·αβ·(1 − tanh²(βx))."""

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.scaled_tanh_param
        self.alpha, self.beta = self.dtype.type(p.alpha), self.dtype.type(p.beta)

    def value(self, x: Array) -> Array:
        return self.alpha * self.xp.tanh(self.beta * x)

    def slope(self, x: Array) -> Array:
        return self.alpha * self.beta * (1 - self.xp.square(self.xp.tanh(self.beta * x)))


@register("Cosine")
class Cosine(Curve):
    """y = cos x;  ∂x = −∂y·sin x."""

    def value(self, x: Array) -> Array:
        return self.xp.cos(x)

    def slope(self, x: Array) -> Array:
        return -self.xp.sin(x)
