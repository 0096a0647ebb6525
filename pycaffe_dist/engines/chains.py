"""Chains: layers in a row that an engine computes together, and which layers may be.

A chain is a layer and those behind it that change its top in place, so that all blobs are right
when the chain has run.  Where inner blobs are given back, so that nobody can look at them, a
BatchNorm need not be in place, and the Eltwise that adds the last blob to another may be in it.

A chain's work is done at the turn of its last layer, when the parameters of all have arrived,
backward at that same layer's turn.  In passes that end within it, or that somebody watches layer by
layer, each layer works alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pycaffe_dist.blob import Blob, Flags, View, Views
from pycaffe_dist.engines.base import Fusions, NetView
from pycaffe_dist.layer import Layer
from pycaffe_dist.layers.batch_norm import BatchNorm
from pycaffe_dist.layers.eltwise import Eltwise
from pycaffe_dist.layers.relu import ReLU
from pycaffe_dist.layers.scale import Scale
from pycaffe_dist.proto.caffe_pb2 import TEST, EltwiseParameter


class Chainable(Layer):
    """A layer that may be part of a chain; mixed in before the one that it is on its own.

    Attributes:
        fast: whether it can be computed together with others as it is now.
        needs_backward: else nothing need be kept for it.
    """

    fast = True
    needs_backward = True
    chain: Chain | None = None

    def forward(self, bottom: Views, top: Views) -> None:
        if self.chain is None or not self.chain.forward(self):
            self.forward_alone(bottom, top)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if self.chain is None or not self.chain.backward(self):
            self.backward_alone(top, propagate_down, bottom)

    def forward_alone(self, bottom: Views, top: Views) -> None:
        super().forward(bottom, top)

    def backward_alone(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        super().backward(top, propagate_down, bottom)


@dataclass
class Link:
    """A layer of a net with what it is connected to."""

    index: int
    layer: Any
    bottom: Views
    top: Views

    @property
    def in_place(self) -> bool:
        return any(view.blob is self.top[0].blob for view in self.bottom)


class Chain:
    """Some layers in a row.

    Attributes:
        active: whether they may be computed together in the pass under way.
        fused: whether they were, in the last forward pass.
        backward_fused: whether their backward pass is one, too; else they part before it.
        replays: whether all that their TEST forward does to memory is done by onednn's tape.do.
    """

    backward_fused = True
    replays = False

    def __init__(self, links: list[Link]) -> None:
        self.links = links
        self.active = self.fused = False
        self._last = links[-1].layer
        for link in links:
            link.layer.chain = self

    def forward(self, layer: Chainable) -> bool:
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

    def backward(self, layer: Chainable) -> bool:
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


# -- which layers ------------------------------------------------------------------------------

Begin = Callable[[NetView, Link, list[Link]], Chain | None]


def find(net: NetView, begin: Begin) -> list[Chain]:
    """The chains of a net, the first layer's first; its layers are told what they need not keep.

    Args:
        net: a net that is built.
        begin: makes the chain that begins with a link, if one does, given all links of the net.
    """
    links = [
        Link(i, *parts)
        for i, parts in enumerate(zip(net.layers, net.bottoms, net.tops, strict=True))
    ]
    chainable = [link for link in links if isinstance(link.layer, Chainable)]
    for link in chainable:
        link.layer.needs_backward = net.layer_need_backward[link.index]
        link.layer.chain = None
    chains: list[Chain] = []
    for link in chainable:
        if link.layer.chain is None:
            chain = begin(net, link, links)
            if chain is not None:
                chains.append(chain)
    return chains


def hidden(net: NetView) -> bool:
    """Whether inner blobs are given back when they are done with."""
    return net.recycling is not None


def behind(link: Link, links: list[Link], hidden: bool) -> Iterator[Link]:
    """The layers that change this one's only top, in their order."""
    if len(link.top) != 1:
        return
    blob = link.top[0].blob
    for other in links[link.index + 1 :]:
        if any(view.blob is blob for view in other.bottom):
            single = len(other.bottom) == len(other.top) == 1
            if not single or not isinstance(other.layer, Chainable):
                return
            if not other.in_place and not (hidden and isinstance(other.layer, BatchNorm)):
                return
            yield other
            blob = other.top[0].blob


def take(rest: list[Link], kind: type) -> list[Link]:
    """The next layer, taken from the list, if it is of that kind."""
    if not rest or not isinstance(rest[0].layer, kind):
        return []
    link = rest[0]
    scale = link.layer
    if isinstance(scale, Scale) and not by_channel(link.bottom[0], scale.params, scale.axis):
        return []
    return [rest.pop(0)]


def by_channel(bottom: View, operands: Views, axis: int) -> bool:
    """Whether what a layer multiplies or adds has one number for each channel."""
    channels = bottom.shape[1:2]
    one_each = all(operand.shape == channels for operand in operands)
    return len(channels) == 1 and one_each and bottom.axis(axis) == 1


def take_plain_relu(rest: list[Link]) -> list[Link]:
    """The next layer, taken from the list, if it is a ReLU without a slope."""
    if rest and isinstance(rest[0].layer, ReLU) and rest[0].layer.slope:
        return []
    return take(rest, ReLU)


def normalised(net: NetView, links: list[Link]) -> bool | None:
    """Whether a BatchNorm and what is behind it may be one also backward; None: not even forward.

    Backward together leaves gradients in between as they are, where nobody may look at them.
    """
    if len(links) < 2 or not _same_needs(net, links):
        return None
    norm = links[0]
    backward = norm.in_place or hidden(net)
    if not backward and net.phase != TEST and norm.layer.needs_backward:
        return None
    return backward


def added(head: list[Link], links: list[Link]) -> tuple[Link, Blob] | None:
    """The Eltwise that adds the top of some layers to another blob, and that blob."""
    top = head[-1].top[0].blob
    for link in links[head[-1].index + 1 :]:
        others = [view.blob for view in link.bottom if view.blob is not top]
        if len(others) < len(link.bottom):
            if not isinstance(link.layer, Eltwise) or not isinstance(link.layer, Chainable):
                return None
            plain = link.layer.operation == EltwiseParameter.SUM and all(
                c == 1 for c in link.layer.coeffs
            )
            if not plain or len(link.bottom) != 2 or len(others) != 1 or link.in_place:
                return None
            return None if link.layer.chain is not None else (link, others[0])
    return None


def _same_needs(net: NetView, links: list[Link]) -> bool:
    """Whether all or none are part of the backward pass, the first one's bottom aside."""
    needs = {net.layer_need_backward[link.index] for link in links}
    flags = [flag for link in links[1:] for flag in net.bottom_need_backward[link.index]]
    return len(needs) == 1 and (all(flags) or not needs.pop())
