"""A snapshot as a value: all that a solver is at one iteration, for whoever writes it, and when."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from pycaffe_dist import sidecar
from pycaffe_dist.aliases import Facts
from pycaffe_dist.loading import NetWeights
from pycaffe_dist.memory import Array, Place, place
from pycaffe_dist.proto import hdf5
from pycaffe_dist.proto.blobs import BlobArray
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.seal import checksum_of
from pycaffe_dist.proto.weights import State, write_state
from pycaffe_dist.rng import generator
from pycaffe_dist.solvers.weight_average import averaged

if TYPE_CHECKING:
    from pycaffe_dist.solver import Solver


@dataclass
class RankState:
    """What the next step of one rank depends on, besides weights and history."""

    rng: list[str | float]
    keys: Array  # of the random generator
    layers: Facts  # "net/layer/key": what a layer's get_state gave
    choices: dict[str, str]  # what the engine computed with, where it had a choice
    own: dict[int, Array] = field(default_factory=dict)  # by parameter: residuals of its gradients

    @staticmethod
    def of(solver: Solver) -> RankState:
        name, keys, position, has_gauss, gauss = generator().get_state(legacy=True)
        layers = {
            f"{n}/{i}/{key}": value
            for n, net in enumerate([solver.net, *solver.test_nets])
            for i, layer in enumerate(net.layers)
            for key, value in layer.get_state().items()
        }
        rng = [name, position, has_gauss, gauss]
        return RankState(rng, np.asarray(keys), layers, solver.net.context.engine.choices())


@dataclass(frozen=True)
class Capture:
    """What a snapshot holds.

    Attributes:
        state: of the solver, without its history and the name of the weights.
        binary: whether Caffe's files are messages, and not HDF5.
        plateau: whether the learning rate follows the loss, which HDF5 has fields of its own for.
        averages: ``ema_decay``'s, if there are any.
    """

    state: State
    binary: bool
    plateau: bool
    weights: NetWeights
    averages: NetWeights | None
    history: list[Array]
    ranks: list[RankState]
    notes: Facts

    @staticmethod
    def of(solver: Solver, history: Iterable[Array], ranks: list[RankState]) -> Capture:
        """Of rank 0; its arrays are the solver's own."""
        p, seen = solver.param, solver.plateau
        state = State(solver.iter, "", [], solver.current_step, seen.minimum_loss, seen.last_event)
        return Capture(
            state,
            p.snapshot_format == SolverParameter.BINARYPROTO,
            p.lr_policy == "plateau",
            NetWeights.of(solver.net, p.snapshot_diff),
            solver.average.net_weights() if solver.average else None,
            list(history),
            ranks,
            solver.notes,
        )

    @property
    def size(self) -> int:
        """About how many bytes its files have."""
        own = sum(values.nbytes for rank in self.ranks for values in rank.own.values())
        return sum(values.nbytes for values in self._arrays()) + own + (1 << 16)

    def _arrays(self) -> Iterator[Array]:
        kinds = [*(self.weights.data), *(self.weights.diffs or []), self.history]
        yield from itertools.chain(*kinds, *(self.averages.data if self.averages else []))

    def copied(self, copies: Copies) -> Capture:
        """The same, of arrays that training does not change."""
        taken = copies.of(self._arrays())

        def copy(weights: NetWeights) -> NetWeights:
            def each(arrays: list[list[Array]]) -> list[list[Array]]:
                return [[taken[place(values)] for values in layer] for layer in arrays]

            diffs = each(weights.diffs) if weights.diffs is not None else None
            return replace(weights, data=each(weights.data), diffs=diffs)

        return replace(
            self,
            weights=copy(self.weights),
            averages=copy(self.averages) if self.averages else None,
            history=[taken[place(values)] for values in self.history],
            notes=dict(self.notes),
        )

    # -- its files ---------------------------------------------------------------------------

    def paths(self, stem: str) -> tuple[str, str]:
        """Its weights and state files under a name."""
        end = "" if self.binary else ".h5"
        return f"{stem}.caffemodel{end}", f"{stem}.solverstate{end}"

    def write(self, stem: str) -> None:
        """Write all files under a name, the third last; each is whole or not there."""
        weights, state = self.paths(stem)
        checksums = [self.weights.write(weights, self.binary), self._write_state(state, weights)]
        if self.averages:
            self.averages.write(averaged(weights), self.binary)
        self._write_sidecar(stem, checksums)

    def _write_state(self, path: str, weights: str) -> int:
        s = self.state
        if self.binary:
            history = [BlobArray(values) for values in self.history]
            return write_state(path, replace(s, learned_net=weights, history=history))
        plateau = (s.minimum_loss, s.iter_last_event) if self.plateau else None
        return hdf5.write_state(path, s.iter, weights, self.history, s.current_step, plateau)

    def _write_sidecar(self, stem: str, checksums: list[int]) -> None:
        """For all ranks; what belongs to rank r has "r:" before its name, but for rank 0."""
        arrays: Facts = {}
        facts: Facts = {
            "checksums": checksums,
            "arrays": array_checksums(self.weights.arrays(), self.history),
            "ranks": len(self.ranks),
            "notes": self.notes,
            "layers": {},
        }
        for rank, state in enumerate(self.ranks):
            mark = f"{rank}:" if rank else ""
            facts[f"{mark}rng"], arrays[f"{mark}rng"] = state.rng, state.keys
            facts[f"{mark}choices"] = state.choices
            arrays |= {f"{mark}own/{p}": values for p, values in state.own.items()}
            for name, value in state.layers.items():
                kept = arrays if isinstance(value, np.ndarray) else facts["layers"]
                kept[mark + name] = value
        sidecar.write(stem + sidecar.SUFFIX, arrays, facts)


def array_checksums(
    weights: Iterable[tuple[str, Array]], history: Iterable[Array]
) -> dict[str, int]:
    """The CRC-32C of every array of a snapshot, in single precision, as files have them."""
    found: dict[str, int] = {}
    numbered = ((f"history/{i}", values) for i, values in enumerate(history))
    for name, values in itertools.chain(((f"weights/{n}", v) for n, v in weights), numbered):
        if name not in found:  # of layers with one name the first
            found[name] = checksum_of(np.ascontiguousarray(values, np.float32))
    return found


class Copies:
    """Memory for copies of arrays, used again for the next ones."""

    def __init__(self) -> None:
        self._memory: list[Array] = []

    def of(self, arrays: Iterable[Array]) -> dict[Place, Array]:
        """By the place of each array, once where it is shared, a copy of it."""
        different = {place(values): values for values in arrays}
        old = [(copy.shape, copy.dtype) for copy in self._memory]
        if old != [(values.shape, values.dtype) for values in different.values()]:
            self._memory = [np.empty_like(values) for values in different.values()]
        for copy, values in zip(self._memory, different.values(), strict=True):
            np.copyto(copy, values)
        return dict(zip(different, self._memory, strict=True))
