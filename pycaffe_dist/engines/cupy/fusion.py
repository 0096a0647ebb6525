"""Layers of a built net that are computed together, with the ReLU behind them at the end."""

from __future__ import annotations

from pycaffe_dist.aliases import DeviceArray
from pycaffe_dist.blob import Blob
from pycaffe_dist.engines import chains
from pycaffe_dist.engines.base import NetView
from pycaffe_dist.engines.chains import Chain, Chains, Link, behind, hidden, take, take_plain_relu
from pycaffe_dist.engines.cupy.launch import Multiplying
from pycaffe_dist.engines.cupy.layers.combine import DeviceScale
from pycaffe_dist.engines.cupy.layers.normalise import DeviceBatchNorm
from pycaffe_dist.layers.batch_norm import BatchNorm
from pycaffe_dist.layers.relu import ReLU
from pycaffe_dist.layers.scale import Scale


def find(net: NetView) -> Chains:
    """Look for chains in a net, and tell its layers what they need not keep."""
    return Chains(chains.find(net, _begin))


def _begin(net: NetView, link: Link, links: list[Link]) -> Chain | None:
    """The chain that begins with a layer, if one does."""
    if isinstance(link.layer, Multiplying):
        relu = take_plain_relu(list(behind(link, links, False)))
        return Rectified([link, *relu]) if relu else None
    if not isinstance(link.layer, BatchNorm):
        return None
    rest = list(behind(link, links, hidden(net)))
    head = [link, *take(rest, Scale)]
    found = None if rest or not hidden(net) else chains.added(head, links)
    if found is not None:
        total, other = found
        row = [*head, total, *take_plain_relu(list(behind(total, links, True)))]
        if chains.normalised(net, row):
            return Normalised(row, True, other)
    row = [*head, *take_plain_relu(rest)]
    backward_fused = chains.normalised(net, row)
    return None if backward_fused is None else Normalised(row, backward_fused)


class Rectified(Chain):
    """y = max(0, what a layer makes), as it is written.  Backward each works alone."""

    backward_fused = False

    def run_forward(self) -> None:
        first = self.links[0]
        first.layer.forward_rectified(first.bottom, first.top)

    def part(self) -> None:
        """Nothing to do: a ReLU in place looks at what it made."""


class Normalised(Chain):
    """y = max(0, s·x̂ + b + other), any of these but x̂ left out.

    Args:
        links: of the BatchNorm, the Scale, the Eltwise, the ReLU.
        backward_fused: whether the backward pass is one, too.
        other: the Eltwise's other bottom, if there is an Eltwise.
    """

    def __init__(self, links: list[Link], backward_fused: bool, other: Blob | None = None) -> None:
        super().__init__(links)
        self.backward_fused = backward_fused
        self._norm: DeviceBatchNorm = links[0].layer
        self._scales = [link for link in links if isinstance(link.layer, Scale)]
        self._rectify = isinstance(links[-1].layer, ReLU)
        self._below, self._above = links[0].bottom[0], links[-1].top[0]
        self._other = next(
            (view for link in links[1:] for view in link.bottom if view.blob is other), None
        )

    def run_forward(self) -> None:
        operands = [param.data for link in self._scales for param in link.layer.params]
        self._norm.normalise(self._below, self._above, operands, self._rectify, self._other)

    def run_backward(self) -> None:
        gated = None
        if self._other is not None:
            self._norm.overwrite(self._other.blob.diff_value)
            gated = self._other.diff
        gradients = self._gradients()
        self._norm.add_gradients(self._below, self._above, gradients, self._rectify, gated)
        self._norm.propagate(self._above.diff if gated is None else gated, self._below)

    def part(self) -> None:
        for link in self._scales:
            if self._norm.needs_backward:
                self._norm.renormalise(self._below, link.layer.input_room(link.bottom))

    def _gradients(self) -> list[tuple[DeviceArray, float]]:
        """Where those of s and b go, and whether they are added to what is there."""
        rooms = [
            (self._norm.spare(name, (self._norm.channels,)), 0.0) for name in ("scale", "shift")
        ]
        for link in self._scales:
            layer: DeviceScale = link.layer
            for i, (param, wanted) in enumerate(
                zip(layer.params, layer.param_propagate_down, strict=True)
            ):
                if wanted:
                    rooms[i] = param.diff, float(i > 0 or not layer._overwrites())
        return rooms
