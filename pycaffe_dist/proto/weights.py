"""Weights (.caffemodel), solver state (.solverstate), both also as HDF5, and mean images.

Reading takes a minimal view: the name, type and blobs of each layer, nothing else.  Forks use the
same field numbers for different things, but all of them keep these.  Values are views of the one
buffer a file is read into; none of them ever is a Python object.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import IO, TypeVar

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import atomic_write
from pycaffe_dist.proto import hdf5, wire_format
from pycaffe_dist.proto.blobs import BlobArray, blob_parts, read_blob, size_of
from pycaffe_dist.proto.bvlc import written
from pycaffe_dist.proto.caffe_pb2 import NetParameter, SolverState
from pycaffe_dist.proto.seal import load, load_end, seal
from pycaffe_dist.proto.sniff import describe, message_kind
from pycaffe_dist.proto.upgrade import V0_TYPE_NAMES, V1_TYPE_NAMES
from pycaffe_dist.proto.wire_format import LEN, VARINT, WireError

T = TypeVar("T")
Path_ = str | os.PathLike[str]
MOST_PARTS = 1 << 17  # layers and blobs of one file


@dataclass
class LayerWeights:
    """The stored blobs of one layer; the type is "" where the file does not tell.

    None stands for a blob that an HDF5 file keeps with another layer.
    """

    name: str
    type: str = ""
    blobs: list[BlobArray | None] = field(default_factory=list)


@dataclass
class Weights:
    """A weights file: its net's name and its layers, in the file's order.

    ``checksum`` is the one in the file, which fits it; None if there is none.
    """

    name: str
    layers: list[LayerWeights]
    checksum: int | None = None


@dataclass
class State:
    """A solver's state: the iteration, the weights file that goes with it, and the history."""

    iter: int = 0
    learned_net: str = ""
    history: list[BlobArray] = field(default_factory=list)
    current_step: int = 0
    minimum_loss: float = 1e38  # these two of SSD's, for its policy "plateau"
    iter_last_event: int = 0
    checksum: int | None = None  # as of Weights


# -- reading --------------------------------------------------------------------------------------


def read_weights(path: Path_) -> Weights:
    """Read a .caffemodel, binary or HDF5, of any age and any known fork.

    Raises:
        FileError: the file cannot be read, is cut short or is something else: it says what.
    """
    if hdf5.is_hdf5(path):
        image, checksum = load_end(path)
        found = hdf5.read_layers(path, image)
        layers = [LayerWeights(name, "", blobs) for name, blobs in found]
        return Weights("", layers, checksum)
    weights, checksum = _parsed(path, "NetParameter", "weights (.caffemodel)", _read_net)
    weights.checksum = checksum
    return weights


def read_state(path: Path_) -> State:
    """Read a .solverstate, binary or HDF5; errors as :func:`read_weights`."""
    if hdf5.is_hdf5(path):
        image, checksum = load_end(path)
        state = State(*hdf5.read_state(path, image), checksum)
    else:
        state, checksum = _parsed(path, "SolverState", "a solver state (.solverstate)", _read_state)
        state.checksum = checksum
    if min(state.iter, state.current_step) < 0:
        raise FileError(
            f"{path}: is damaged: it is of iteration {state.iter}, current_step is "
            f"{state.current_step}; neither is ever below 0. Fetch it again, or use an older one."
        )
    return state


def read_binaryproto(path: Path_) -> BlobArray:
    """Read one array, such as a mean image; errors as :func:`read_weights`."""
    return _parsed(path, "BlobProto", "one array (.binaryproto)", read_blob)[0]


_TEXT = "is a text file (a .prototxt, perhaps)"


