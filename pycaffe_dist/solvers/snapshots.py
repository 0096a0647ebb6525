"""Snapshots: Caffe's two files, and a third with what Caffe forgets.

``<prefix>_iter_N.caffemodel`` and ``.solverstate`` (or both with ``.h5``) are Caffe's.  Beside them
``.pcdstate`` keeps the random generator, the state of layers that have one (where a data layer
stands, what a recurrent one remembers), which implementations computed, the solver's notes and the
checksums of the other two, so that going on is exact.  It is written last: a snapshot that has it
is whole.
"""

from __future__ import annotations

import fcntl
import glob
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pycaffe_dist import caffe_log as log
from pycaffe_dist import loading, sidecar
from pycaffe_dist.errors import FileError, NetError, PcdError
from pycaffe_dist.events import Restored, Snapshotted, Snapshotting
from pycaffe_dist.files import open_regular, reading
from pycaffe_dist.memory import Array
from pycaffe_dist.proto import hdf5
from pycaffe_dist.proto.blobs import BlobArray
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.weights import State, read_state, read_weights, write_state
from pycaffe_dist.rng import generator
from pycaffe_dist.solvers.weight_average import averaged

if TYPE_CHECKING:
    from pycaffe_dist.solver import Solver

# As written below: rank, net, layer and key; rank and parameter.
_OF_LAYER = re.compile(r"(?:(\d+):)?(\d+)/(\d+)/(.+)")
_OWN = re.compile(r"(?:(\d+):)?own/(\d+)")


# -- writing ---------------------------------------------------------------------------------------


def check_writable(stem: str) -> None:
    """Make and remove a probe file, before hours of work depend on it."""
    probe = Path(f"{stem}.tempfile")
    try:
        open_regular(probe, "ab").close()
        probe.unlink(missing_ok=True)  # another rank may have been here
    except (FileError, OSError) as e:
        raise FileError(
            f'cannot write to snapshot_prefix "{stem}": {e}. '
            "Make sure that the folder exists and may be written to."
        ) from e


def write(solver: Solver) -> None:
    """Write a snapshot of ``solver``; each file is whole or not there.

    Of several ranks, all call this and the first one writes.
    """
    states = [RankState(**s) for s in solver.ranks.gather(vars(_rank_state(solver)))]
    for (rank, p), values in solver.stepper.own_values().items():
        states[rank].own[p] = values
    with solver.stepper.whole_history() as history:
        if solver.ranks.rank == 0:
            _write(solver, [blob.data for blob in history], states)


def _write(solver: Solver, history: list[Array], states: list[RankState]) -> None:
    stem = solver.snapshot_stem()
    weights, state = paths(stem, solver.param)
    p = solver.param
    _check_space(solver, weights, sum(own.nbytes for s in states for own in s.own.values()))
    binary = p.snapshot_format == SolverParameter.BINARYPROTO
    kind = "binary proto" if binary else "HDF5"
    solver.tell(Snapshotting(solver.iter, "weights", kind, weights))
    save = loading.save_weights if binary else loading.save_weights_hdf5
    checksums = [save(solver.net, weights, p.snapshot_diff)]
    solver.tell(Snapshotting(solver.iter, "state", kind, state))
    seen = solver.plateau.minimum_loss, solver.plateau.last_event
    if binary:
        arrays = [BlobArray(values) for values in history]
        stored = State(solver.iter, weights, arrays, solver.current_step, *seen)
        checksums.append(write_state(state, stored))
    else:
        plateau = seen if p.lr_policy == "plateau" else None
        step = solver.current_step
        checksums.append(hdf5.write_state(state, solver.iter, weights, history, step, plateau))
    _write_sidecar(states, solver.notes, stem, checksums)
    solver.tell(Snapshotted(solver.iter, weights, state))


def paths(stem: str, param: SolverParameter) -> tuple[str, str]:
    """The weights and state files of a snapshot."""
    end = "" if param.snapshot_format == SolverParameter.BINARYPROTO else ".h5"
    return f"{stem}.caffemodel{end}", f"{stem}.solverstate{end}"


def _check_space(solver: Solver, target: str, own: int) -> None:
    params = sum(p.blob.count for p in solver.net.params.learnable)
    values = params * (2 if solver.param.snapshot_diff else 1)
    needed = 4 * (values + sum(blob.count for blob in solver.history)) + own + (1 << 16)
    free = shutil.disk_usage(Path(target).absolute().parent).free
    if free < needed:
        raise FileError(
            f"{target}: the snapshot needs {needed:,} bytes, {free:,} bytes are free; "
            "nothing was written"
        )


@dataclass
class RankState:
    """What the next step of one rank depends on, besides weights and history."""

    rng: list[Any]
    keys: Array  # of the random generator
    layers: dict[str, Any]  # "net/layer/key": what a layer's get_state gave
    choices: dict[str, str]  # what the engine computed with, where it had a choice
    own: dict[int, Array] = field(default_factory=dict)  # by parameter: residuals of its gradients


