"""Snapshots: Caffe's two files, and a third with what Caffe forgets.

``<prefix>_iter_N.caffemodel`` and ``.solverstate`` (or both with ``.h5``) are Caffe's.  Beside them
``.pcdstate`` keeps the random generator, the state of layers that have one (where a data layer
stands, what a recurrent one remembers), which implementations computed, the solver's notes and the
checksums of the other two, so that resuming is exact.  It is written last: a snapshot that has it
is whole.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pycaffe_dist import caffe_log as log
from pycaffe_dist import loading, sidecar
from pycaffe_dist.aliases import Array, Facts
from pycaffe_dist.errors import FileError, NetError, PcdError
from pycaffe_dist.events import Restored, Snapshotted, Snapshotting
from pycaffe_dist.files import open_regular, reading
from pycaffe_dist.loading import copy_file
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.weights import State, Weights, read_state, read_weights
from pycaffe_dist.rng import generator, resume
from pycaffe_dist.solvers.capture import Capture, RankState, array_checksums
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
    """Write a snapshot of ``solver``, or have its writer do so; each file is whole or not there.

    Of several ranks, all call this and the first one writes.
    """
    stem = solver.snapshot_stem()
    with captured(solver) as capture:
        if capture is None:
            return
        weights, state = capture.paths(stem)
        _check_space(weights, capture.size)
        kind = "binary proto" if capture.binary else "HDF5"
        solver.tell(Snapshotting(solver.iter, "weights", kind, weights))
        solver.tell(Snapshotting(solver.iter, "state", kind, state))
        written = Snapshotted(solver.iter, weights, state)
        if solver.writer is not None:
            solver.writer.hand_over(capture, stem, lambda: solver.tell(written))
            return
        capture.write(stem)
    solver.tell(written)


@contextmanager
def captured(solver: Solver) -> Iterator[Capture | None]:
    """What a snapshot of all ranks holds, on rank 0: of the solver's own arrays, for as long."""
    ranks = [RankState(**s) for s in solver.ranks.gather(vars(RankState.of(solver)))]
    for (rank, p), values in solver.stepper.own_values().items():
        ranks[rank].own[p] = values
    with solver.stepper.whole_history() as history:
        first = solver.ranks.rank == 0
        yield Capture.of(solver, [blob.data for blob in history], ranks) if first else None


def paths(stem: str, param: SolverParameter) -> tuple[str, str]:
    """The weights and state files of a snapshot."""
    end = "" if param.snapshot_format == SolverParameter.BINARYPROTO else ".h5"
    return f"{stem}.caffemodel{end}", f"{stem}.solverstate{end}"


def _check_space(target: str, needed: int) -> None:
    free = shutil.disk_usage(Path(target).absolute().parent).free
    if free < needed:
        raise FileError(
            f"{target}: the snapshot needs {needed:,} bytes, {free:,} bytes are free; "
            "nothing was written"
        )


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


def _read(solver: Solver, path: str) -> tuple[Facts, Facts] | None:
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
        read = read_weights(weights)
        if stored:
            sidecar.compare(weights, read.checksum, stored[1])
            compare_arrays(path, read, state, stored[1])
        report = loading.judge(solver.net, [weights], [copy_file(solver.net, weights, read)])
        if report.missing:
            text = "%s: the layers %s, which %s has no weights for, continue with what it holds in "
            text += "their places: the history of others, if layers were renamed"
            log.warning("solver.cpp", text, path, ", ".join(report.missing), weights)
    log.info("sgd_solver.cpp:336", "SGDSolver: restoring history")
    for blob, values in zip(solver.history, state.history, strict=True):
        blob.data.reshape(-1)[:] = values.data.reshape(-1)
    solver.iter, solver.current_step = state.iter, state.current_step
    solver.plateau.minimum_loss = state.minimum_loss
    solver.plateau.last_event = state.iter_last_event
    return stored


def _third_file(path: str, state: State) -> tuple[Facts, Facts] | None:
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

    The one that the state names may be of a run that has continued there since.
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


