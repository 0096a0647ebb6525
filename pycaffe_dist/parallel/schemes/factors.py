"""Schemes that carry the factors of a gradient instead of the gradient.

The weight gradient of an inner product over K rows is ∂W = AᵀB, with A: (K, N) the top's diff and
B: (K, M) the bottom's data.  The sum over ranks is the product of all their rows:
Σ AᵣᵀBᵣ = [A₀; A₁; …]ᵀ [B₀; B₁; …], so K(M + N) values travel instead of MN.  ∂b = Σ A goes with it.
The layer's own backward leaves these gradients out: they are made here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pycaffe_dist.blob import View
from pycaffe_dist.engines.base import Engine
from pycaffe_dist.errors import NetError
from pycaffe_dist.learnable import Param
from pycaffe_dist.memory import HOST, Array, Home
from pycaffe_dist.net import Net
from pycaffe_dist.parallel.schemes.parcel import BLOCK, Fabric, Parcel
from pycaffe_dist.parallel.transport.collectives import all_through, one_to_all
from pycaffe_dist.parallel.transport.communicator import Steps
from pycaffe_dist.parallel.transport.streams import Receiving, Sending
from pycaffe_dist.solver import Solver
from pycaffe_dist.threads import flush_denormals


class Factors:
    """The factors of a layer's weight gradient, as they are after its backward.

    Args:
        net: the layer's.
        layer: its number.
        home: where the factors are looked at.

    Attributes:
        rows, outputs, inputs: K, N and M.
        transposed: whether the weights are Bᵀ A.
    """

    def __init__(self, net: Net, layer: int, home: Home = HOST) -> None:
        self.layer = net.layers[layer]
        self._top = [View(view.blob, home, "data") for view in net.tops[layer]]
        self._bottom = [View(view.blob, home, "diff") for view in net.bottoms[layer]]
        self.transposed = bool(self.layer.layer_param.inner_product_param.transpose)
        a, b = self.layer.factors(self._top, self._bottom)
        self.rows, self.outputs, self.inputs = a.shape[0], a.shape[1], b.shape[1]

    @property
    def width(self) -> int:
        """Of A and B side by side."""
        width: int = self.outputs + self.inputs
        return width

    def now(self) -> tuple[Any, Any]:
        """(A, B) of the pass that has just been."""
        a, b = self.layer.factors(self._top, self._bottom)
        if a.shape[0] != self.rows:
            raise NetError(
                f'layer "{self.layer.name}": its gradient is exchanged as factors of {self.rows} '
                f"rows, now it has {a.shape[0]}. Where the batch size changes, use: "
                f"--comm-layer {self.layer.name}=dense"
            )
        return a, b

    def put(self, rows: Array, scale: Any) -> None:
        """Write scale·A and B of the pass that has just been, side by side."""
        a, b = self.now()
        np.multiply(a, scale, out=rows[:, : self.outputs])
        rows[:, self.outputs :] = b

    def sides(self, rows: Any) -> tuple[Any, Any]:
        """(L, R) with ∂W = LᵀR, of A and B side by side."""
        a, b = rows[:, : self.outputs], rows[:, self.outputs :]
        return (b, a) if self.transposed else (a, b)

    def multiply(self, rows: Any, weights: Any, bias: Sequence[Any], engine: Engine) -> None:
        """Write the gradients, all in the home of ``engine``: ∂W = LᵀR, ∂b = Σ A."""
        left, right = self.sides(rows)
        with flush_denormals():
            engine.outer(left, right, weights.reshape(left.shape[1], right.shape[1]))
            for gradient in bias:
                rows[:, : self.outputs].sum(axis=0, out=gradient)


class Factored(Parcel):
    """A parcel that knows the factors of its layer; ``home`` is where it looks at them."""

    home: Home = HOST

    def __init__(
        self, fabric: Fabric, solver: Solver, params: Sequence[int], layer: int, number: int
    ) -> None:
        super().__init__(fabric, solver, params, layer, number)
        self.factors = Factors(solver.net, layer, self.home)
        self._layer = self.factors.layer
        self.height = self.factors.rows * solver.param.iter_size  # of what this rank sends
        self._flags = list(self._layer.param_propagate_down)
        for blob in (param.owner[1] for param in self.learnable):
            self._layer.param_propagate_down[blob] = False

    def close(self) -> None:
        self._layer.param_propagate_down[:] = self._flags

    def gradient(self, param: Param) -> Any:
        """Where the layer's engine keeps a gradient, to be written whole."""
        home = self._layer.context.home
        param.blob.diff_value.replace(home)
        return View(param.blob, home, "diff").diff.reshape(-1)


