"""Layers of a built net that are computed together: one pass over memory instead of several.

A chain is a layer and those behind it that change its top in place, so that all blobs are right
when the chain has run.  Its work is done where the net reaches its end: forward at the turn of its
last layer, when the parameters of all have arrived, backward at that same layer's turn.  In passes
that end within it, or that somebody watches layer by layer, each layer works alone.

Where inner blobs are given back, so that nobody can look at them, a BatchNorm need not be in place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pycaffe_dist.blob import Blob, View, Views
from pycaffe_dist.engines.base import Fusions
from pycaffe_dist.engines.onednn.core.accelerated import Accelerated
from pycaffe_dist.engines.onednn.layers.batch_norm import BatchNorm
from pycaffe_dist.engines.onednn.layers.convolution import Convolution
from pycaffe_dist.engines.onednn.layers.eltwise import Eltwise
from pycaffe_dist.engines.onednn.layers.inner_product import InnerProduct
from pycaffe_dist.engines.onednn.layers.neurons import ReLU
from pycaffe_dist.engines.onednn.layers.scale import Scale
from pycaffe_dist.proto.caffe_pb2 import TEST

RELU = 0x20  # the algorithm


@dataclass
class Link:
    """A layer of a net with what it is connected to."""

    index: int
    layer: Any
    bottom: Views
    top: Views


class Chain:
    """Some layers in a row.

    Attributes:
        active: whether they may be computed together in the pass under way.
        fused: whether they were, in the last forward pass.
        backward_fused: whether their backward pass is one, too; else they part before it.
    """

    backward_fused = True

    def __init__(self, links: list[Link]) -> None:
        self.links = links
        self.active = self.fused = False
        self._last = links[-1].layer
        for link in links:
            link.layer.chain = self

    def forward(self, layer: Accelerated) -> bool:
        """A layer's turn: whether there is nothing left for it to do."""
        if not self.active:
            if self.fused and layer is not self.links[0].layer:
                self.part()
            self.fused = False
            return False
        if layer is self._last:
            self.fused = all(link.layer.fast for link in self.links)
            if self.fused:
                self.run_forward()
            else:
                self._run_each()
        return True

    def backward(self, layer: Accelerated) -> bool:
        """A layer's turn: whether there is nothing left for it to do."""
        if self.fused and not (self.active and self.backward_fused):
            self.fused = False
            self.part()
        if self.fused and layer is self._last:
            self.run_backward()
        return self.fused

    def run_forward(self) -> None:
        raise NotImplementedError

    def run_backward(self) -> None:
        raise NotImplementedError

    def part(self) -> None:
        """Give each layer what its own backward pass needs, after a forward pass together."""
        raise NotImplementedError

    def _run_each(self) -> None:
        for link in self.links:
            link.layer.forward_alone(link.bottom, link.top)


class Rectified(Chain):
    """A layer whose primitive does the ReLU behind it; the ReLU's gradient needs only the top."""

    def __init__(self, links: list[Link]) -> None:
        super().__init__(links)
        self._first = links[0].layer
        self._post_ops = (relu_op(links[1].layer),)

    def forward(self, layer: Accelerated) -> bool:
        if layer is self._first:
            self.fused = self.active and layer.fast
            self.links[0].layer.post_ops = self._post_ops if self.fused else ()
            return False
        return self.active and self.fused

    def backward(self, layer: Accelerated) -> bool:
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

    def _operands(self) -> list[Any]:
        return [
            operand.data_value.read()
            for link in self._scales
            for operand in link.layer.operands(link.bottom)
        ]


class Folded(Chain):
    """Convolution, BatchNorm with stored statistics, a Scale or none, a ReLU or none.

    With γ and β of the Scale and f = γ / √(σ² + eps), a convolution with the weights f·W and the
    bias f·(b − μ) + β.
    """

    backward_fused = False

    def __init__(self, links: list[Link]) -> None:
        super().__init__(links)
        self._convolution: Convolution = links[0].layer
        self._norm: BatchNorm = links[1].layer
        rest = [link.layer for link in links[2:]]
        self._scale = next((layer for layer in rest if isinstance(layer, Scale)), None)
        self._post_ops = tuple(relu_op(layer) for layer in rest if isinstance(layer, ReLU))
        self._version: list[tuple[int, int]] = []
        weights = self._convolution.params[0]
        blobs = Blob(weights.shape, weights.dtype), Blob(weights.shape[:1], weights.dtype)
        self._params = [View(blob, weights.home) for blob in blobs]

    def run_forward(self) -> None:
        self._fold()
        x, y = self.links[0].bottom[0].data_value, self.links[-1].top[0].data_value
        self._convolution.fast_gather(x, y, self._params, self._post_ops)

    def part(self) -> None:
        self._run_each()

    def _fold(self) -> None:
        """Compute weights and bias anew if any of the parameters has changed."""
        values = [p.blob.data_value for link in self.links for p in link.layer.params]
        version = [(id(value), value.version) for value in values]
        if version == self._version:
            return
        self._version = version
        weights, *bias = (p.data for p in self._convolution.params)
        mean, factor = self._norm.stored_factor()
        shift = -mean + (bias[0] if bias else 0)
        if self._scale is not None:
            factor = factor * self._scale.params[0].data
        shift = shift * factor
        if self._scale is not None and self._scale.bias_term:
            shift = shift + self._scale.params[1].data
        folded, bias_blob = (view.blob for view in self._params)
        outputs = weights.shape[0]
        rows = folded.data.reshape(outputs, -1)
        rows[...] = weights.reshape(outputs, -1)
        rows *= factor[:, None]
        bias_blob.data[...] = shift


