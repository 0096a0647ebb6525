"""Two thousand damaged files: an error that names the file, or every record as it was."""

import os
import random
import re
import shutil

import pytest

from pycaffe_dist.data.database import records_of, write_database
from pycaffe_dist.data.leveldb.batches import HEAD, read_updates
from pycaffe_dist.data.leveldb.files import DELETION, VALUE
from pycaffe_dist.data.leveldb.log import BLOCK, log_bytes, read_log
from pycaffe_dist.data.leveldb.manifest import Manifest
from pycaffe_dist.errors import FileError

GROUPS, EACH = 40, 50


@pytest.fixture(scope="module")
def databases(recorded, make, tmp_path_factory):
    own = tmp_path_factory.mktemp("own") / "db"
    rng = random.Random(5)
    model = make.Model()
    for i in range(100):
        model.put(b"%08d" % i, make.noise(rng, 3000) if i % 2 else rng.randbytes(3000))
    write_database(own, "leveldb", model.records.items())
    return [*recorded.values(), (own, model)]


def cut(rng, content):
    return content[: rng.randrange(len(content))]


def flip(rng, content):
    bit = rng.randrange(8 * len(content))
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def overwrite(rng, content):
    begin = rng.randrange(len(content))
    size = rng.randrange(1, 100)
    return (content[:begin] + rng.randbytes(size) + content[begin + size :])[: len(content)]


def lose(rng, content):
    begin = rng.randrange(len(content))
    return content[:begin] + content[begin + rng.randrange(1, 5000) :]


def repeat(rng, content):
    begin = rng.randrange(len(content))
    return content[:begin] + content[begin // 2 :]


def damage(rng, folder):
    """Damage one file, or put one in the place of another; what was done, and to which file."""
    files = sorted(p for p in folder.iterdir() if p.stat().st_size)
    path = rng.choice(files)
    kind = rng.choice([cut, flip, flip, overwrite, lose, repeat, "swap", "remove"])
    if kind == "remove":
        path.unlink()
    elif kind == "swap":
        other = rng.choice(files)
        one, two = path.read_bytes(), other.read_bytes()
        for target, content in ((path, two), (other, one)):
            target.unlink()  # it is a link
            target.write_bytes(content)
    else:
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(kind(rng, content))
    return kind, path


@pytest.mark.parametrize("group", range(GROUPS))
def test_never_a_wrong_record(databases, make, tmp_path, group):
    for seed in range(group * EACH, (group + 1) * EACH):
        rng = random.Random(seed)
        path, model = rng.choice(databases)
        folder = tmp_path / str(seed)
        shutil.copytree(path, folder, copy_function=os.symlink)
        kind, file = damage(rng, folder)
        try:
            found = list(records_of(str(folder), "leveldb"))
        except FileError as e:
            assert re.search(rf"{folder}(/\S+)?: ", str(e)), e
            continue
        # A log that ends early is that of a writer who was stopped: an older state, as a whole.
        if file.suffix == ".log" and kind in (cut, lose, overwrite, repeat):
            assert make.state_of(found) in model.states, (seed, kind, file)
        else:
            assert found == sorted(model.records.items()), (seed, kind, file)
        shutil.rmtree(folder)


@pytest.fixture
def log(tmp_path):
    """A log of one record that is cut into pieces, and the function that reads it."""
    path = tmp_path / "000003.log"
    record = random.Random(0).randbytes(2 * BLOCK)
    path.write_bytes(log_bytes(record))

    def read(content=None):
        if content is not None:
            path.write_bytes(content)
        return [payload[:] for payload in read_log(path)]

    assert read() == [record]
    return path.read_bytes(), read


def test_a_log_ends_where_its_writer_was_stopped(log):
    content, read = log
    for size in (0, 3, 7, 1000, BLOCK, BLOCK + 2, len(content) - 1):
        assert read(content[:size]) == []
    assert len(read(content + bytes(100_000))) == 1  # room that was made and not used


def test_a_length_that_points_behind_the_end_is_damage_and_no_end(log):
    _, read = log
    short = log_bytes(b"record")
    with pytest.raises(FileError, match=r"000003\.log: is damaged at byte 4: the length"):
        read(short[:4] + b"\x86" + short[5:])
    assert read(short[:-1]) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c[:4] + b"\x01" + c[5:], "byte 0: a piece of 32513 bytes, where there is room"),
        (lambda c: c[:6] + b"\x07" + c[7:], "byte 0: a piece has the unknown type 7"),
        (lambda c: c[:99] + b"?" + c[100:], "byte 0: the checksum of a piece of 32761 bytes"),
        (lambda c: c[BLOCK:], "byte 0: the pieces of a record are not all there"),
        (lambda c: c[:BLOCK] + c, "byte 32768: the pieces of a record are not all there"),
        (lambda c: bytes(20) + c[20:], "byte 0: bytes where none should be"),
    ],
)
def test_damaged_pieces(log, change, message):
    content, read = log
    with pytest.raises(FileError, match=message):
        read(change(content))


PUT = bytes([VALUE, 1]) + b"k" + b"\x01v"


@pytest.mark.parametrize(
    ("batches", "message"),
    [
        ([b"short"], "byte 7: a batch has 5 bytes"),
        ([HEAD.pack(9, 1) + PUT], "byte 7: update 1 should be here, and 9 is"),
        ([HEAD.pack(1, 1) + PUT] * 2, "byte 31: update 2 should be here, and 1 is"),
        ([HEAD.pack(1, 1) + b"\x07" + PUT[1:]], "a batch has an update of the unknown kind 7"),
        ([HEAD.pack(1, 2) + PUT], "a batch has 1 updates and says 2"),
        ([HEAD.pack(1, 1) + PUT[:-1]], "a batch has 1 updates and says 1"),  # and ends before
    ],
)
def test_batches_with_the_right_checksums_that_make_no_sense(tmp_path, batches, message):
    (tmp_path / "000003.log").write_bytes(b"".join(map(log_bytes, batches)))
    with pytest.raises(FileError, match=rf"000003\.log: is damaged at .*{message}"):
        read_updates(tmp_path, Manifest(log=3))


def test_batches_that_make_sense(tmp_path):
    batches = HEAD.pack(1, 1) + PUT, HEAD.pack(2, 1) + bytes([DELETION, 1]) + b"k"
    (tmp_path / "000003.log").write_bytes(b"".join(map(log_bytes, batches)))
    (update,) = read_updates(tmp_path, Manifest(log=3)).values()
    assert update[0] == 2 << 8 | DELETION
