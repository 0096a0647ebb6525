"""Training as TensorBoard's event files: the framing and the few messages it takes, by hand.

A record is a length (8 bytes), its checksum, the bytes and their checksum; the bytes are an Event:

    Event    { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5;
               SessionLog session_log = 7 }
    Summary  { repeated Value value = 1 }       Value { string tag = 1; float simple_value = 2 }
    SessionLog { Status status = 1 }            Status { START = 1 }
"""

from __future__ import annotations

import os
import socket
import struct
import time
from pathlib import Path

from pycaffe_dist import events as e
from pycaffe_dist.errors import FileError
from pycaffe_dist.proto.wire import I32, I64, VARINT, head, varint
from pycaffe_dist.report.metrics import Appender, by_name

VERSION = b"brain.Event:2"
START = 1


class TensorBoard:
    """Subscriber that writes scalars into an event file of its own in ``folder``.

    The smoothed loss and the learning rate are ``train/loss`` and ``train/lr``, the nets' outputs
    ``train/<name>`` and ``test0/<name>``.  A training output that is itself called loss or lr
    becomes ``train/output/<name>``.  A run that resumes in the same folder tells TensorBoard to
    drop what came after the iteration it begins with.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
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

    def on_SolveBegins(self, event: e.SolveBegins) -> None:
        if event.iteration:
            self._resumes(event.iteration)

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
