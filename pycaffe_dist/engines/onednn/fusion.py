"""Layers of a built net that are computed together: one pass over memory instead of several.

Besides a BatchNorm with what is behind it (engines/chains.py), a convolution that may add to the
other bottom of an Eltwise, and layers whose primitives do the ReLU behind them.
"""

from __future__ import annotations

from collections.abc import Iterator

from pycaffe_dist.engines import chains
from pycaffe_dist.engines.base import NetView
from pycaffe_dist.engines.chains import Chain, Link, behind, hidden, take, take_plain_relu
from pycaffe_dist.engines.onednn.chains import Folded, Normalised, Rectified, Summed
from pycaffe_dist.engines.onednn.core.accelerated import Accelerated
from pycaffe_dist.engines.onednn.core.tape import RECORDER
from pycaffe_dist.engines.onednn.layers.batch_norm import BatchNorm
from pycaffe_dist.engines.onednn.layers.convolution import Convolution
from pycaffe_dist.engines.onednn.layers.eltwise import Eltwise
from pycaffe_dist.engines.onednn.layers.inner_product import InnerProduct
from pycaffe_dist.engines.onednn.layers.neurons import ReLU
from pycaffe_dist.engines.onednn.layers.scale import Scale
from pycaffe_dist.engines.onednn.replay import Part, parts
from pycaffe_dist.proto.caffe_pb2 import TEST


class Chains(chains.Chains):
    """And the parts of a test net that are repeated from a list."""

    def __init__(self, net: NetView, found: list[Chain]) -> None:
        super().__init__(found)
        self._net = net
        self._parts: dict[int, Part] | None = None  # by their first layer; found after a pass

    def during(self, first: int, last: int, watched: bool) -> Chains:
        super().during(first, last, watched)
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

    def __exit__(self, *_: object) -> None:
        RECORDER.steps = None
        super().__exit__()


def find(net: NetView) -> Chains:
    """Look for chains in a net, and tell its layers what they need not keep."""
    return Chains(net, chains.find(net, _begin))


def _begin(net: NetView, link: Link, links: list[Link]) -> Chain | None:
    """The chain that begins with a layer, if one does."""
    layer, rest = link.layer, list(behind(link, links, hidden(net)))
    if isinstance(layer, BatchNorm):
        row = [link, *take(rest, Scale), *take_plain_relu(rest)]
        backward_fused = chains.normalised(net, row)
        return None if backward_fused is None else Normalised(row, backward_fused)
    if isinstance(layer, Convolution) and len(link.bottom) == 1 and net.phase == TEST:
        norm = rest[0].layer if rest else None
        head = [link]
        if isinstance(norm, BatchNorm) and norm.use_global_stats:
            head += [rest.pop(0), *take(rest, Scale)]
        summed = _summed(head, rest, links) if hidden(net) else None
        if summed or len(head) > 1:
            return summed or Folded([*head, *take(rest, ReLU)])
    if takes_relu(layer) and len(link.top) == 1 and rest and _may_rectify(net, rest[0].layer):
        return Rectified([link, rest[0]])
    return None


def _summed(head: list[Link], rest: list[Link], links: list[Link]) -> Summed | None:
    """A convolution, with what is folded into it, and the Eltwise that adds its top to another."""
    found = None if rest else chains.added(head, links)  # if nothing else comes first
    if found is None:
        return None
    link, other = found
    later = [view.blob for after in links[link.index + 1 :] for view in after.bottom]
    return Summed([*head, link, *take(list(behind(link, links, True)), ReLU)], other, later)


def _may_rectify(net: NetView, layer: Accelerated) -> bool:
    """Not in training: the primitive's ReLU makes 0 of NaN, and diverging would look sound."""
    return isinstance(layer, ReLU) and (net.phase == TEST or bool(layer.slope))


def takes_relu(layer: Accelerated) -> bool:
    if isinstance(layer, Eltwise):
        return layer.takes_post_ops
    return isinstance(layer, (Convolution, InnerProduct))
