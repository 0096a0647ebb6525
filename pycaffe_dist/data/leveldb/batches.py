"""The updates in a database's logs: what was put and deleted since the last table was made."""

from __future__ import annotations

from pathlib import Path
from struct import Struct

from pycaffe_dist.data.leveldb.files import DELETION, VALUE, Bytes, damaged
from pycaffe_dist.data.leveldb.log import Payload, read_log
from pycaffe_dist.data.leveldb.manifest import Manifest
from pycaffe_dist.errors import FileError
from pycaffe_dist.proto.wire_format import WireError, read_varint

HEAD = Struct("<QI")  # sequence number of the first update, number of updates

# Of a key: sequence number << 8 | kind, and where its value is.
Update = tuple[int, Bytes | Payload, int, int]


def read_updates(folder: Path, manifest: Manifest) -> dict[bytes, Update]:
    """The last update of every key in the logs that have not become tables.

    Sequence numbers count every update of a database, so that a missing one is noticed.

    Raises:
        FileError: a log is missing, is damaged, or does not follow the one before it.
    """
    updates: dict[bytes, Update] = {}
    written = manifest.sequence or 0
    expected = None
    for path in _logs(folder, manifest):
        for payload in read_log(path):
            data = payload[:]
            if len(data) < HEAD.size:
                raise damaged(path, payload.offset(0), f"a batch has {len(data)} bytes")
            sequence, count = HEAD.unpack_from(data)
            # The log may have begun before the manifest was written.
            if not (sequence <= written + 1 if expected is None else sequence == expected):
                raise damaged(
                    path,
                    payload.offset(0),
                    f"update {expected or written + 1} should be here, and {sequence} is",
                )
            _replay(path, payload, data, updates)
            expected = sequence + count
    if expected is not None and expected <= written:
        raise damaged(path, path.stat().st_size, f"it ends with update {expected - 1} of {written}")
    return updates


def _logs(folder: Path, manifest: Manifest) -> list[Path]:
    numbers = {int(p.stem): p for p in folder.glob("*.log") if p.stem.isdigit()}
    if manifest.log and manifest.log not in numbers:
        raise FileError(
            f"{folder / f'{manifest.log:06}.log'}: is missing; it has the updates that came last. "
            "Restore the file, or make the database again."
        )
    wanted = [n for n in numbers if n >= (manifest.log or 0) or n == manifest.previous_log]
    return [numbers[n] for n in sorted(wanted)]


def _replay(path: Path, payload: Payload, data: bytes, updates: dict[bytes, Update]) -> None:
    sequence, count = HEAD.unpack_from(data)
    at, found = HEAD.size, 0
    try:
        while at < len(data):
            kind = data[at]
            size, at = read_varint(data, at + 1, len(data))
            key = data[at : at + size]
            at += size
            size = 0
            if kind == VALUE:
                size, at = read_varint(data, at, len(data))
            elif kind != DELETION:
                raise WireError(at, f"has an update of the unknown kind {kind}")
            updates[key] = ((sequence + found) << 8 | kind, *payload.place(at, at + size))
            at += size
            found += 1
        if at != len(data) or found != count:
            raise WireError(len(data) - 1, f"has {found} updates and says {count}")
    except WireError as e:
        raise damaged(path, payload.offset(e.at), f"a batch {e}") from e
