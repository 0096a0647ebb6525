import math
import struct

import pytest

from pycaffe_dist import events as e
from pycaffe_dist.errors import FileError
from pycaffe_dist.report.tensorboard import TensorBoard, crc32c

EVENTS = (
    e.SolveBegins(0, "LeNet", "inv", 200),
    e.Tested(0, 0, [e.Output(0, "accuracy", 0.125), e.Output(1, "loss", 2.5, 1.0)]),
    e.Tested(0, 1, [e.Output(0, "recall", 0.25), e.Output(1, "recall", 0.5)], loss=3.0),
    e.Displayed(0, 2.5, 0.0, 0.1, 100, [e.Output(0, "aux", 0.5), e.Output(1, "loss", 2.0, 1.0)]),
    e.RateChosen(0, 0.0625),
    e.LastLoss(300, 0.75),
)
SCALARS = [
    (0, "test0/accuracy", 0.125),
    (0, "test0/loss", 2.5),
    (0, "test1/recall", 0.25),
    (0, "test1/recall[1]", 0.5),
    (0, "test1/total_loss", 3.0),
    (0, "train/loss", 2.5),
    (0, "train/aux", 0.5),
    (0, "train/output/loss", 2.0),
    (0, "train/lr", 0.0625),
    (300, "train/loss", 0.75),
]


def bitwise_crc32c(content):
    crc = 0xFFFFFFFF
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def unmasked(crc):
    rotated = (crc - 0xA282EAD8) % 2**32
    return (rotated >> 17 | rotated << 15) % 2**32


def records(content):
    while content:
        (size, check) = struct.unpack_from("<QI", content)
        assert unmasked(check) == bitwise_crc32c(content[:8])
        data = content[12 : 12 + size]
        (check,) = struct.unpack_from("<I", content, 12 + size)
        assert unmasked(check) == bitwise_crc32c(data)
        yield data
        content = content[16 + size :]


def message(data):
    """Fields of a protobuf message: number -> values."""
    found, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = number()
        kind = tag & 7
        if kind == 0:
            value = number()
        else:
            size = {1: 8, 2: None, 5: 4}[kind]
            size = number() if size is None else size
            value, at = data[at : at + size], at + size
        found.setdefault(tag >> 3, []).append(value)
    return found


def scalars(file):
    for data in records(file.read_bytes()):
        event = message(data)
        for summary in event.get(5, []):
            for value in message(summary)[1]:
                fields = message(value)
                (number,) = struct.unpack("<f", fields[2][0])
                yield event[2][0], fields[1][0].decode(), number


def only_file(folder):
    (file,) = folder.iterdir()
    return file


def test_what_is_written_reads_back(tmp_path):
    board = TensorBoard(tmp_path / "new" / "folder")
    for event in EVENTS:
        board(event)
    file = only_file(tmp_path / "new" / "folder")
    assert "tfevents" in file.name
    first = message(next(records(file.read_bytes())))
    assert first[3] == [b"brain.Event:2"]
    assert list(scalars(file)) == SCALARS
    (wall_time,) = struct.unpack("<d", first[1][0])
    assert abs(wall_time - file.stat().st_mtime) < 60


def test_numbers_that_are_none(tmp_path):
    board = TensorBoard(tmp_path)
    board(e.LastLoss(1, math.nan))
    board(e.LastLoss(2, 1e300))
    board(e.LastLoss(3, -1e300))
    values = [value for _, _, value in scalars(only_file(tmp_path))]
    assert math.isnan(values[0])
    assert values[1:] == [math.inf, -math.inf]


def test_a_resume_tells_where_it_begins(tmp_path):
    board = TensorBoard(tmp_path)
    board(e.Restored(100, "x.solverstate"))
    events = [message(data) for data in records(only_file(tmp_path).read_bytes())]
    assert [(event[2], message(event[7][0])) for event in events if 7 in event] == [
        ([100], {1: [1]})
    ]


def test_each_run_has_its_file(tmp_path):
    TensorBoard(tmp_path)
    TensorBoard(tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match="cannot be made"):
        TensorBoard(tmp_path / "file")


@pytest.mark.parametrize(
    ("content", "crc"),
    [(b"", 0), (b"123456789", 0xE3069283), (bytes(32), 0x8A9136AA), (b"\xff" * 32, 0x62A8AB43)],
)
def test_crc32c_of_rfc_3720(content, crc):
    assert crc32c(content) == crc


@pytest.mark.filterwarnings("ignore")
def test_tensorboard_itself_reads_it(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    board = TensorBoard(tmp_path)
    for event in EVENTS:
        board(event)
    accumulator = EventAccumulator(str(tmp_path)).Reload()
    found = [
        (point.step, tag, point.value)
        for tag in accumulator.Tags()["scalars"]
        for point in accumulator.Scalars(tag)
    ]
    assert sorted(found) == sorted(SCALARS)