def _rank_state(solver: Solver) -> RankState:
    name, keys, position, has_gauss, gauss = generator().get_state(legacy=True)
    layers = {
        f"{n}/{i}/{key}": value
        for n, net in enumerate([solver.net, *solver.test_nets])
        for i, layer in enumerate(net.layers)
        for key, value in layer.get_state().items()
    }
    rng = [name, position, has_gauss, gauss]
    return RankState(rng, np.asarray(keys), layers, solver.net.context.engine.choices())


def _write_sidecar(
    states: list[RankState], notes: dict[str, Any], stem: str, checksums: list[int]
) -> None:
    """One file for all ranks; what belongs to rank r has "r:" before its name, but for rank 0."""
    arrays: dict[str, Any] = {}
    facts: dict[str, Any] = {
        "checksums": checksums,
        "ranks": len(states),
        "notes": notes,
        "layers": {},
    }
    for rank, state in enumerate(states):
        mark = f"{rank}:" if rank else ""
        facts[f"{mark}rng"], arrays[f"{mark}rng"] = state.rng, state.keys
        facts[f"{mark}choices"] = state.choices
        arrays |= {f"{mark}own/{p}": values for p, values in state.own.items()}
        for name, value in state.layers.items():
            kept = arrays if isinstance(value, np.ndarray) else facts["layers"]
            kept[mark + name] = value
    sidecar.write(stem + sidecar.SUFFIX, arrays, facts)


# -- reading ---------------------------------------------------------------------------------------


def restore(solver: Solver, path: str) -> None:
    """Bring ``solver`` to where a state file stands; exactly, if our third file is beside it.

    Of several ranks, all call this and the first one reads.
    """
    stored = _read(solver, path) if solver.ranks.rank == 0 else None
    own = _take_own(stored[0]) if stored else {}
    stored = solver.ranks.restored(stored)
    solver.stepper.deal_own_values(own)
    if stored:
        where = sidecar.beside(path)
        with reading(where, sidecar.PROBLEM):
            _set_state(solver, where, *stored)
    solver.tell(Restored(solver.iter, path))


def _read(solver: Solver, path: str) -> tuple[dict[str, Any], dict[str, Any]] | None:
    state = read_state(path)
    stored = _third_file(path, state)
    if len(state.history) != len(solver.history):
        raise NetError(
            f"{path}: holds {len(state.history)} history blobs, a {solver.param.type} solver of "
            f"this net has {len(solver.history)}. Was it written by another solver type or net?"
        )
    for i, (blob, values) in enumerate(zip(solver.history, state.history, strict=True)):
        if values.data.size != blob.count:
            raise NetError(
                f"{path}: history blob {i} has the shape {values.shape}, "
                f"this net needs {blob.shape}"
            )
    if state.learned_net:
        weights = _weights_beside(path, state.learned_net)
        report = loading.load_weights(solver.net, weights)
        if stored:
            sidecar.compare(weights, report.checksum, stored[1])
        if report.missing:
            text = "%s: the layers %s, which %s has no weights for, go on with what it holds in "
            text += "their places: the history of others, if layers were renamed"
            log.warning("solver.cpp", text, path, ", ".join(report.missing), weights)
    log.info("sgd_solver.cpp:336", "SGDSolver: restoring history")
    for blob, values in zip(solver.history, state.history, strict=True):
        blob.data.reshape(-1)[:] = values.data.reshape(-1)
    solver.iter, solver.current_step = state.iter, state.current_step
    solver.plateau.minimum_loss = state.minimum_loss
    solver.plateau.last_event = state.iter_last_event
    return stored


def _third_file(path: str, state: State) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """What is in the sidecar of a state; Caffe's have none."""
    where = sidecar.beside(path)
    if where.exists():
        stored = sidecar.read(where)
        sidecar.compare(path, state.checksum, stored[1])
        return stored
    if state.checksum is not None:
        text = "%s is not there: data begin at the first record, and random numbers anew"
        log.warning("solver.cpp", text, where)
    return None


def _weights_beside(state_path: str, learned_net: str) -> str:
    """The weights file: beside the state, from where both may have been copied, or where it says.

    The one that the state names may be of a run that went on there since.
    """
    beside = os.path.join(os.path.dirname(state_path), os.path.basename(learned_net))
    if not os.path.exists(beside):
        return learned_net
    if not os.path.exists(learned_net):
        text = "Weights are taken from %s, beside the state; %s, which it names, is not there"
        log.info("solver.cpp", text, beside, learned_net)
    elif not os.path.samefile(beside, learned_net):
        text = "Weights are taken from %s, beside the state, and not from %s, which it names"
        log.warning("solver.cpp", text, beside, learned_net)
    return beside