def _parsed(
    path: Path_, message: str, wanted: str, parse: Callable[[memoryview, int, int], T]
) -> tuple[T, int | None]:
    """What a file holds, and its checksum, if it has one."""
    data, checksum = load(path, wire_format.MOST_BYTES)
    buffer = memoryview(data)
    kind = describe(bytes(buffer[:4096]))
    # An empty message is a valid one to protobuf, but nobody means an empty file.
    if kind not in ("binary", "text"):
        raise FileError(f"{path}: is {kind}; {wanted} was expected here")
    found = message_kind(buffer, message)
    if found != message:
        found = _TEXT if kind == "text" else found
        raise FileError(f"{path}: {found}; {wanted} was expected here")
    try:
        return parse(buffer, 0, len(buffer)), checksum
    except WireError as e:
        if kind == "text":
            raise FileError(f"{path}: {_TEXT}; {wanted} was expected here") from e
        cut = " The file is cut short or damaged: fetch it again." if e.at >= len(buffer) else ""
        raise FileError(
            f"{path}: {e} (at byte {e.at:,} of {len(buffer):,}); {wanted} was expected here.{cut}"
        ) from e


def _string(buffer: memoryview, f: wire_format.Field) -> str:
    return bytes(buffer[f.begin : f.end]).decode("utf-8", "replace")


# Where each format of a layer keeps (name, type, blobs).
_V2, _V1, _V0 = (1, 2, 7), (4, 5, 6), (1, 2, 50)


def _read_net(buffer: memoryview, begin: int, end: int) -> Weights:
    weights = Weights("", [])
    formats = set()
    blobs = 0
    try:
        for f in wire_format.fields(buffer, begin, end):
            if f.number == 1 and f.wire == LEN:
                weights.name = _string(buffer, f)
            elif f.number in (2, 100) and f.wire == LEN:
                formats.add(f.number)
                weights.layers.append(_read_layer(buffer, f, _V2 if f.number == 100 else _V1))
                blobs += len(weights.layers[-1].blobs)
                _within_budget(f.begin, blobs + len(weights.layers), "layers and blobs")
    except WireError as e:
        raise WireError(e.at, f"after {len(weights.layers)} whole layers {e}") from e
    if len(formats) == 2:
        raise WireError(
            begin, "mixes `layer` and `layers`: it is two files in one, which Caffe refuses too"
        )
    return weights


def _within_budget(at: int, found: int, what: str) -> None:
    """An empty blob takes two bytes of a file, and two hundred times as many of memory."""
    if found > MOST_PARTS:
        raise WireError(at, f"holds more than {MOST_PARTS:,} {what}, which no net has")


def _read_layer(
    buffer: memoryview, at: wire_format.Field, numbers: tuple[int, int, int]
) -> LayerWeights:
    name_number, type_number, blobs_number = numbers
    layer = LayerWeights("")
    for f in wire_format.fields(buffer, at.begin, at.end):
        if f.number == name_number and f.wire == LEN:
            layer.name = _string(buffer, f)
        elif f.number == type_number and f.wire == LEN:
            layer.type = _string(buffer, f)
        elif f.number == type_number and f.wire == VARINT:
            layer.type = V1_TYPE_NAMES.get(f.value, "")
        elif f.number == blobs_number and f.wire == LEN:
            try:
                layer.blobs.append(read_blob(buffer, f.begin, f.end))
                _within_budget(f.begin, len(layer.blobs), "blobs")
            except WireError as e:
                raise WireError(e.at, f'layer "{layer.name}", blob {len(layer.blobs)} {e}') from e
        elif numbers is _V1 and f.number == 1 and f.wire == LEN:
            layer = _read_layer(buffer, f, _V0)
            layer.type = V0_TYPE_NAMES.get(layer.type, "")
            return layer
    return layer


def _read_state(buffer: memoryview, begin: int, end: int) -> State:
    state = State()
    for f in wire_format.fields(buffer, begin, end):
        if f.number == 1 and f.wire == VARINT:
            state.iter = wire_format.signed(f.value)
        elif f.number == 2 and f.wire == LEN:
            state.learned_net = _string(buffer, f)
        elif f.number == 3 and f.wire == LEN:
            try:
                state.history.append(read_blob(buffer, f.begin, f.end))
                _within_budget(f.begin, len(state.history), "blobs")
            except WireError as e:
                raise WireError(e.at, f"history blob {len(state.history)} {e}") from e
        elif f.number == 4 and f.wire == VARINT:
            state.current_step = wire_format.signed(f.value)
        elif f.number == 5 and f.wire == wire_format.I32:
            state.minimum_loss = float(np.frombuffer(buffer[f.begin : f.end], "<f4")[0])
        elif f.number == 6 and f.wire == VARINT:
            state.iter_last_event = wire_format.signed(f.value)
    return state


