"""Databases of real LevelDB, read key for key."""

import itertools
import os
import random
import shutil
import subprocess
import sys

import pytest

from pycaffe_dist.data.database import records_of
from pycaffe_dist.data.leveldb import log, reader, table
from pycaffe_dist.data.leveldb.reader import LevelDB
from pycaffe_dist.data.leveldb_source import LevelDBSource
from pycaffe_dist.data.leveldb_writer import new_leveldb
from pycaffe_dist.errors import FileError

CASES = ["log", "unfinished", "levels", "recovered", "stored"]


def read(database, start=b""):
    rows = itertools.chain.from_iterable(database.records(start))
    return [(key, buffer[begin:end]) for key, buffer, begin, end in rows]


@pytest.mark.parametrize("name", CASES)
def test_recorded_databases(recorded, name):
    path, model = recorded[name]
    expected = sorted(model.records.items())
    database = LevelDB(str(path))
    assert read(database) == expected
    assert read(database) == expected  # again, from what is remembered
    assert list(records_of(str(path), "leveldb")) == expected
    source = LevelDBSource(str(path))
    assert [source.read() for _ in expected] == expected
    assert [(key, bytes(value)) for key, value in (source.view() for _ in expected)] == expected
    assert source.restarts == 2


@pytest.mark.parametrize("name", CASES)
def test_from_any_key(recorded, name):
    path, model = recorded[name]
    expected = sorted(model.records.items())
    database = LevelDB(str(path))
    rng = random.Random(0)
    keys = rng.sample(expected, 20)
    for key in [*(key for key, _ in keys), *(key + b"\0" for key, _ in keys), b"\xff" * 9]:
        assert read(database, key) == [row for row in expected if row[0] >= key]


@pytest.mark.parametrize("name", CASES)
def test_any_record_by_its_number_and_then_on(recorded, name):
    path, model = recorded[name]
    expected = sorted(model.records.items())
    source = LevelDBSource(str(path))
    assert source.count == len(expected)
    rng = random.Random(0)
    for i in (len(expected) - 1, 0, *rng.sample(range(len(expected) - 1), 20)):
        source.seek(i)
        assert source.read() == expected[i]
        assert source.read() == expected[(i + 1) % len(expected)]
    source._first()
    source._last()
    assert source._key() == expected[-1][0]


def test_few_open_tables_and_nothing_remembered(recorded, monkeypatch):
    path, model = recorded["levels"]
    monkeypatch.setattr(reader, "OPEN_TABLES", 1)
    monkeypatch.setattr(reader, "Room", lambda: table.Room(0))
    assert read(LevelDB(str(path))) == sorted(model.records.items())


@pytest.mark.parametrize("left", range(10))
def test_a_block_of_the_log_with_so_many_bytes_left(tmp_path, left):
    """Fewer than a header's 7 are filled up; in just 7 LevelDB begins a record of no bytes."""
    plyvel = pytest.importorskip("plyvel")
    around = log.HEADER.size + 12 + 1 + 2 + 3  # batch, kind, key and the value's length
    rows = [(b"a", bytes(log.BLOCK - around - left)), (b"b", b"next"), (b"c", b"last")]
    with plyvel.DB(str(tmp_path), create_if_missing=True) as db:
        for row in rows:
            db.put(*row)
    (file,) = tmp_path.glob("*.log")
    rest = file.read_bytes()[log.BLOCK - left : log.BLOCK]
    assert any(rest) == (left >= log.HEADER.size)
    assert read(LevelDB(str(tmp_path))) == rows


def test_blocks_entered_by_a_seek_are_not_remembered_with_older_values(tmp_path):
    """Versions of one key fill several blocks; only the first block has the newest."""
    plyvel = pytest.importorskip("plyvel")
    with plyvel.DB(str(tmp_path), create_if_missing=True, block_size=1024, compression=None) as db:
        db.put(b"a", b"first")
        snapshot = db.snapshot()
        for i in range(50):
            db.put(b"b", b"%d" % i * 100)
            db.put(b"b%02d" % i, b"x")
        db.delete(b"b")
        db.compact_range()
        snapshot.close()
        expected = list(db)
    database = LevelDB(str(tmp_path))
    for start in (b"b00", b"b", b"b01", b"b49", b""):
        assert read(database, start) == [row for row in expected if row[0] >= start]


def test_old_names_of_tables(recorded, tmp_path):
    path, model = recorded["levels"]
    for file in path.iterdir():
        shutil.copy(file, tmp_path / file.name.replace(".ldb", ".sst"))
    assert read(LevelDB(str(tmp_path))) == sorted(model.records.items())


def test_values_stay_when_the_database_is_closed(recorded):
    path, model = recorded["log"]
    source = LevelDBSource(str(path))
    values = [source.view() for _ in model.records]
    source.close()
    assert [(key, bytes(value)) for key, value in values] == sorted(model.records.items())


