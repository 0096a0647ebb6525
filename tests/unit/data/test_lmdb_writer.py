import signal
import subprocess
import sys
from pathlib import Path

import lmdb
import numpy as np
import pytest

from pycaffe_dist.data.lmdb_writer import (
    FIRST_MAP_SIZE,
    RECORDS_PER_COMMIT,
    Database,
    count_records,
    image_record,
    make_databases,
    write_lmdb,
)
from pycaffe_dist.errors import FileError
from pycaffe_dist.proto import caffe_pb2


def read_all(path):
    with lmdb.open(str(path), readonly=True, lock=False) as env, env.begin() as transaction:
        return list(transaction.cursor())


def numbered(count, size=10):
    return [(f"{i:08d}".encode(), bytes([i % 256]) * size) for i in range(count)]


def cut_data_file(database, size):
    with (database / "data.mdb").open("r+b") as file:
        file.truncate(size)


def test_written_records_are_read_back_in_order(tmp_path):
    records = numbered(RECORDS_PER_COMMIT * 2 + 1)
    assert write_lmdb(tmp_path / "db", iter(records)) == len(records)
    assert read_all(tmp_path / "db") == records
    assert sorted(p.name for p in (tmp_path / "db").iterdir()) == ["data.mdb", "lock.mdb"]
    assert [p.name for p in tmp_path.iterdir()] == ["db"]


