"""Memory that values use in turn: a room is given back when nobody will look at its value again.

In a training net a blob is done with when the backward pass has left the first layer that uses it;
in a test net, when the forward pass has left the last.  What comes from outside (tops of layers
without bottoms) and what goes out stays.  For runs that nobody looks into: a script that reads
inner blobs after a pass needs a net that keeps them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pycaffe_dist.memory import Value
from pycaffe_dist.pool import Pool
from pycaffe_dist.proto.caffe_pb2 import TRAIN

if TYPE_CHECKING:
    from pycaffe_dist.net import Net

SMALL = 1 << 14  # numbers: below, giving back costs more than it saves


class Recycling:
    """Which values of a net are given back after which layer."""

    def __init__(self, net: Net, pool: Pool) -> None:
        self.net, self.pool = net, pool
        self.training = net.phase == TRAIN
        self._seen: list[Value] = []
        self._after: dict[int, list[Value]] = {}

    def after_forward(self, layer: int) -> None:
        if not self.training:
            self._give_back(layer)

    def after_backward(self, layer: int) -> None:
        if self.training:
            self._give_back(layer)

    def begin(self) -> None:
        """A pass begins: blobs may have got other values since the last one."""
        now = [v for blob in self.net.blobs for v in (blob.data_value, blob.diff_value)]
        if len(now) != len(self._seen) or any(
            a is not b for a, b in zip(now, self._seen, strict=True)
        ):
            self._seen = now
            self._after = self._plan()

    def _give_back(self, layer: int) -> None:
        for value in self._after.get(layer, ()):
            value.give_back()

    def _plan(self) -> dict[int, list[Value]]:
        users: dict[int, list[int]] = defaultdict(list)
        values: dict[int, Value] = {}
        for layer, (bottoms, tops) in enumerate(
            zip(self.net.bottom_ids, self.net.top_ids, strict=True)
        ):
            for value in self._values({*bottoms, *tops}):
                values[id(value)] = value
                users[id(value)] += [layer, self.net.fusions.last(layer)]
        kept = {id(v) for v in self._values(self._kept())}
        plan: dict[int, list[Value]] = defaultdict(list)
        for key, layers in users.items():
            if key not in kept and values[key].count >= SMALL:
                values[key].pool = self.pool
                plan[min(layers) if self.training else max(layers)].append(values[key])
        return plan

    def _values(self, blobs: Iterable[int]) -> Iterable[Value]:
        for i in blobs:
            yield self.net.blobs[i].data_value
            yield self.net.blobs[i].diff_value

    def _kept(self) -> set[int]:
        kept = {*self.net.output_ids, *self.net.input_ids}
        kept.update(i for i, weight in enumerate(self.net.blob_loss_weights) if weight)
        for tops, bottoms in zip(self.net.top_ids, self.net.bottom_ids, strict=True):
            if not bottoms:
                kept.update(tops)
        return kept


def recycle(nets: Iterable[Net]) -> Pool | None:
    """Let nets that never run at once share the memory of their inner blobs."""
    pool = None
    for net in nets:
        pool = pool or net.context.engine.pool()
        net.recycling = Recycling(net, pool)
        net.fusions = net.context.engine.finish(net)
    return pool
