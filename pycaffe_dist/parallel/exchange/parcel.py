"""Parcel: parameters whose gradients travel together, by one scheme.

On the way of a gradient the main thread only copies what would be overwritten (``collect``) and
turns what came back into gradients (``finish``); everything else is ``steps``, taken by the
communication thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pycaffe_dist.aliases import Array, DeviceArray, Facts
from pycaffe_dist.blob import Blob
from pycaffe_dist.engines.base import NUMPY, Engine
from pycaffe_dist.learnable import Param
from pycaffe_dist.memory import HOST, Value
from pycaffe_dist.parallel.transport.comm_thread import CommThread, Submitted
from pycaffe_dist.parallel.transport.communicator import Communicator, Steps
from pycaffe_dist.parallel.transport.node import Node
from pycaffe_dist.parallel.transport.streams import Port, Receiving, Sending
from pycaffe_dist.parallel.transport.tags import PARCELS
from pycaffe_dist.parallel.verdict import Verdict
from pycaffe_dist.solver import Solver
from pycaffe_dist.solvers import update
from pycaffe_dist.update_step import ParamValues, UpdateStep

if TYPE_CHECKING:
    from pycaffe_dist.parallel.schemes.scheme import Scheme

BLOCK = 1 << 18  # values that the communication thread works on before it looks at the wire again


@dataclass(frozen=True)
class Fabric:
    """What parcels travel on.

    Attributes:
        scale: by which a sum over ranks is multiplied: 1/P, or 1 where updates are summed.
        verdict: whether updates may be made.
        options: of schemes, by the names of their flags.
    """

    communicator: Communicator
    node: Node
    port: Port
    scale: float
    verdict: Verdict
    options: Mapping[str, float]


@dataclass(frozen=True)
class Contents:
    """What a parcel carries.

    Attributes:
        params: indices into ``net.params.learnable``.
        layer: their gradients are complete after this layer's backward.
        number: its place in the plan.
    """

    scheme: Scheme
    params: tuple[int, ...]
    layer: int
    number: int


def blocks(begin: int, end: int) -> Iterator[slice]:
    for at in range(begin, end, BLOCK):
        yield slice(at, min(end, at + BLOCK))


class Parcel:
    """Base of the exchanges.

    Args:
        fabric: on which it travels.
        solver: whose parameters it carries.
        contents: which of them, by which scheme.

    Attributes:
        job: the exchange, from its start until it is finished.
        history: what this rank keeps of the solver's history, flat arrays by slot.
        made: the last update of the same values, if snapshots are to have it (snapshot_diff).
        engine: where updates of the exchange's own are computed.
    """

    engine: Engine = NUMPY

    def __init__(self, fabric: Fabric, solver: Solver, contents: Contents) -> None:
        self.fabric, self.solver = fabric, solver
        self.scheme, self.updates = contents.scheme, contents.scheme.updates
        self.params, self.layer = contents.params, contents.layer
        # A tag for each rank; the next parcel has those that follow.
        self.tag = PARCELS + contents.number * fabric.communicator.size
        learnable = solver.net.params.learnable
        self.learnable: list[Param] = [learnable[p] for p in self.params]
        self.dtype = self.learnable[0].blob.dtype
        self.scale: Any = self.dtype.type(fabric.scale)  # type: ignore[call-overload]
        self.counts = [param.blob.count for param in self.learnable]
        self.count = sum(self.counts)
        self.begins = [sum(self.counts[:i]) for i in range(len(self.counts))]
        self.job: Submitted[None] | None = None
        self.history: Facts = {}
        self.made: list[DeviceArray] = []
        net = solver.net
        owners = dict.fromkeys(net.layer_names[param.owner[0]] for param in self.learnable)
        self.name = "+".join(owners)

    def pieces(self, whole: DeviceArray) -> list[DeviceArray]:
        """The part of each parameter of values that lie end to end."""
        ends = zip(self.begins, self.counts, strict=True)
        return [whole[begin : begin + count] for begin, count in ends]

    # -- what a scheme writes ----------------------------------------------------------------

    def collect(self, number: int) -> None:
        """Copy what the next layers overwrite, after backward pass ``number`` of an iteration."""

    def begin(self, thread: CommThread, step: UpdateStep) -> None:
        """The gradients of this rank are there: let the exchange start.

        ``step`` is the update that it will make, if it makes one.
        """
        self.step = step
        self.job = thread.submit(self.steps(), self.name, self.scheme.name)

    def steps(self) -> Steps[None]:
        """The exchange.  Called by the main thread, when the gradients of this rank are there."""
        raise NotImplementedError

    def finish(self) -> None:
        """Called by the main thread when the exchange is over: gradients become complete."""

    def discard(self, thread: CommThread) -> None:
        """Wait until the exchange is over; what it brought is not to be used."""
        assert self.job is not None
        thread.wait(self.job)
        self.job = None

    def close(self) -> None:
        """Leave the net as it was."""

    def own_values(self) -> Array | None:
        """What this rank alone keeps from one step to the next, and snapshots have, if anything."""
        return None

    # -- history that not every rank keeps -------------------------------------------------------

    def held_by(self, rank: int) -> tuple[int, int]:
        """Which values of the parcel, begin and end, ``rank`` keeps the history of."""
        raise NotImplementedError

    def take_history(self) -> None:
        """Keep this rank's part of the solver's history, and let go of the rest."""
        begin, end = self.held_by(self.fabric.communicator.rank)
        self.history = {
            slot: _cut(blobs, self.counts, begin, end) if end > begin else np.empty(0, self.dtype)
            for slot, blobs in self._history_blobs().items()
        }
        if self.solver.param.snapshot_diff:
            self.made = [np.zeros(end - begin, self.dtype)]
        self._release()

    def plain(self, kept: Sequence[DeviceArray]) -> list[Array]:
        """What this rank keeps, in plain memory."""
        return list(kept)

    def gather_history(self) -> Steps[None]:
        """Rank 0's history, and what snapshot_diff asks for, become whole, for a snapshot."""
        values = [[blob.data_value for blob in blobs] for blobs in self._history_blobs().values()]
        if self.made:
            values.append([param.blob.diff_value for param in self.learnable])
        return self._gather_kept(self.plain([*self.history.values(), *self.made]), values)

    def _gather_kept(self, kept: Sequence[Array], values: Sequence[Sequence[Value]]) -> Steps[None]:
        communicator = self.fabric.communicator
        port = Port(communicator)
        for mine, targets in zip(kept, values, strict=True):
            if communicator.rank:
                send = Sending(port, mine, 0, self.tag)
                while not send.finished:
                    yield send.step()
                continue
            whole = np.empty(self.count, self.dtype)
            for rank in range(communicator.size):
                begin, end = self.held_by(rank)
                if rank == 0:
                    whole[begin:end] = mine
                    continue
                into = whole[begin:end]
                receive = Receiving(port, end - begin, self.dtype, rank, self.tag, into)
                while not receive.finished:
                    yield receive.take() is not None
            for value, piece in zip(targets, self.pieces(whole), strict=True):
                value.replace(HOST)[: value.count] = piece

    def drop_history(self) -> None:
        """Let go of what ``gather_history`` has brought."""
        self._release()

    def _release(self) -> None:
        for p in self.params:
            self.solver.history.release(p)

    def _history_blobs(self) -> dict[str, list[Blob]]:
        """The solver's history of these parameters, by slot."""
        history = self.solver.history
        return {slot: [history[slot][p] for p in self.params] for slot in history.slots}

    # -- help for schemes that update ------------------------------------------------------------

    def claim_weights(self) -> None:
        """Find the weights' arrays, which the exchange writes from now on.

        Called by the main thread: only it may bring values from a device to the host.
        """
        self.weights = [param.blob.data.reshape(-1) for param in self.learnable]

    def update(self, gradient: DeviceArray, result: DeviceArray, begin: int, end: int) -> None:
        """Update the values from ``begin`` to ``end``, all of them held by this rank.

        Or leave them as they are, if that is the verdict.  ``gradient`` holds theirs, and is spent.
        ``result`` gets the new values, or what is taken off the old ones where values travel in
        fewer bits: small changes would be lost in them.
        """
        exact = self.fabric.port.wire.exact
        held, _ = self.held_by(self.fabric.communicator.rank)
        for param, data, at in zip(self.learnable, self.weights, self.begins, strict=True):
            lo, hi = max(begin, at), min(end, at + data.size)
            if lo < hi:
                g = gradient[lo - begin : hi - begin]
                w = data[lo - at : hi - at].copy()
                past = {s: h[lo - held : hi - held] for s, h in self.history.items()}
                if self.fabric.verdict.update is False:
                    g[...] = 0
                else:
                    values = ParamValues(w, g, past)
                    update.apply_to(param, values, self.solver.rule, self.step, self.engine)
                for made in self.made:
                    made[lo - held : hi - held] = g
                result[lo - begin : hi - begin] = w if exact else g

    def publish(self, result: Array) -> None:
        """Bring what ``update`` has put out into the weights."""
        for data, piece in zip(self.weights, self.pieces(result), strict=True):
            if not self.fabric.port.wire.exact:
                data -= piece
            elif not np.may_share_memory(data, piece):
                data[...] = piece


def _cut(blobs: Sequence[Blob], counts: Sequence[int], begin: int, end: int) -> Array:
    """The values from ``begin`` to ``end`` of blobs laid end to end."""
    pieces, at = [], 0
    for blob, count in zip(blobs, counts, strict=True):
        lo, hi = max(begin, at), min(end, at + count)
        if lo < hi:
            pieces.append(blob.data.reshape(-1)[lo - at : hi - at])
        at += count
    return np.concatenate(pieces)
