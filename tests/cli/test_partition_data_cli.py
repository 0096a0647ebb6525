import warm

from pycaffe_dist.data.database import records_of, write_database

RECORDS = [(b"%04d" % i, b"value %d" % i) for i in range(10)]


def run(folder, *args):
    return warm.pcd("partition_data", *args, cwd=folder)


def test_parts(tmp_path):
    write_database(tmp_path / "db", "lmdb", RECORDS)
    done = run(tmp_path, "--backend=lmdb", "--num_partitions=3", "db")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "db_0: 4 records\ndb_1: 3 records\ndb_2: 3 records\n"
    for part in range(3):
        assert list(records_of(str(tmp_path / f"db_{part}"), "lmdb")) == RECORDS[part::3]


def test_two_parts_unless_told_and_never_over_others(tmp_path):
    write_database(tmp_path / "db", "lmdb", RECORDS)
    (tmp_path / "db_1").mkdir()
    done = run(tmp_path, "db")
    assert done.returncode == 1
    assert "db_1: already exists" in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["db", "db_1"]
