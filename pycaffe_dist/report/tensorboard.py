"""Training as TensorBoard's event files: the framing and the few messages it takes, by hand.

A record is a length (8 bytes), its checksum, the bytes and their checksum; the bytes are an Event:

    Event    { double wall_time = 1; int64 step = 2; string file_version = 3; bytes graph_def = 4;
               Summary summary = 5; SessionLog session_log = 7 }
    Summary  { repeated Value value = 1 }
    Value    { string tag = 1; float simple_value = 2; Image image = 4; HistogramProto histo = 5 }
    SessionLog { Status status = 1 }            Status { START = 1 }
    GraphDef { repeated NodeDef node = 1 }
    NodeDef  { string name = 1; string op = 2; repeated string input = 3 }
    Image    { int32 height = 1; int32 width = 2; int32 colorspace = 3;
               bytes encoded_image_string = 4 }
    HistogramProto { double min = 1; double max = 2; double num = 3; double sum = 4;
               double sum_squares = 5; repeated double bucket_limit = 6;
               repeated double bucket = 7 }
"""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pycaffe_dist import events as e
from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import View
from pycaffe_dist.errors import FileError
from pycaffe_dist.net import Net
from pycaffe_dist.pictures import png, tiles
from pycaffe_dist.proto.wire_format import I32, I64, VARINT, head, varint
from pycaffe_dist.report.metrics import Appender, by_name

VERSION = b"brain.Event:2"
START = 1
BINS, MOST_COUNTED = 30, 1 << 20  # of a histogram: bars, and values that are looked at
COLORS = 3  # red, green, blue