def test_nothing_is_written(recorded, tmp_path):
    path, _ = recorded["levels"]
    copy = shutil.copytree(path, tmp_path / "db")
    before = {p.name: (p.stat().st_mtime_ns, p.read_bytes()) for p in copy.iterdir()}
    os.chmod(copy, 0o555)
    list(records_of(str(copy), "leveldb"))
    os.chmod(copy, 0o755)
    assert {p.name: (p.stat().st_mtime_ns, p.read_bytes()) for p in copy.iterdir()} == before


READER = """
import sys
from pycaffe_dist.data.leveldb_source import LevelDBSource
source = LevelDBSource(sys.argv[1])
rows = [source.read()]
print("open", flush=True)
sys.stdin.readline()
while not source.restarts:
    rows.append(source.read())
print(len(rows), sum(len(value) for _, value in rows), flush=True)
"""


def test_four_processes_at_once(recorded):
    path, model = recorded["levels"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    readers = [
        subprocess.Popen([sys.executable, "-c", READER, str(path)], **pipes) for _ in range(4)
    ]
    assert [r.stdout.readline() for r in readers] == ["open\n"] * 4
    expected = f"{len(model.records)} {sum(map(len, model.records.values()))}\n"
    assert [r.communicate("\n")[0] for r in readers] == [expected] * 4


def test_while_leveldb_has_it_open(tmp_path):
    plyvel = pytest.importorskip("plyvel")
    with plyvel.DB(str(tmp_path), create_if_missing=True) as database:
        database.put(b"a", b"1")
        database.put(b"b", b"2")
        assert read(LevelDB(str(tmp_path))) == [(b"a", b"1"), (b"b", b"2")]


@pytest.mark.parametrize("seed", range(8))
def test_whatever_is_done_to_leveldb(make, tmp_path, seed):
    pytest.importorskip("plyvel")
    rng = random.Random(seed)
    settings = {
        "write_buffer_size": 1,
        "block_size": rng.choice([1, 4096, 64 << 10]),
        "block_restart_interval": rng.choice([1, 16]),
        "compression": rng.choice([None, "snappy"]),
    }
    real, model = make.Real(tmp_path / "db", settings), make.Model()
    for _ in range(rng.randrange(50, 400)):
        batch = [
            (
                b"%d" % rng.randrange(300),
                None if rng.random() < 0.2 else make.noise(rng, int(10 ** rng.uniform(0, 4))),
            )
            for _ in range(rng.choice([0, 1, 1, 1, 20]))
        ]
        for database in (real, model):
            database.write(batch)
        if rng.random() < 0.02:
            rng.choice([real.reopen, real.compact])()
    expected = sorted(model.records.items())
    assert list(real.database) == expected
    real.database.close()
    assert read(LevelDB(str(tmp_path / "db"))) == expected


def test_refuses(recorded, tmp_path):
    with pytest.raises(FileError, match="is not a readable LevelDB: it has no file CURRENT"):
        LevelDB(str(tmp_path))
    path, _ = recorded["recovered"]
    copy = shutil.copytree(path, tmp_path / "db")
    (copy / "000018.ldb").rename(copy / "other")
    with pytest.raises(FileError, match=r"000018\.ldb: is missing; .* the records b'00"):
        LevelDB(str(copy))
    (copy / "other").rename(copy / "000018.ldb")
    (copy / "000018.ldb").unlink()
    os.mkfifo(copy / "000018.ldb")  # whoever opens it waits for ever
    with pytest.raises(FileError, match=r"000018\.ldb: cannot be read: it is a pipe"):
        read(LevelDB(str(copy)))
    (copy / "000018.ldb").unlink()
    shutil.copy(path / "000018.ldb", copy)
    (copy / "000019.log").unlink()
    with pytest.raises(FileError, match=r"000019\.log: is missing"):
        LevelDB(str(copy))


def test_other_orders_of_keys(tmp_path):
    plyvel = pytest.importorskip("plyvel")
    plyvel.DB(
        str(tmp_path),
        create_if_missing=True,
        comparator=lambda a, b: (a > b) - (a < b),
        comparator_name=b"theirs",
    ).close()
    with pytest.raises(FileError, match="its keys are ordered by 'theirs'"):
        LevelDB(str(tmp_path))


def test_compressed_blocks_are_remembered_within_bounds(tmp_path, monkeypatch):
    room = table.Room(bytes=100_000)
    monkeypatch.setattr(reader, "Room", lambda: room)
    records = [(b"%04d" % i, bytes([i]) * 20_000) for i in range(12)]  # blocks of four
    with new_leveldb(tmp_path / "db") as put:
        for key, value in records:
            put(key, value)
    database = reader.LevelDB(str(tmp_path / "db"))
    for _ in range(2):
        found = [record for some in database.records() for record in some]
        assert [(key, buffer[begin:end]) for key, buffer, begin, end in found] == records
        assert 0 <= room.bytes < 30_000  # one block, and no room for another
