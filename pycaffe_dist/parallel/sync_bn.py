"""Running statistics on several ranks: merged when somebody looks, or exact all along.

By default every rank normalises by its own batch, as Caffe's GPUs do, and running statistics drift
apart by chance; so do other parameters that layers change by what is in a batch.  They become their
mean before tests and snapshots.  ``synchronise`` makes every pass of BatchNorm layers use the
statistics of all ranks' batches together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from pycaffe_dist.aliases import DeviceArray
from pycaffe_dist.engines.base import Engine
from pycaffe_dist.layer import Layer
from pycaffe_dist.layers.batch_norm import BatchNorm
from pycaffe_dist.net import Net
from pycaffe_dist.parallel.transport.collectives import mean
from pycaffe_dist.parallel.transport.comm_thread import CommThread
from pycaffe_dist.parallel.transport.communicator import Steps
from pycaffe_dist.parallel.transport.streams import Port
from pycaffe_dist.parallel.transport.tags import STATISTICS


def drifting(net: Net, but: Sequence[Layer] = ()) -> list[Layer]:
    """The layers of a net whose parameters follow its batches, without some of them."""
    return [layer for layer in net.layers if layer.follows_batches and layer not in but]


def batch_norms(net: Net) -> list[BatchNorm]:
    """The BatchNorm layers of a net that use the statistics of batches."""
    found = [layer for layer in net.layers if isinstance(layer, BatchNorm)]
    return [layer for layer in found if not layer.use_global_stats]


class Merging:
    """Running statistics of a net, which become their means over ranks when somebody looks.

    That is once after forward passes, whoever ran them: the mean of equal numbers may be rounded to
    another one.

    Args:
        net: whose.
        but: layers of it whose statistics are the same on all ranks.
    """

    def __init__(self, net: Net, but: Sequence[Layer] = ()) -> None:
        self._net, self._layers = net, drifting(net, but)
        self._moved = 0.0  # 1 after a forward pass of this rank
        if self._layers:
            net.before_forward.append(self._note)

    @property
    def needed(self) -> bool:
        """Whether there is anything to merge, ever: the same on all ranks."""
        return bool(self._layers)

    def _note(self, layer: int) -> None:
        self._moved = 1.0

    # All ranks do one of these together, even if only one of them has run a pass.

    def steps(self, port: Port) -> Steps[None]:
        """In the hosts."""
        stored = [blob.data.reshape(-1) for layer in self._layers for blob in layer.statistics()]
        whole = np.concatenate([*stored, [self._moved]])
        yield from mean(port, whole, STATISTICS)
        if whole[-1]:
            for part, piece in self._parts(stored, whole):
                part[...] = piece
        self._moved = 0.0

    def on_device(
        self, engine: Engine, mean_over_ranks: Callable[[DeviceArray], DeviceArray]
    ) -> None:
        """Where the statistics are, and without a wait for the device."""
        xp, home = engine.xp, engine.home
        values = [blob.data_value for layer in self._layers for blob in layer.statistics()]
        stored = [value.write(home)[: value.count] for value in values]
        whole = xp.empty(1 + sum(part.size for part in stored), np.float64)
        whole.fill(self._moved)
        for part, piece in self._parts(stored, whole):
            piece[...] = part
        whole = mean_over_ranks(whole)
        for part, piece in self._parts(stored, whole):
            part[...] = xp.where(whole[-1:] > 0, piece, part)
        self._moved = 0.0

    @staticmethod
    def _parts(
        stored: Sequence[DeviceArray], whole: DeviceArray
    ) -> Iterator[tuple[DeviceArray, DeviceArray]]:
        """Each of the arrays with its place in ``whole``."""
        at = 0
        for part in stored:
            yield part, whole[at : at + part.size]
            at += part.size

    def close(self) -> None:
        if self._layers:
            self._net.before_forward.remove(self._note)


def synchronise(
    layers: list[BatchNorm], thread: CommThread, on_device: Callable[[DeviceArray], DeviceArray]
) -> None:
    """Let the layers use the statistics of all ranks' batches.

    ``on_device`` makes the mean of an array over ranks where it is, or None if it cannot.
    """
    port = Port(thread.communicator)

    def mean_over_ranks(values: DeviceArray) -> DeviceArray:
        mean_there = on_device(values)
        if mean_there is not None:
            return mean_there
        whole = np.array(values.get() if hasattr(values, "get") else values, np.float64)
        thread.do(mean(port, whole.reshape(-1), STATISTICS), "BatchNorm", "control")
        return layers[0].xp.asarray(whole, values.dtype)

    for layer in layers:
        layer.share_batch(thread.communicator.size, mean_over_ranks)


def separate(layers: list[BatchNorm]) -> None:
    """Let each rank use its own statistics again."""
    for layer in layers:
        layer.share_batch(1, BatchNorm.mean_over_ranks)
