import pytest

from pycaffe_dist.data.leveldb_writer import new_leveldb
from pycaffe_dist.data.lmdb_writer import RECORDS_PER_COMMIT
from pycaffe_dist.errors import FileError, MissingPartError

plyvel = pytest.importorskip("plyvel")


def read_all(path):
    database = plyvel.DB(str(path), create_if_missing=False)
    records = list(database)
    database.close()
    return records


def test_written_records_are_read_back_in_order(tmp_path):
    records = [(b"%08d" % i, bytes([i % 256]) * 9) for i in range(2 * RECORDS_PER_COMMIT + 1)]
    with new_leveldb(tmp_path / "db") as put:
        for key, value in reversed(records):
            put(key, value)
    assert read_all(tmp_path / "db") == records
    assert [p.name for p in tmp_path.iterdir()] == ["db"]


@pytest.mark.parametrize("between", [0, 2 * RECORDS_PER_COMMIT])
def test_key_that_comes_twice_is_refused(tmp_path, between):
    with (
        pytest.raises(FileError, match=r"key 00000000 comes twice"),
        new_leveldb(tmp_path / "db") as put,
    ):
        for i in [*range(between + 1), 0]:
            put(b"%08d" % i, b"value")
    assert list(tmp_path.iterdir()) == []


def test_existing_folder_is_kept(tmp_path):
    with new_leveldb(tmp_path / "db") as put:
        put(b"key", b"old")
    with pytest.raises(FileError, match="already exists"), new_leveldb(tmp_path / "db") as put:
        put(b"key", b"new")
    assert read_all(tmp_path / "db") == [(b"key", b"old")]


def test_missing_plyvel_is_told_before_anything_is_made(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "plyvel", None)
    with (
        pytest.raises(MissingPartError, match="Writing a LevelDB needs"),
        new_leveldb(tmp_path / "db"),
    ):
        pass
    assert list(tmp_path.iterdir()) == []