class Chains(Fusions):
    """The chains of a net, and whether the pass under way may use them."""

    def __init__(self, chains: list[Chain]) -> None:
        self.chains = chains
        self._last = {link.index: chain.links[-1].index for chain in chains for link in chain.links}

    def during(self, first: int, last: int, watched: bool) -> Chains:
        for chain in self.chains:
            links = chain.links
            chain.active = not watched and first <= links[0].index and links[-1].index <= last
        return self

    def last(self, layer: int) -> int:
        return self._last.get(layer, layer)

    def __exit__(self, *_: object) -> None:
        for chain in self.chains:
            chain.active = False


def find(net: Any) -> Chains:
    """Look for chains in a net, and tell its layers what they need not keep."""
    links = [
        Link(i, *parts)
        for i, parts in enumerate(zip(net.layers, net.bottoms, net.tops, strict=True))
    ]
    for link in links:
        if isinstance(link.layer, Accelerated):
            link.layer.needs_backward = net.layer_need_backward[link.index]
            link.layer.chain = None
    chains: list[Chain] = []
    for link in links:
        if isinstance(link.layer, Accelerated) and link.layer.chain is None:
            chain = _begin(net, link, list(_behind(link, links, _hidden(net))))
            if chain is not None:
                chains.append(chain)
    return Chains(chains)


def _hidden(net: Any) -> bool:
    """Whether inner blobs are given back when they are done with."""
    return net.recycling is not None


def _behind(link: Link, links: list[Link], hidden: bool) -> Iterator[Link]:
    """The layers that change this one's only top, in their order."""
    if len(link.top) != 1:
        return
    blob = link.top[0].blob
    for other in links[link.index + 1 :]:
        if any(view.blob is blob for view in other.bottom):
            single = len(other.bottom) == len(other.top) == 1
            if not single or not isinstance(other.layer, Accelerated):
                return
            if not _in_place(other) and not (hidden and isinstance(other.layer, BatchNorm)):
                return
            yield other
            blob = other.top[0].blob


def _in_place(link: Link) -> bool:
    return link.bottom[0].blob is link.top[0].blob


def _begin(net: Any, link: Link, behind: list[Link]) -> Chain | None:
    """The chain that begins with a layer, if one does."""
    layer = link.layer
    if isinstance(layer, BatchNorm):
        tail = [*_take(behind, Scale), *_take(behind, ReLU)]
        tail = [x for x in tail if not (isinstance(x.layer, ReLU) and x.layer.slope)]
        if not tail or not _same_needs(net, [link, *tail]):
            return None
        backward_fused = _in_place(link) or _hidden(net)
        if not backward_fused and net.phase != TEST and layer.needs_backward:
            return None
        return Normalised([link, *tail], backward_fused)
    if isinstance(layer, Convolution) and len(link.bottom) == 1 and net.phase == TEST:
        norm = behind[0].layer if behind else None
        if isinstance(norm, BatchNorm) and norm.use_global_stats:
            return Folded([link, behind.pop(0), *_take(behind, Scale), *_take(behind, ReLU)])
    if takes_relu(layer) and len(link.top) == 1 and behind and _may_rectify(net, behind[0].layer):
        return Rectified([link, behind[0]])
    return None


def _may_rectify(net: Any, layer: Accelerated) -> bool:
    """Not in training: the primitive's ReLU makes 0 of NaN, and diverging would look sound."""
    return isinstance(layer, ReLU) and (net.phase == TEST or bool(layer.slope))


def _take(behind: list[Link], kind: type) -> list[Link]:
    """The next layer, taken from the list, if it is of that kind."""
    if not behind or not isinstance(behind[0].layer, kind):
        return []
    link = behind[0]
    if isinstance(link.layer, Scale) and not link.layer.by_channel(link.bottom):
        return []
    return [behind.pop(0)]


def _same_needs(net: Any, links: list[Link]) -> bool:
    """Whether all or none are part of the backward pass, the first one's bottom aside."""
    needs = {net.layer_need_backward[link.index] for link in links}
    flags = [flag for link in links[1:] for flag in net.bottom_need_backward[link.index]]
    return len(needs) == 1 and (all(flags) or not needs.pop())


def takes_relu(layer: Accelerated) -> bool:
    if isinstance(layer, Eltwise):
        return layer.takes_post_ops
    return isinstance(layer, (Convolution, InnerProduct))


def relu_op(layer: ReLU) -> tuple[Any, ...]:
    return ("eltwise", RELU, float(layer.slope), 0.0)