class TensorBoard:
    """Subscriber that writes scalars into an event file of its own in ``folder``.

    The smoothed loss and the learning rate are ``train/loss`` and ``train/lr``, the nets' outputs
    ``train/<name>`` and ``test0/<name>``.  A training output that is itself called loss or lr
    becomes ``train/output/<name>``.  A run that resumes in the same folder tells TensorBoard to
    drop what came after the iteration it begins with.

    Of a net that it is given it draws the graph when solving begins, and at each test the
    histograms of the parameters and, of the first convolution, the filters.
    """

    def __init__(self, folder: str | os.PathLike[str], net: Net | None = None) -> None:
        self.net = net
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"{folder}: cannot be made: {error.strerror or error}") from error
        # TensorBoard reads the files of a folder in the order of their names.
        name = f"events.out.tfevents.{time.time():.6f}.{socket.gethostname()}.{os.getpid()}"
        self._append = Appender(Path(folder) / name)
        self._event(0, head(3, len(VERSION)) + VERSION)

    def __call__(self, event: e.Event) -> None:
        write = getattr(self, f"on_{type(event).__name__}", None)
        if write is not None:
            write(event)

    def __enter__(self) -> TensorBoard:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is left to write: each record is whole when it is written."""

    def on_SolveBegins(self, event: e.SolveBegins) -> None:
        if event.iteration:
            self._resumes(event.iteration)
        elif self.net is not None:
            self._event(0, _message(4, graph_of(self.net)))

    def on_Restored(self, event: e.Restored) -> None:
        self._resumes(event.iteration)

    def on_Displayed(self, event: e.Displayed) -> None:
        outputs = by_name((o.name, o.value) for o in event.outputs)
        scalars = {
            f"train/output/{name}" if name in ("loss", "lr") else f"train/{name}": value
            for name, value in outputs.items()
        }
        self._scalars(event, {"train/loss": event.loss, **scalars})

    def on_LastLoss(self, event: e.LastLoss) -> None:
        self._scalars(event, {"train/loss": event.loss})

    def on_RateChosen(self, event: e.RateChosen) -> None:
        self._scalars(event, {"train/lr": event.rate})

    def on_Tested(self, event: e.Tested) -> None:
        outputs = by_name((o.name, o.value) for o in event.outputs)
        scalars = {f"test{event.net}/{name}": value for name, value in outputs.items()}
        if event.loss is not None:
            scalars[f"test{event.net}/total_loss"] = event.loss
        self._scalars(event, scalars)
        if self.net is not None and event.net == 0:
            self._event(event.iteration, _message(5, b"".join(_weights(self.net))))

    def _scalars(self, event: e.Event, scalars: dict[str, float]) -> None:
        values = b"".join(_message(1, _value(tag, value)) for tag, value in scalars.items())
        self._event(event.iteration, _message(5, values))

    def _resumes(self, iteration: int) -> None:
        self._event(iteration, _message(7, varint(1 << 3 | VARINT) + varint(START)))

    def _event(self, step: int, what: bytes) -> None:
        wall_time = varint(1 << 3 | I64) + struct.pack("<d", time.time())
        self._append(record(wall_time + varint(2 << 3 | VARINT) + varint(step) + what))


def _message(number: int, content: bytes) -> bytes:
    return head(number, len(content)) + content


def _value(tag: str, value: float) -> bytes:
    return _message(1, tag.encode()) + varint(2 << 3 | I32) + _float32(value)


def _float32(value: float) -> bytes:
    try:
        return struct.pack("<f", value)
    except OverflowError:  # struct refuses what C would turn into infinity
        return struct.pack("<f", float("inf") if value > 0 else float("-inf"))


# -- a net -----------------------------------------------------------------------------------------


def graph_of(net: Net) -> bytes:
    """A GraphDef: a node for each layer as it is written, fed by those that made its bottoms."""
    made: dict[str, str] = {}
    nodes = []
    for layer in net.written.layer:
        fed = (made[bottom] for bottom in dict.fromkeys(layer.bottom) if bottom in made)
        parts = [(1, layer.name), (2, layer.type), *((3, name) for name in fed)]
        nodes.append(_message(1, b"".join(_message(n, text.encode()) for n, text in parts)))
        made |= dict.fromkeys(layer.top, layer.name)
    return b"".join(nodes)


def _weights(net: Net) -> Iterator[bytes]:
    """A Value for each parameter, and one for the first filters."""
    pictured = False
    for name, layer in zip(net.layer_names, net.layers, strict=True):
        for i, blob in enumerate(layer.blobs):
            values = View(blob).data  # which is only read
            tag = _message(1, f"{name}/{i}".encode())
            yield _message(1, tag + _message(5, histogram(values)))
            if not pictured and values.ndim == 4 and values.shape[2] > 1:
                pictured = True
                yield _message(1, tag + _message(4, _image(values)))


def histogram(values: Array) -> bytes:
    """A HistogramProto of the finite values, or of each k-th of very many."""
    flat = values.reshape(-1)
    flat = flat[:: max(1, flat.size // MOST_COUNTED)].astype(np.float64)
    flat = flat[np.isfinite(flat)]
    if not flat.size:
        return b""
    counts, edges = np.histogram(flat, BINS)
    sums = (flat.min(), flat.max(), flat.size, flat.sum(), (flat * flat).sum())
    said = b"".join(varint(n << 3 | I64) + struct.pack("<d", v) for n, v in enumerate(sums, 1))
    for number, row in ((6, edges[1:]), (7, counts)):
        said += _message(number, np.asarray(row, "<f8").tobytes())
    return said


def _image(filters: Array) -> bytes:
    colored = filters.shape[1] == 3
    sheet = tiles(filters if colored else filters.reshape(-1, *filters.shape[2:]))
    sizes = enumerate((*sheet.shape[:2], COLORS), 1)
    said = b"".join(varint(n << 3 | VARINT) + varint(size) for n, size in sizes)
    return said + _message(4, png(sheet))


# -- framing ---------------------------------------------------------------------------------------


def record(content: bytes) -> bytes:
    """``content`` with its length, both with their checksums."""
    length = struct.pack("<Q", len(content))
    return length + _masked(length) + content + _masked(content)


def _masked(content: bytes) -> bytes:
    crc = crc32c(content)
    rotated = crc >> 15 | crc << 17
    return struct.pack("<I", rotated + 0xA282EAD8 & 0xFFFFFFFF)


def crc32c(content: bytes) -> int:
    """CRC-32 with Castagnoli's polynomial."""
    crc = 0xFFFFFFFF
    for byte in content:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def _table() -> list[int]:
    rows = list(range(256))
    for _ in range(8):
        rows = [row >> 1 ^ (0x82F63B78 if row & 1 else 0) for row in rows]
    return rows


_TABLE = _table()