class Sfb(Factored):
    """Sufficient factor broadcasting: all factors to all ranks, who each make the sum.

    Every node sends K(P − 1)(M + N) values for each of its ranks.  The factors of all ranks lie in
    memory that a node shares, in two rooms that take turns: while a slow rank still multiplies,
    a fast one may already write the factors of the next iteration.
    """

    scheme = "sfb"

    def __init__(
        self, fabric: Fabric, solver: Solver, params: Sequence[int], layer: int, number: int
    ) -> None:
        super().__init__(fabric, solver, params, layer, number)
        ranks, width = fabric.communicator.size, self.factors.width
        room = fabric.communicator.share(2 * ranks * self.height * width, self.dtype)
        self._rooms = room.reshape(2, ranks, self.height, width)
        self._turn = 0

    def collect(self, number: int) -> None:
        if number == 0:
            self._turn = 1 - self._turn
        slot, rows = self._rooms[self._turn, self.fabric.communicator.rank], self.factors.rows
        self.factors.put(slot[number * rows : (number + 1) * rows], self.scale)

    def steps(self) -> Steps[None]:
        return self._exchange(self._rooms[self._turn])

    def _exchange(self, room: Array) -> Steps[None]:
        node, rank = self.fabric.node, self.fabric.communicator.rank
        if len(node.leaders) > 1:
            self.fabric.port.wire.round(room[rank])
        yield from node.tell_leader(self.tag)
        if node.leads:
            yield from self._gather(room, node.leaders)
        yield from node.hear_leader(self.tag)

    def _gather(self, room: Array, receivers: Sequence[int]) -> Steps[None]:
        """The slots of all ranks come into the rooms of ``receivers``, who are leaders."""
        port, rank = self.fabric.port, self.fabric.communicator.rank
        nodes = self.fabric.communicator.nodes
        mates = nodes.mates(rank)
        sends = [
            Sending(port, room[mate].reshape(-1), to, self.tag + mate)
            for to in receivers
            if to != rank
            for mate in mates
        ]
        receives: list[Receiving] = []
        if rank in receivers:
            strangers = (r for r in range(len(room)) if r not in mates)
            receives = [
                Receiving(port, slot.size, self.dtype, leader, self.tag + r, into=slot)
                for r in strangers
                for slot, leader in [(room[r].reshape(-1), nodes.mates(r)[0])]
            ]
        yield from all_through(sends, receives)

    def finish(self) -> None:
        engine = self._layer.context.engine
        weights, *bias = (self.gradient(param) for param in self.learnable)
        self.factors.multiply(engine.xp.asarray(self._all()), weights, bias, engine)

    def _all(self) -> Array:
        """The factors of all ranks, a row for each of their rows, in the order of ranks."""
        room = self._rooms[self._turn]
        rows: Array = room.reshape(-1, room.shape[-1])
        return rows


class SfPush(Sfb):
    """Factors to one owner, who updates the weights and sends them back to all.

    A node sends K(M + N) values for each of its ranks, the owner (P − 1)MN besides.  Owners take
    turns over the parcels of a plan, and only they keep the history.
    """

    scheme = "sf-push"
    updates = True

    def __init__(
        self, fabric: Fabric, solver: Solver, params: Sequence[int], layer: int, number: int
    ) -> None:
        super().__init__(fabric, solver, params, layer, number)
        leaders = fabric.node.leaders
        self.owner = leaders[number % len(leaders)]
        alone = len(fabric.node.mates) == 1
        in_place = alone and len(self.params) == 1 and fabric.port.wire.exact
        self._result = None if in_place else fabric.communicator.share(self.count, self.dtype)

    def steps(self) -> Steps[None]:
        self.claim_weights()
        return super().steps()

    def held_by(self, rank: int) -> tuple[int, int]:
        return (0, self.count) if rank == self.owner else (0, 0)

    def _exchange(self, room: Array) -> Steps[None]:
        node, rank = self.fabric.node, self.fabric.communicator.rank
        result = self.weights[0] if self._result is None else self._result
        if len(node.leaders) > 1:
            self.fabric.port.wire.round(room[rank])
        yield from node.tell_leader(self.tag)
        if node.leads:
            yield from self._gather(room, [self.owner])
            if rank == self.owner:
                yield from self.fabric.verdict.wait()
                yield from self._update_all(result)
            yield from one_to_all(
                self.fabric.port, node.leaders, self.owner, result, self.tag + self.owner
            )
        yield from node.hear_leader(self.tag)
        self.publish(result)
        yield from node.tell_leader(self.tag)

    def _update_all(self, result: Array) -> Steps[None]:
        """The sum and the update, some rows of the weights at a time."""
        left, right = self.factors.sides(self._all())
        width = right.shape[1]
        rows = max(1, BLOCK // width)
        for row in range(0, left.shape[1], rows):
            gradient = (left[:, row : row + rows].T @ right).reshape(-1)
            at = slice(row * width, row * width + gradient.size)
            self.update(gradient, result[at], at.start, at.stop)
            yield True
        if len(self.params) > 1:
            begin = self.counts[0]
            gradient = self._all()[:, : self.factors.outputs].sum(axis=0)
            self.update(gradient, result[begin:], begin, self.count)

    def finish(self) -> None:
        pass