def _set_state(solver: Solver, path: Path, arrays: dict[str, Any], facts: dict[str, Any]) -> None:
    """Go on as the rank of this number did; a new one as rank 0, with random numbers of its own."""
    solver.notes = facts.get("notes", {})
    rank, ranks = solver.ranks.rank, facts.get("ranks", 1)
    if rank < ranks:
        mark = f"{rank}:" if rank else ""
        name, position, has_gauss, gauss = facts[f"{mark}rng"]
        generator().set_state((name, arrays[f"{mark}rng"], position, has_gauss, gauss))
        solver.net.context.engine.give_choices(facts.get(f"{mark}choices", {}))
    nets = [solver.net, *solver.test_nets]
    for (n, i), states in _layer_states(arrays, facts).items():
        if n >= len(nets) or i >= len(nets[n].layers):
            raise FileError(f"{path}: was written by another net; remove it to go on without it")
        layer = nets[n].layers[i]
        if n > 0:  # test nets read everything on every rank
            layer.set_state(states[rank if rank < ranks else 0])
        elif ranks == solver.ranks.size:
            layer.set_state(states[rank])
        else:
            layer.set_state(layer.deal_state(states, rank, solver.ranks.size))


def _take_own(arrays: dict[str, Any]) -> dict[tuple[int, int], Array]:
    """What ranks keep for themselves, by rank and parameter; other ranks need not get all of it."""
    names = [match for name in arrays if (match := _OWN.fullmatch(name))]
    return {(int(name[1] or 0), int(name[2])): arrays.pop(name[0]) for name in names}


def _layer_states(
    arrays: dict[str, Any], facts: dict[str, Any]
) -> dict[tuple[int, int], list[dict[str, Any]]]:
    """What the layers of all ranks gave, by net and layer and then by rank."""
    found: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for full, value in {**arrays, **facts["layers"]}.items():
        if match := _OF_LAYER.fullmatch(full):
            owner, n, i = (int(number or 0) for number in match.groups()[:3])
            states = found.setdefault((n, i), [{} for _ in range(facts.get("ranks", 1))])
            states[owner][match[4]] = value
    return found


def read_notes(state_path: str) -> dict[str, Any]:
    """The solver's notes in a snapshot; none, if it is Caffe's own."""
    where = sidecar.beside(state_path)
    notes: dict[str, Any] = sidecar.read(where)[1]["notes"] if where.exists() else {}
    return notes


# -- which there are -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Snapshot:
    """A snapshot on disk."""

    iteration: int
    stem: str
    weights: str
    state: str


def find(prefix: str) -> list[Snapshot]:
    """The snapshots of a prefix that have both of Caffe's files, oldest first."""
    folder, base = os.path.split(prefix)
    found = []
    pattern = re.compile(re.escape(base) + r"_iter_(\d+)\.solverstate(\.h5)?$")
    for entry in os.listdir(folder or "."):
        match = pattern.match(entry)
        if match:
            stem = os.path.join(folder, f"{base}_iter_{match[1]}")
            end = match[2] or ""
            weights = f"{stem}.caffemodel{end}"
            if os.path.exists(weights):
                found.append(Snapshot(int(match[1]), stem, weights, f"{stem}.solverstate{end}"))
    return sorted(found, key=lambda s: s.iteration)


def newest_whole(prefix: str) -> Snapshot | None:
    """The newest snapshot that can be read and, if ours, has the checksums it was written with."""
    for snapshot in reversed(find(prefix)):
        try:
            verify(snapshot)
        except PcdError as e:
            log.warning("solver.cpp", "Passing over a damaged snapshot: %s", e)
            continue
        return snapshot
    return None


def verify(snapshot: Snapshot) -> None:
    """Raise if a snapshot is damaged, or if its files are not of one run."""
    checksums = read_weights(snapshot.weights).checksum, read_state(snapshot.state).checksum
    where = sidecar.beside(snapshot.state)
    if not where.exists():  # as Caffe's
        return
    facts = sidecar.read(where)[1]
    for path, checksum in zip((snapshot.weights, snapshot.state), checksums, strict=True):
        if not sidecar.fits(path, checksum, facts):
            raise FileError(f"{path}: is not what was written (size or checksum differ)")


@contextmanager
def only_run(prefix: str) -> Iterator[None]:
    """Hold a prefix for one run, and clear away what a killed one has left half-written.

    Raises:
        FileError: another run is writing to the prefix.
    """
    folder, base = os.path.split(prefix)
    path = Path(folder) / f".{base}.lock"
    try:
        lock = open_regular(path, "ab")
    except FileError as e:
        raise FileError(f"{prefix}: snapshots cannot be written there: {e}") from e
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as e:
            raise FileError(
                f'another run is writing snapshots to "{prefix}". Wait for it, or choose another '
                "snapshot_prefix."
            ) from e
        except OSError:
            pass  # a file system without locks: nothing can be told
        for left in Path(folder).glob(f".{glob.escape(base)}_iter_*.tmp"):
            left.unlink(missing_ok=True)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def remove(snapshot: Snapshot) -> None:
    """Delete a snapshot; the third file first, so that what is left never looks whole."""
    files = (snapshot.state, snapshot.weights, averaged(snapshot.weights))
    for path in (snapshot.stem + sidecar.SUFFIX, *files):
        Path(path).unlink(missing_ok=True)
