import pytest

from pycaffe_dist.data.database import records_of, write_database
from pycaffe_dist.errors import FileError, PcdError
from pycaffe_dist.tools.partition_data import partition_data

RECORDS = [(b"%04d" % i, b"value %d" % i) for i in range(2501)]


@pytest.mark.parametrize("kind", ["lmdb", "leveldb"])
def test_records_are_dealt_in_turn(tmp_path, kind):
    path = str(tmp_path / "db")
    write_database(path, kind, RECORDS)
    assert partition_data(f"{path}/", 3) == {f"{path}_0": 834, f"{path}_1": 834, f"{path}_2": 833}
    for part in range(3):
        assert list(records_of(f"{path}_{part}", kind)) == RECORDS[part::3]


def test_all_or_nothing(tmp_path):
    path = str(tmp_path / "db")
    write_database(path, "lmdb", RECORDS[:3])
    with pytest.raises(PcdError, match="has 3 records, too few for 4 parts"):
        partition_data(path, 4)
    with pytest.raises(FileError, match="is of the kind lmdb"):
        partition_data(path, 2, "leveldb")
    with pytest.raises(PcdError, match="must be 1 or more, not 0"):
        partition_data(path, 0)
    (tmp_path / "db_1").mkdir()
    with pytest.raises(FileError, match="db_1: already exists"):
        partition_data(path, 2)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["db", "db_1"]
