import random

import pytest

from pycaffe_dist.data.database import records_of
from pycaffe_dist.data.leveldb import writer
from pycaffe_dist.data.leveldb_writer import new_leveldb
from pycaffe_dist.errors import FileError


@pytest.fixture(params=["ours", "LevelDB"])
def read_all(request):
    """All records, read by us or by LevelDB itself."""
    if request.param == "ours":
        return lambda path: list(records_of(str(path), "leveldb"))
    plyvel = pytest.importorskip("plyvel")

    def read(path):
        settings = {"create_if_missing": False, "paranoid_checks": True}
        with plyvel.DB(str(path), **settings) as database:
            records = list(database.iterator(verify_checksums=True))
            assert [database.get(key) for key, _ in records] == [value for _, value in records]
            return records

    return read


def put_all(path, records):
    with new_leveldb(path) as put:
        for key, value in records:
            put(key, value)


@pytest.mark.parametrize("order", ["forwards", "backwards", "shuffled"])
@pytest.mark.parametrize(("block", "table"), [(64 << 10, 16 << 20), (300, 5000)])
def test_written_records_are_read_back_in_order(
    tmp_path, monkeypatch, read_all, order, block, table
):
    monkeypatch.setattr(writer, "BLOCK_BYTES", block)
    monkeypatch.setattr(writer, "TABLE_BYTES", table)
    rng = random.Random(0)
    records = [(b"%08d" % i, rng.randbytes(rng.randrange(200))) for i in range(1000)]
    todo = {"forwards": records, "backwards": records[::-1]}.get(order) or rng.sample(records, 1000)
    put_all(tmp_path / "db", todo)
    assert [p.name for p in tmp_path.iterdir()] == ["db"]
    assert (len(list((tmp_path / "db").glob("*.ldb"))) > 10) == (table == 5000)
    assert read_all(tmp_path / "db") == records


@pytest.mark.parametrize(
    "records",
    [
        [(b"key", b"")],
        [(b"", b"value"), (b"\0", b"x"), (b"\xff", b"y")],
        [(b"k" * 200 + b"%d" % i, b"v" * i) for i in range(300)],
        [(b"large", bytes(3_000_000)), (b"noise", random.Random(0).randbytes(300_000))],
        [(b"%d" % i * 3000, b"") for i in range(9)],  # the manifest takes several pieces
    ],
    ids=["no value", "no key", "long keys", "large values", "very long keys"],
)
def test_odd_records(tmp_path, monkeypatch, read_all, records):
    monkeypatch.setattr(writer, "TABLE_BYTES", 3000)
    put_all(tmp_path / "db", records)
    assert read_all(tmp_path / "db") == sorted(records)


def test_leveldb_goes_on_with_a_database_of_ours(tmp_path):
    plyvel = pytest.importorskip("plyvel")
    records = [(b"%04d" % i, b"%d" % i * 100) for i in range(500)]
    put_all(tmp_path / "db", records)
    with plyvel.DB(str(tmp_path / "db")) as database:
        database.put(b"0007", b"new")
        database.delete(b"0499")
        database.compact_range()
        database.put(b"1000", b"in the log")
    expected = dict(records[:-1]) | {b"0007": b"new", b"1000": b"in the log"}
    assert dict(records_of(str(tmp_path / "db"), "leveldb")) == expected


def test_what_compresses_is_compressed(tmp_path):
    for name, value in (("zeros", bytes(100_000)), ("noise", random.Random(0).randbytes(100_000))):
        put_all(tmp_path / name, [(b"key", value)])
    sizes = {p.parent.name: p.stat().st_size for p in tmp_path.glob("*/*.ldb")}
    assert sizes["zeros"] < 6000
    assert 100_000 < sizes["noise"] < 100_300


@pytest.mark.parametrize("between", [0, 2000])
@pytest.mark.parametrize("table", [16 << 20, 1000])
def test_key_that_comes_twice_is_refused(tmp_path, monkeypatch, between, table):
    monkeypatch.setattr(writer, "TABLE_BYTES", table)
    with (
        pytest.raises(FileError, match=r"key 00000000 comes twice"),
        new_leveldb(tmp_path / "db") as put,
    ):
        for i in [*range(between + 1), 0]:
            put(b"%08d" % i, b"value")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("table", [16 << 20, 1000])
def test_a_key_that_comes_again_replaces_what_it_had(tmp_path, monkeypatch, read_all, table):
    monkeypatch.setattr(writer, "TABLE_BYTES", table)
    expected = {}
    with new_leveldb(tmp_path / "db", updates=True) as put:
        for i in range(900):
            key, value = b"%04d" % (i * 7 % 300), None if i % 11 == 0 else b"value %d" % i
            put(key, value)
            expected[key] = value
    assert read_all(tmp_path / "db") == sorted((k, v) for k, v in expected.items() if v)


def test_existing_folder_is_kept(tmp_path):
    put_all(tmp_path / "db", [(b"key", b"old")])
    with pytest.raises(FileError, match="already exists"), new_leveldb(tmp_path / "db") as put:
        put(b"key", b"new")
    assert list(records_of(str(tmp_path / "db"), "leveldb")) == [(b"key", b"old")]


def test_full_disk(tmp_path, monkeypatch):
    def full(path, rows):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer, "write_table", full)
    with pytest.raises(FileError, match="db: cannot be written: No space left on device"):
        put_all(tmp_path / "db", [(b"key", b"value")])
    assert list(tmp_path.iterdir()) == []