def _set_state(solver: Solver, path: Path, arrays: Facts, facts: Facts) -> None:
    """Continue as the rank of this number did; a new one as rank 0, with its own random numbers."""
    solver.notes = facts.get("notes", {})
    rank, ranks = solver.ranks.rank, facts.get("ranks", 1)
    if rank < ranks:
        mark = f"{rank}:" if rank else ""
        _, place, has_gauss, gauss = facts[f"{mark}rng"]
        resume(generator(), arrays[f"{mark}rng"], place, has_gauss, gauss)
        solver.net.context.engine.give_choices(facts.get(f"{mark}choices", {}))
    nets = [solver.net, *solver.test_nets]
    for (n, i), states in _layer_states(arrays, facts).items():
        if n >= len(nets) or i >= len(nets[n].layers):
            raise FileError(f"{path}: was written by another net; remove it to continue without it")
        layer = nets[n].layers[i]
        if n > 0:  # test nets read everything on every rank
            layer.set_state(states[rank if rank < ranks else 0])
        elif ranks == solver.ranks.size:
            layer.set_state(states[rank])
        else:
            layer.set_state(layer.deal_state(states, rank, solver.ranks.size))


def _take_own(arrays: Facts) -> dict[tuple[int, int], Array]:
    """What ranks keep for themselves, by rank and parameter; other ranks need not get all of it."""
    names = [match for name in arrays if (match := _OWN.fullmatch(name))]
    return {(int(name[1] or 0), int(name[2])): arrays.pop(name[0]) for name in names}


def _layer_states(arrays: Facts, facts: Facts) -> dict[tuple[int, int], list[Facts]]:
    """What the layers of all ranks gave, by net and layer and then by rank."""
    found: dict[tuple[int, int], list[Facts]] = {}
    for full, value in {**arrays, **facts["layers"]}.items():
        if match := _OF_LAYER.fullmatch(full):
            owner, n, i = (int(number or 0) for number in match.groups()[:3])
            states = found.setdefault((n, i), [{} for _ in range(facts.get("ranks", 1))])
            states[owner][match[4]] = value
    return found


def read_notes(state_path: str) -> Facts:
    """The solver's notes in a snapshot; none, if it is Caffe's own."""
    where = sidecar.beside(state_path)
    notes: Facts = sidecar.read(where)[1]["notes"] if where.exists() else {}
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
    """Raise if a snapshot is damaged or lacks its third file, or if its files are not of one run.

    Without that file training would go on, but read data from the first record again.
    """
    weights, state = read_weights(snapshot.weights), read_state(snapshot.state)
    where = sidecar.beside(snapshot.state)
    if not where.exists():
        if state.checksum is not None:  # Caffe's have neither
            raise FileError(f"{where}: is not there; whoever wrote it was ended before")
        return
    facts = sidecar.read(where)[1]
    for path, checksum in zip(
        (snapshot.weights, snapshot.state), (weights.checksum, state.checksum), strict=True
    ):
        if not sidecar.fits(path, checksum, facts):
            raise FileError(f"{path}: is not what was written (size or checksum differ)")
    compare_arrays(snapshot.state, weights, state, facts)


def compare_arrays(path: str, weights: Weights, state: State, facts: Facts) -> None:
    """Compare arrays with what training had, if the files are those of the sidecar.

    Raises:
        FileError: one differs: it was damaged between memory and disk.
    """
    if facts["checksums"] != [weights.checksum, state.checksum]:
        return  # which is told as such
    blobs = (
        (f"{layer.name}/{j}", blob.data)
        for layer in weights.layers
        for j, blob in enumerate(layer.blobs)
        if blob is not None
    )
    found = array_checksums(blobs, (blob.data for blob in state.history))
    for name, checksum in facts["arrays"].items():
        if found.get(name, checksum) != checksum:
            raise FileError(
                f"{path}: the array {name} of this snapshot is not the one that training had: its "
                f"checksum is {found[name]:08x}, and was {checksum:08x}. Use an older snapshot."
            )


def remove(snapshot: Snapshot) -> None:
    """Delete a snapshot; the third file first, so that what is left never looks whole."""
    files = (snapshot.state, snapshot.weights, averaged(snapshot.weights))
    for path in (snapshot.stem + sidecar.SUFFIX, *files):
        Path(path).unlink(missing_ok=True)