# -- writing --------------------------------------------------------------------------------------


def write_weights(
    path: Path_,
    net: NetParameter,
    blobs: Sequence[Sequence[Array]],
    diffs: Sequence[Sequence[Array]] | None = None,
) -> int:
    """Write a binary .caffemodel, whole or not at all; its checksum.

    Behind a seal (:mod:`pycaffe_dist.proto.seal`) it has what Caffe would write, byte for byte.

    Args:
        path: the file to make or replace.
        net: the net as built (splits included), its layers without blobs.
        blobs: for each layer of ``net``, its arrays.
        diffs: the same with gradients, to be stored too.
    """
    everything: list[bytes | memoryview] = []
    bare = NetParameter()
    bare.CopyFrom(net)
    bare.ClearField("layer")
    everything.append(written(bare))
    for i, layer in enumerate(net.layer):
        parts: list[bytes | memoryview] = []
        for j, data in enumerate(blobs[i]):
            blob = blob_parts(data, diffs[i][j] if diffs else None)
            parts += [wire_format.head(_V2[2], size_of(blob)), *blob]
        before, after = _split_at(written(layer), _V2[2])
        parts = [before, *parts, after]
        everything += [wire_format.head(100, size_of(parts)), *parts]
    return write_sealed(path, everything)


def write_state(path: Path_, state: State) -> int:
    """Write a binary .solverstate; as :func:`write_weights`."""
    bare = SolverState(
        iter=state.iter, learned_net=state.learned_net, current_step=state.current_step
    )
    before, after = _split_at(bare.SerializeToString(), 3)
    if state.minimum_loss != State.minimum_loss:
        after += (
            wire_format.varint(5 << 3 | wire_format.I32) + np.float32(state.minimum_loss).tobytes()
        )
        after += wire_format.varint(6 << 3 | VARINT) + wire_format.varint(state.iter_last_event)
    parts: list[bytes | memoryview] = [before]
    for entry in state.history:
        blob = blob_parts(entry.data)
        parts += [wire_format.head(3, size_of(blob)), *blob]
    return write_sealed(path, [*parts, after])


def write_binaryproto(path: Path_, array: Array) -> None:
    """Write one array.  Up to four axes take the old dimensions, which every Caffe reads."""
    shape = array.shape
    if len(shape) > 4:
        _write_parts(path, blob_parts(array))
        return
    dims = (1,) * (4 - len(shape)) + shape
    legacy = b"".join(
        wire_format.varint(number << 3 | VARINT) + wire_format.varint(d)
        for number, d in enumerate(dims, 1)
    )
    flat = np.asarray(array, "<f4").reshape(-1)
    _write_parts(path, [legacy, *blob_parts(flat)[:-1]])


def _split_at(message: bytes, number: int) -> tuple[bytes, bytes]:
    """A serialized message without field ``number``, cut where that field belongs."""
    view, at = memoryview(message), 0
    for f in wire_format.fields(view, 0, len(view)):
        if f.number > number:
            break
        at = f.end
    return message[:at], message[at:]


def write_sealed(path: Path_, parts: Sequence[bytes | memoryview]) -> int:
    """Write the parts of a message behind their checksum, which is returned."""
    first, checksum = seal(parts)
    _write_parts(path, [first, *parts])
    return checksum


def _write_parts(path: Path_, parts: Sequence[bytes | memoryview]) -> None:
    size = size_of(parts)
    if size > wire_format.MOST_BYTES:
        raise FileError(
            f"{path}: {size:,} bytes would be written; Caffe's binary format ends at 2 GiB. "
            "Write HDF5 instead (snapshot_format: HDF5)."
        )
    with atomic_write(path) as file:
        _write_all(file, parts)


def _write_all(file: IO[bytes], parts: Sequence[bytes | memoryview]) -> None:
    for part in parts:
        file.write(part)
