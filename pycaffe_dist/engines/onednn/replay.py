"""TEST forwards that are the same as the last one, from a prepared list of calls.

Which primitives run, and on which memory, depends on shapes, on where values lie and on whether
parameters have changed.  As long as all of that is as it was, a part of a net, layers in a row, is
nothing but its list of calls: nobody asks each layer again what is to be done.  Whatever is not as
it was is noticed before the list is used: the layers run one by one, and the list is made anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from pycaffe_dist.blob import Blob, Views
from pycaffe_dist.engines.base import NetView
from pycaffe_dist.engines.onednn.core.accelerated import Accelerated
from pycaffe_dist.engines.onednn.core.tape import RECORDER, Step
from pycaffe_dist.layer import Layer
from pycaffe_dist.memory import State, Value
from pycaffe_dist.pool import Pool, Span, Spans

SHORTEST = 2  # layers
Versions = list[tuple[int, int]]


def replays(layer: Layer) -> bool:
    """Whether a layer's last forward pass is known by the calls it has made."""
    if not isinstance(layer, Accelerated) or not layer.fast or any(layer.loss):
        return False
    if layer.chain is not None and layer.chain.fused:
        return layer.chain.replays
    return layer.replays


def parts(net: NetView) -> Iterator[Part]:
    """The longest rows of layers of a net, after a pass, that can be repeated from a list."""
    for good, row in groupby(enumerate(net.layers), lambda pair: replays(pair[1])):
        indices = [i for i, _ in row]
        if good and len(indices) >= SHORTEST:
            yield Part(net, indices[0], indices[-1])


class Part:
    """Layers ``first`` to ``last`` of a net, and what running them came to."""

    def __init__(self, net: NetView, first: int, last: int) -> None:
        self.first, self.last = first, last
        self._pool: Pool | None = net.recycling.pool if net.recycling else None
        span = slice(first, last + 1)
        self._layers: list[Layer] = net.layers[span]
        self._given, self._made = _ends(net.bottoms[span], net.tops[span])
        self._seen: Versions = []
        self._record: Record | None = None
        self._begun: Record | None = None

    def repeat(self) -> bool:
        """Run the list, if everything is as it was when it was written."""
        if self._record is None or not self._record.holds(self._versions()):
            return False
        self._record.run()
        return True

    def begin(self) -> None:
        """The layers are about to run one by one: write down what they do.

        Not if parameters are new: they are converted then, which is to be done once.
        """
        self._record = self._begun = None
        versions = self._versions()
        if versions == self._seen and not any(b.data_value.is_zero for b in self._given):
            self._begun = Record(self._given + self._made, versions, self._pool)
            RECORDER.steps = []
        self._seen = versions

    def end(self) -> None:
        """They have run."""
        steps, RECORDER.steps = RECORDER.steps, None
        if self._begun is not None and steps is not None and all(map(replays, self._layers)):
            self._begun.finish(steps)
            self._record = self._begun

    def forget(self) -> None:
        """Layers have run otherwise: the next pass may convert what it finds."""
        self._seen = []

    def _versions(self) -> Versions:
        values = [p.blob.data_value for layer in self._layers for p in layer.params]
        return [(id(value), value.version) for value in values]


def _ends(bottoms: Sequence[Views], tops: Sequence[Views]) -> tuple[list[Blob], list[Blob]]:
    """The blobs that come from elsewhere, and those that the layers write."""
    given: dict[Blob, None] = {}
    made: dict[Blob, None] = {}
    for below, above in zip(bottoms, tops, strict=True):
        given |= dict.fromkeys(view.blob for view in below if view.blob not in made)
        made |= dict.fromkeys(view.blob for view in above)
    return list(given), [blob for blob in made if blob not in given]


class Record:
    """A list of calls, and where everything lay before them and after them."""

    def __init__(self, blobs: Sequence[Blob], versions: Versions, pool: Pool | None) -> None:
        self._versions, self._pool = versions, pool
        self._shapes = [(blob, blob.shape, blob.data_value) for blob in blobs]
        self._values: list[Value] = list(dict.fromkeys(blob.data_value for blob in blobs))
        self._before = [(value, value.state()) for value in self._values]
        self._free = pool.free() if pool else Spans()
        self._borrowed: set[Span] = set()
        self._steps: tuple[Step, ...] = ()
        self._moved: list[tuple[Value, State, State]] = []

    def finish(self, steps: Sequence[Step]) -> None:
        """The steps were done."""
        self._steps = tuple(steps)
        self._moved = [(v, s, v.state()) for v, s in self._before if not v.is_in(s)]
        if self._pool:
            self._borrowed = self._of_pool(self._pool)

    def _of_pool(self, pool: Pool) -> set[Span]:
        """What has to be free before the steps: the rooms that were taken for them."""
        own = {pool.span(room) for _, state in self._before for room in state.rooms.values()}
        moved = [after for value, _, after in self._moved if value.pool is pool]
        new = {pool.span(room) for after in moved for room in after.rooms.values()}
        used = {span for _, rooms in self._steps for room in rooms if (span := pool.span(room))}
        free = self._free, pool.free()
        return {
            span for span in used - own if span in new or any(spans.covers(span) for spans in free)
        }

    def holds(self, versions: Versions) -> bool:
        """Whether everything is as it was before the steps."""
        return (
            versions == self._versions
            and all(b.shape == s and b.data_value is v for b, s, v in self._shapes)
            and all(value.is_in(state) for value, state in self._before)
            and (self._pool is None or self._pool.has_free(self._borrowed))
        )

    def run(self) -> None:
        for call, rooms in self._steps:
            call(*rooms)
        for value in self._values:
            value.version += 1
        for value, before, after in self._moved:
            value.put(after)
            if self._pool and value.pool is self._pool:
                self._pool.exchange(before.rooms.values(), after.rooms.values())