def test_map_grows_past_its_first_size(tmp_path):
    records = numbered(40, size=FIRST_MAP_SIZE // 8)
    write_lmdb(tmp_path / "db", records)
    assert read_all(tmp_path / "db") == records


def test_data_file_is_no_larger_than_its_records_need(tmp_path):
    write_lmdb(tmp_path / "db", numbered(3))
    assert (tmp_path / "db" / "data.mdb").stat().st_size < 64 * 1024


def test_missing_parent_folders_are_made(tmp_path):
    write_lmdb(tmp_path / "a" / "b" / "db", numbered(2))
    assert count_records(tmp_path / "a" / "b" / "db") == 2


def test_existing_database_is_kept_unless_replaced(tmp_path):
    write_lmdb(tmp_path / "db", numbered(2))
    with pytest.raises(FileError, match="already exists"):
        write_lmdb(tmp_path / "db", numbered(5))
    assert count_records(tmp_path / "db") == 2
    assert write_lmdb(tmp_path / "db", numbered(5), replace=True) == 5
    assert count_records(tmp_path / "db") == 5
    assert [p.name for p in tmp_path.iterdir()] == ["db"]


def test_a_folder_with_other_files_is_never_replaced(tmp_path):
    (tmp_path / "db").mkdir()
    (tmp_path / "db" / "thesis.tex").write_text("years")
    with pytest.raises(FileError, match="is not replaced"):
        write_lmdb(tmp_path / "db", numbered(1), replace=True)
    assert (tmp_path / "db" / "thesis.tex").read_text() == "years"


def test_replacing_through_a_link_keeps_the_link(tmp_path):
    write_lmdb(tmp_path / "real", numbered(1))
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_lmdb(tmp_path / "link", numbered(3), replace=True)
    assert (tmp_path / "link").is_symlink()
    assert count_records(tmp_path / "real") == 3


def test_failing_records_leave_nothing_or_the_old_database(tmp_path):
    def breaking():
        yield from numbered(RECORDS_PER_COMMIT + 5)
        raise FileError("source is damaged")

    with pytest.raises(FileError, match="source is damaged"):
        write_lmdb(tmp_path / "db", breaking())
    assert list(tmp_path.iterdir()) == []

    write_lmdb(tmp_path / "db", numbered(2))
    with pytest.raises(FileError, match="source is damaged"):
        write_lmdb(tmp_path / "db", breaking(), replace=True)
    assert count_records(tmp_path / "db") == 2
    assert [p.name for p in tmp_path.iterdir()] == ["db"]


def test_kill_leaves_no_half_database(tmp_path):
    program = f"""
import time
from pycaffe_dist.data.lmdb_writer import write_lmdb

def slow():
    for i in range({RECORDS_PER_COMMIT + 1}):
        yield b"%08d" % i, b"x"
    print("one commit done", flush=True)
    time.sleep(60)

write_lmdb({str(tmp_path / "db")!r}, slow())
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"one commit done\n"
        process.send_signal(signal.SIGKILL)
    assert not (tmp_path / "db").exists()
    write_lmdb(tmp_path / "db", numbered(1))
    assert count_records(tmp_path / "db") == 1


def test_key_that_comes_twice_is_refused(tmp_path):
    with pytest.raises(FileError, match=r"db: key same comes twice"):
        write_lmdb(tmp_path / "db", [(b"same", b"1"), (b"same", b"2")])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("length", [0, 512])
def test_key_of_a_length_lmdb_refuses_is_named(tmp_path, length):
    with pytest.raises(FileError, match=f"has {length} bytes; LMDB takes 1 to 511"):
        write_lmdb(tmp_path / "db", [(b"k" * length, b"v")])


def test_unwritable_place_is_named(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(FileError, match=r"file/db: cannot be written"):
        write_lmdb(tmp_path / "file" / "db", numbered(1))


def test_count_of_a_database_that_is_not_there(tmp_path):
    with pytest.raises(FileError, match="is not a readable LMDB"):
        count_records(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_count_of_damaged_databases(tmp_path):
    write_lmdb(tmp_path / "db", numbered(1000, size=100))
    size = (tmp_path / "db" / "data.mdb").stat().st_size
    cut_data_file(tmp_path / "db", size // 2)
    with pytest.raises(FileError, match=rf"cut short: {size // 2} bytes, expected \d+"):
        count_records(tmp_path / "db")
    cut_data_file(tmp_path / "db", 100)
    with pytest.raises(FileError, match="is not a readable LMDB"):
        count_records(tmp_path / "db")


def test_image_record_is_a_datum():
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    key, value = image_record("00000007", pixels, 5)
    assert key == b"00000007"
    datum = caffe_pb2.Datum.FromString(value)
    assert (datum.channels, datum.height, datum.width, datum.label) == (2, 3, 4, 5)
    assert datum.data == bytes(range(24))
    assert not datum.HasField("encoded")


class TestMakeDatabases:
    @pytest.fixture
    def lines(self):
        return []

    def make(self, folder: Path, lines, *, force=False, count=3):
        database = Database("some_lmdb", count, lambda: numbered(count))
        make_databases(folder, [database], force=force, say=lines.append)

    def test_a_new_one_is_written_and_a_complete_one_left(self, tmp_path, lines):
        self.make(tmp_path, lines)
        before = (tmp_path / "some_lmdb").stat().st_ino
        self.make(tmp_path, lines)
        assert (tmp_path / "some_lmdb").stat().st_ino == before
        assert [line.split(": ")[1] for line in lines] == [
            "3 records written",
            "already complete, 3 records",
        ]

    def test_force_writes_again(self, tmp_path, lines):
        self.make(tmp_path, lines)
        before = (tmp_path / "some_lmdb").stat().st_ino
        self.make(tmp_path, lines, force=True)
        assert (tmp_path / "some_lmdb").stat().st_ino != before

    def test_another_number_of_records_is_refused_without_force(self, tmp_path, lines):
        write_lmdb(tmp_path / "some_lmdb", numbered(2))
        with pytest.raises(FileError, match=r"holds 2 records, expected 3.*--force"):
            self.make(tmp_path, lines)
        assert count_records(tmp_path / "some_lmdb") == 2
        self.make(tmp_path, lines, force=True)
        assert count_records(tmp_path / "some_lmdb") == 3

    def test_a_damaged_one_is_refused_without_force(self, tmp_path, lines):
        self.make(tmp_path, lines)
        cut_data_file(tmp_path / "some_lmdb", 100)
        with pytest.raises(FileError, match=r"(?s)not a readable LMDB.*--force"):
            self.make(tmp_path, lines)
        self.make(tmp_path, lines, force=True)
        assert count_records(tmp_path / "some_lmdb") == 3
