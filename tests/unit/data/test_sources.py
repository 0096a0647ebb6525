"""LMDB and LevelDB as sources of records."""

import gc
import shutil
import threading

import lmdb
import pytest

from pycaffe_dist.data import lmdb_source
from pycaffe_dist.data.backends import open_source
from pycaffe_dist.data.database import write_database
from pycaffe_dist.data.lmdb_source import open_environment
from pycaffe_dist.data.lmdb_writer import write_lmdb
from pycaffe_dist.data.source import key_text
from pycaffe_dist.errors import FileError
from pycaffe_dist.proto.caffe_pb2 import DataParameter

RECORDS = [(b"b", b"2"), (b"a", b"1"), (b"c", b"3")]
BACKENDS = {"lmdb": DataParameter.LMDB, "leveldb": DataParameter.LEVELDB}


@pytest.fixture(params=BACKENDS)
def database(request, tmp_path):
    path = tmp_path / request.param
    write_database(path, request.param, RECORDS)
    return str(path), BACKENDS[request.param]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (b"00000001_cat.jpg", "00000001_cat.jpg"),
        ("grün".encode(), "grün"),
        (b"\x00\x01a", r"\x00\x01a"),
    ],
)
def test_keys_for_people(key, text):
    assert key_text(key) == text


def test_in_the_order_of_keys_round_and_round(database):
    source = open_source(*database)
    assert [source.read()[0] for _ in range(4)] == [b"a", b"b", b"c", b"a"]
    source.skip()
    assert source.read() == (b"c", b"3")
    source.skip()
    assert source.read() == (b"b", b"2")


def test_two_positions_in_one_database(database):
    one, two = open_source(*database), open_source(*database)
    one.read()
    assert two.read() == (b"a", b"1")
    one.close()
    assert two.read() == (b"b", b"2")


def test_closed_with_the_last_reader(database):
    path, backend = database
    source = open_source(path, backend)
    source.close()
    del source
    gc.collect()
    shutil.rmtree(path)
    write_database(path, "lmdb" if backend == DataParameter.LMDB else "leveldb", RECORDS[:1])
    source = open_source(path, backend)
    assert [source.read() for _ in range(2)] == [(b"b", b"2")] * 2


def test_an_lmdb_is_not_touched(tmp_path):
    write_lmdb(tmp_path / "db", RECORDS)
    (tmp_path / "db" / "lock.mdb").unlink(missing_ok=True)
    (tmp_path / "db" / "data.mdb").chmod(0o444)
    open_source(str(tmp_path / "db"), DataParameter.LMDB).read()
    assert [p.name for p in (tmp_path / "db").iterdir()] == ["data.mdb"]


def test_an_lmdb_in_one_file(tmp_path):
    write_lmdb(tmp_path / "db", RECORDS)
    source = open_source(str(tmp_path / "db" / "data.mdb"), DataParameter.LMDB)
    assert source.read() == (b"a", b"1")


def test_refuses(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for backend in BACKENDS.values():
        with pytest.raises(FileError, match=f"db: there is no such database.*{tmp_path}"):
            open_source("db", backend)
        with pytest.raises(FileError, match="folder: is not a readable"):
            open_source("folder", backend)
        with pytest.raises(FileError, match="no source"):
            open_source("", backend)
    write_lmdb(tmp_path / "none", [])
    with pytest.raises(FileError, match="none: the database is empty"):
        open_source("none", DataParameter.LMDB)


@pytest.mark.parametrize(
    "key", [b"%08d_a.jpg", b"%04d", b"k%d", b"%d"], ids=["imageset", "digits", "named", "unpadded"]
)
@pytest.mark.parametrize("backend", BACKENDS)
def test_any_record_by_its_number(tmp_path, backend, key):
    rows = [(key % i, b"%d" % i) for i in range(300)]
    path = str(tmp_path / "db")
    rows.sort()
    write_database(path, backend, rows)
    source = open_source(path, BACKENDS[backend])
    source.read()
    assert source.count == 300
    assert source.read() == rows[1]  # counting does not move it
    for i in (299, 0, 1, 63, 64, 128, 200, 130, 299):
        source.seek(i)
        assert source.read() == rows[i]
    assert source.read() == rows[0]
    with pytest.raises(FileError, match="has 300 records; there is no record 300"):
        source.seek(300)


def test_numbers_with_a_gap_are_not_trusted(tmp_path):
    rows = [(b"%04d_%d" % (i if i != 50 else 49, i), b"%d" % i) for i in range(200)]
    write_lmdb(tmp_path / "db", rows)
    source = open_source(str(tmp_path / "db"), DataParameter.LMDB)
    source.seek(150)
    source.seek(50)
    assert source.read() == rows[50]
    source.seek(199)
    assert source.read() == rows[199]


def test_a_database_cut_short(tmp_path):
    write_lmdb(tmp_path / "db", [(b"%d" % i, bytes(5000)) for i in range(50)])
    with open(tmp_path / "db" / "data.mdb", "r+b") as file:
        file.truncate(20000)
    with pytest.raises(FileError, match="cut short: 20000 bytes, expected"):
        open_source(str(tmp_path / "db"), DataParameter.LMDB)


class Clock:
    """In the place of ``time``: each sleep takes a second."""

    def __init__(self):
        self.now = 10.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        assert self.now < 100, "waits for ever"
        self.now += 1


def test_a_damaged_database_is_not_waited_for(tmp_path, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(lmdb_source, "time", clock)
    (tmp_path / "db").mkdir()
    (tmp_path / "db" / "data.mdb").write_bytes(b"no LMDB" * 5000)
    with pytest.raises(FileError, match="db: is not a readable LMDB"):
        open_environment(str(tmp_path / "db"))
    assert clock.now == 10


def test_a_database_that_stays_open_is_given_up_after_some_seconds(tmp_path, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(lmdb_source, "time", clock)
    write_lmdb(tmp_path / "db", [(b"0", b"x")])
    with (
        lmdb.open(str(tmp_path / "db"), readonly=True, lock=False),
        pytest.raises(FileError, match=r"db: is not a readable LMDB: .*already open"),
    ):
        open_environment(str(tmp_path / "db"))
    assert clock.now - 10 == lmdb_source.CLOSING_SECONDS + 1


def test_a_database_that_is_just_being_closed_is_waited_for(tmp_path):
    """Its last reader may be a thread, which closes it while another opens it."""
    write_lmdb(tmp_path / "db", [(b"0", b"x")])
    closing = lmdb.open(str(tmp_path / "db"), readonly=True, lock=False)
    timer = threading.Timer(0.2, closing.close)
    timer.start()
    environment = open_environment(str(tmp_path / "db"))
    timer.join()
    assert environment.stat()["entries"] == 1
