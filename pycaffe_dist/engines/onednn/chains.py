"""The chains of this engine, each kind with its arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Blob, View, Views
from pycaffe_dist.engines.chains import Chain, Chainable, Link
from pycaffe_dist.engines.onednn.core.arithmetic import SUM
from pycaffe_dist.engines.onednn.core.started import PostOp
from pycaffe_dist.engines.onednn.layers.batch_norm import BatchNorm
from pycaffe_dist.engines.onednn.layers.convolution import Addend, Convolution
from pycaffe_dist.engines.onednn.layers.eltwise import Eltwise
from pycaffe_dist.engines.onednn.layers.neurons import ReLU
from pycaffe_dist.engines.onednn.layers.scale import Scale

RELU = 0x20  # the algorithm


class Rectified(Chain):
    """A layer whose primitive does the ReLU behind it; the ReLU's gradient needs only the top."""

    replays = True

    def __init__(self, links: list[Link]) -> None:
        super().__init__(links)
        self._first = links[0].layer
        self._post_ops = (relu_op(links[1].layer),)

    def forward(self, layer: Chainable) -> bool:
        if layer is self._first:
            self.fused = self.active and layer.fast
            self.links[0].layer.post_ops = self._post_ops if self.fused else ()
            return False
        return self.active and self.fused

    def backward(self, layer: Chainable) -> bool:
        return False


class Normalised(Chain):
    """BatchNorm, a Scale or none, a ReLU or none: one normalisation.

    Its backward pass leaves the top's gradient as it is, where one by one the layers would bring
    it down to the BatchNorm.
    """

    def __init__(self, links: list[Link], backward_fused: bool) -> None:
        super().__init__(links)
        self._scales = [link for link in links if isinstance(link.layer, Scale)]
        self._relu = isinstance(links[-1].layer, ReLU)
        self.backward_fused = backward_fused

    def run_forward(self) -> None:
        x, y = self.links[0].bottom[0].data_value, self.links[-1].top[0].data_value
        self._norm.normalise(x, y, self._operands(), self._relu)

    def run_backward(self) -> None:
        below, above = self.links[0].bottom[0], self.links[-1].top[0]
        values = below.data_value, above.diff_value, below.diff_value
        gradients = self._norm.propagate(*values, self._operands())
        for link in self._scales:
            link.layer.add_gradients(gradients, (True,), link.bottom)

    def part(self) -> None:
        self._norm.stand_alone()
        for link in self._scales:
            room = link.layer.keep(link.bottom[0].data_value, self._norm.layout)
            self._norm.renormalise(self.links[0].bottom[0].data_value, room)

    @property
    def _norm(self) -> BatchNorm:
        layer: BatchNorm = self.links[0].layer
        return layer

    def _operands(self) -> list[Array]:
        return [
            operand.data_value.read()
            for link in self._scales
            for operand in link.layer.operands(link.bottom)
        ]


class Folding:
    """Convolution, BatchNorm with stored statistics, a Scale or none, as one convolution's params.

    With γ and β of the Scale and f = γ / √(σ² + eps), the weights are f·W and the bias is
    f·(b − μ) + β.
    """

    def __init__(self, layers: Sequence[Any]) -> None:
        self._layers = layers
        weights = layers[0].params[0]
        blobs = Blob(weights.shape, weights.dtype), Blob(weights.shape[:1], weights.dtype)
        self._params = [View(blob, weights.home) for blob in blobs]
        self._version: list[tuple[int, int]] = []

    def params(self) -> Views:
        """Weights and bias, computed anew if any of the parameters has changed."""
        values = [p.blob.data_value for layer in self._layers for p in layer.params]
        version = [(id(value), value.version) for value in values]
        if version != self._version:
            self._version = version
            self._fold(*self._layers)
        return self._params

    def _fold(self, convolution: Convolution, norm: BatchNorm, scale: Scale | None = None) -> None:
        weights, *bias = (p.data for p in convolution.params)
        mean, factor = norm.stored_factor()
        shift = -mean + (bias[0] if bias else 0)
        if scale is not None:
            factor = factor * scale.params[0].data
        shift = shift * factor
        if scale is not None and scale.bias_term:
            shift = shift + scale.params[1].data
        folded, bias_blob = (view.blob for view in self._params)
        outputs = weights.shape[0]
        rows = folded.data.reshape(outputs, -1)
        rows[...] = weights.reshape(outputs, -1)
        rows *= factor[:, None]
        bias_blob.data[...] = shift


class Folded(Chain):
    """What a Folding takes, and a ReLU or none behind it: one convolution."""

    backward_fused = False
    replays = True

    def __init__(self, links: list[Link]) -> None:
        super().__init__(links)
        layers = [link.layer for link in links]
        self._post_ops = tuple(relu_op(layer) for layer in layers if isinstance(layer, ReLU))
        self.folding = Folding(layers[: len(layers) - len(self._post_ops)])

    def run_forward(self) -> None:
        x, y = self.links[0].bottom[0].data_value, self.links[-1].top[0].data_value
        self.links[0].layer.fast_gather(x, y, self.folding.params(), self._post_ops)

    def part(self) -> None:
        self._run_each()


class Summed(Chain):
    """A convolution, or what a Folding takes; the Eltwise that adds its top to ``other``; a ReLU.

    The convolution adds to what its top's memory holds.  That is the other's own memory if nobody
    reads it, now or afterwards, else a copy.

    Args:
        links: of the convolution, what is folded into it, the Eltwise and the ReLU.
        other: the Eltwise's other bottom.
        later: blobs that are read behind the Eltwise.
    """

    backward_fused = False
    replays = True

    def __init__(self, links: list[Link], other: Blob, later: Sequence[Blob]) -> None:
        super().__init__(links)
        self._other, self._later = other, later
        layers = [link.layer for link in links]
        at = next(i for i, layer in enumerate(layers) if isinstance(layer, Eltwise))
        self._folding = Folding(layers[:at]) if at > 1 else None
        self._post_ops = (SUM, *(relu_op(layer) for layer in layers[at + 1 :]))

    def run_forward(self) -> None:
        x, y = self.links[0].bottom[0].data_value, self.links[-1].top[0].data_value
        convolution: Convolution = self.links[0].layer
        params = self._folding.params() if self._folding else convolution.params
        other = self._other.data_value
        last = x is not other and all(blob.data_value is not other for blob in self._later)
        convolution.fast_gather(x, y, params, self._post_ops, Addend(other, last))

    def part(self) -> None:
        self._run_each()


def relu_op(layer: ReLU) -> PostOp:
    return ("eltwise", RELU, float(layer.slope), 0.0)
