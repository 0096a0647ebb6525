"""Layers of a built net that are computed together: one pass over memory instead of several.

A chain is a layer and those behind it that change its top in place, so that all blobs are right
when the chain has run.  Where inner blobs are given back, so that nobody can look at them, a
BatchNorm need not be in place, and a convolution may add to the other bottom of an Eltwise.
"""

from __future__ import annotations

from collections.abc import Iterator

from pycaffe_dist.engines.base import Fusions, NetView
from pycaffe_dist.engines.onednn.chains import (
    Chain,
    Folded,
    Link,
    Normalised,
    Rectified,
    Summed,
)
from pycaffe_dist.engines.onednn.core.accelerated import Accelerated
from pycaffe_dist.engines.onednn.core.tape import RECORDER
from pycaffe_dist.engines.onednn.layers.batch_norm import BatchNorm
from pycaffe_dist.engines.onednn.layers.convolution import Convolution
from pycaffe_dist.engines.onednn.layers.eltwise import Eltwise
from pycaffe_dist.engines.onednn.layers.inner_product import InnerProduct
from pycaffe_dist.engines.onednn.layers.neurons import ReLU
from pycaffe_dist.engines.onednn.layers.scale import Scale
from pycaffe_dist.engines.onednn.replay import Part, parts
from pycaffe_dist.proto.caffe_pb2 import TEST, EltwiseParameter


class Chains(Fusions):
    """The chains of a net, and whether the pass under way may use them."""

    def __init__(self, net: NetView, chains: list[Chain]) -> None:
        self.chains = chains
        self._net = net
        self._parts: dict[int, Part] | None = None  # by their first layer; found after a pass
        self._last = {link.index: chain.links[-1].index for chain in chains for link in chain.links}

    def during(self, first: int, last: int, watched: bool) -> Chains:
        for chain in self.chains:
            links = chain.links
            chain.active = not watched and first <= links[0].index and links[-1].index <= last
        if watched or last - first < len(self._net.layers) - 1:
            for part in (self._parts or {}).values():
                part.forget()
        return self

    def layers(self, first: int, last: int) -> Iterator[int]:
        i = first
        while i <= last:
            part = (self._parts or {}).get(i)
            if part is None or part.last > last:
                yield i
                i += 1
                continue
            if not part.repeat():
                part.begin()
                yield from range(i, part.last + 1)
                part.end()
            i = part.last + 1
        if self._parts is None and self._net.phase == TEST:
            self._parts = {part.first: part for part in parts(self._net)}

    def last(self, layer: int) -> int:
        return self._last.get(layer, layer)

    def __exit__(self, *_: object) -> None:
        RECORDER.steps = None
        for chain in self.chains:
            chain.active = False


def find(net: NetView) -> Chains:
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
            chain = _begin(net, link, links)
            if chain is not None:
                chains.append(chain)
    return Chains(net, chains)


def _hidden(net: NetView) -> bool:
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
    return any(view.blob is link.top[0].blob for view in link.bottom)


def _begin(net: NetView, link: Link, links: list[Link]) -> Chain | None:
    """The chain that begins with a layer, if one does."""
    layer, behind = link.layer, list(_behind(link, links, _hidden(net)))
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
        head = [link]
        if isinstance(norm, BatchNorm) and norm.use_global_stats:
            head += [behind.pop(0), *_take(behind, Scale)]
        summed = _summed(head, behind, links) if _hidden(net) else None
        if summed or len(head) > 1:
            return summed or Folded([*head, *_take(behind, ReLU)])
    if takes_relu(layer) and len(link.top) == 1 and behind and _may_rectify(net, behind[0].layer):
        return Rectified([link, behind[0]])
    return None


def _summed(head: list[Link], behind: list[Link], links: list[Link]) -> Summed | None:
    """A convolution, with what is folded into it, and the Eltwise that adds its top to another."""
    if behind:
        return None  # something else comes first
    top = head[-1].top[0].blob
    for link in links[head[-1].index + 1 :]:
        others = [view.blob for view in link.bottom if view.blob is not top]
        if len(others) < len(link.bottom):
            if not isinstance(link.layer, Eltwise) or link.layer.chain is not None:
                return None
            plain = link.layer.operation == EltwiseParameter.SUM and link.layer.takes_post_ops
            if not plain or len(link.bottom) != 2 or len(others) != 1 or _in_place(link):
                return None
            later = [view.blob for after in links[link.index + 1 :] for view in after.bottom]
            tail = _take(list(_behind(link, links, True)), ReLU)
            return Summed([*head, link, *tail], others[0], later)
    return None


def _may_rectify(net: NetView, layer: Accelerated) -> bool:
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


def _same_needs(net: NetView, links: list[Link]) -> bool:
    """Whether all or none are part of the backward pass, the first one's bottom aside."""
    needs = {net.layer_need_backward[link.index] for link in links}
    flags = [flag for link in links[1:] for flag in net.bottom_need_backward[link.index]]
    return len(needs) == 1 and (all(flags) or not needs.pop())


def takes_relu(layer: Accelerated) -> bool:
    if isinstance(layer, Eltwise):
        return layer.takes_post_ops
    return isinstance(layer, (Convolution, InnerProduct))
