import random

import pytest

from pycaffe_dist.data.database import kind_of, records_of, size_of, write_database
from pycaffe_dist.errors import FileError

RECORDS = [(b"%04d" % i, b"value" * i) for i in range(20)]


@pytest.fixture(params=["lmdb", "leveldb"])
def kind(request):
    return request.param


def test_what_is_written_is_read(tmp_path, kind):
    path = str(tmp_path / "db")
    assert write_database(path, kind, iter(RECORDS)) == 20
    assert kind_of(path) == kind_of(path, kind) == kind
    assert list(records_of(path, kind)) == RECORDS
    assert list(records_of(path, kind)) == RECORDS  # it was closed
    assert size_of(path, kind) == (20 if kind == "lmdb" else None)


def test_failure_of_the_records_is_not_one_of_the_database(tmp_path, kind):
    def records():
        yield RECORDS[0]
        raise OSError("the camera is off")

    with pytest.raises(OSError, match="camera") as caught:
        write_database(tmp_path / "db", kind, records())
    assert not isinstance(caught.value, FileError)
    assert list(tmp_path.iterdir()) == []


def test_kind_that_was_asked_for_must_be_found(tmp_path):
    write_database(tmp_path / "db", "lmdb", RECORDS)
    with pytest.raises(FileError, match="is of the kind lmdb, not leveldb"):
        kind_of(str(tmp_path / "db"), "leveldb")
    with pytest.raises(FileError, match=r"neither data\.mdb"):
        kind_of(str(tmp_path))
    with pytest.raises(FileError, match="no such database"):
        kind_of(str(tmp_path / "none"))


def test_cut_lmdb_is_refused_before_it_is_read(tmp_path):
    write_database(tmp_path / "db", "lmdb", RECORDS)
    with (tmp_path / "db" / "data.mdb").open("r+b") as file:
        file.truncate(8192)
    with pytest.raises(FileError, match="cut short"):
        list(records_of(str(tmp_path / "db"), "lmdb"))


def test_damaged_leveldb_names_the_last_good_record(tmp_path):
    path = tmp_path / "db"
    rng = random.Random(0)
    write_database(path, "leveldb", ((b"%08d" % i, rng.randbytes(1000)) for i in range(500)))
    (table,) = path.glob("*.ldb")
    content = bytearray(table.read_bytes())
    content[len(content) // 2] ^= 0xFF
    table.write_bytes(content)
    with pytest.raises(
        FileError, match=r"cannot be read beyond the record 0000\d+.*\.ldb.*byte \d+"
    ):
        list(records_of(str(path), "leveldb"))


def test_lmdb_in_one_file(tmp_path):
    write_database(tmp_path / "db", "lmdb", RECORDS)
    path = str(tmp_path / "db" / "data.mdb")
    assert kind_of(path) == "lmdb"
    assert list(records_of(path, "lmdb")) == RECORDS


def test_empty_database(tmp_path, kind):
    write_database(tmp_path / "db", kind, [])
    with pytest.raises(FileError, match="the database is empty"):
        list(records_of(str(tmp_path / "db"), kind))
