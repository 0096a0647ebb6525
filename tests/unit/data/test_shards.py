"""Records dealt to ranks."""

import pytest

from pycaffe_dist.data.backends import open_source
from pycaffe_dist.data.database import write_database
from pycaffe_dist.data.shards import Deal, Records, shard_of
from pycaffe_dist.errors import FileError
from pycaffe_dist.proto.caffe_pb2 import DataParameter

COUNT = 103
KEYS = [b"%05d" % i for i in range(COUNT)]


@pytest.fixture(params=["lmdb", "leveldb"])
def opened(request, tmp_path):
    path = str(tmp_path / request.param)
    rows = [(key, b"v" + key) for key in KEYS]
    write_database(path, request.param, rows)
    return lambda: open_source(path, DataParameter.DB.Value(request.param.upper()))


def taken(records, count):
    found = []
    for _ in range(count):
        key, value = records.view()
        assert value == b"v" + key
        found.append(key)
    return found


@pytest.mark.parametrize("seed", [None, 7])
def test_an_epoch_is_dealt_to_four_ranks_each_record_once(opened, seed):
    ranks = [Records(opened(), r, 4, seed) for r in range(4)]
    sequence = [taken(rank, 2 * COUNT) for rank in ranks]
    # Interleaved they are the epochs one after the other.
    dealt = [key for step in zip(*sequence, strict=True) for key in step]
    epochs = [dealt[i : i + COUNT] for i in range(0, 8 * COUNT, COUNT)]
    assert all(sorted(epoch) == KEYS for epoch in epochs)
    assert (epochs[0] == KEYS) == (epochs[0] == epochs[1]) == (seed is None)
    assert ranks[3].restarts == 8


@pytest.mark.parametrize("seed", [None, 7])
def test_going_on_in_mid_epoch_on_all_ranks_from_one_position(opened, seed):
    for rank in range(3):
        whole = taken(Records(opened(), rank, 3, seed), 120)
        first = Records(opened(), rank, 3, seed)
        assert taken(first, 61) == whole[:61]
        assert first.position == 183
        second = Records(opened(), rank, 3, seed)
        second.position = 183
        assert taken(second, 59) == whole[61:]


def test_other_seeds_and_epochs_have_other_orders():
    orders = {
        tuple(Deal(20, 0, 1, seed).record(20 * epoch + i) for i in range(20))
        for seed in (0, 1)
        for epoch in range(3)
    }
    assert len(orders) == 6


def test_shards(tmp_path):
    source = str(tmp_path / "db")
    for name in ("db", "db_0", "db_1"):
        (tmp_path / name).mkdir()
    assert shard_of(source, False, 1, 2) == f"{source}_1"
    with pytest.raises(FileError, match=r"db_2: is not there.*found .*db_0, .*db_1.*for 3 ranks"):
        shard_of(source, False, 2, 3)
    assert shard_of(source, True, 1, 2) is None
    assert shard_of(source, None, 1, 2) is None
    assert shard_of(source, False, 0, 1) is None
    (tmp_path / "db").rmdir()
    assert shard_of(source, False, 0, 1) == f"{source}_0"
    for name in ("db_0", "db_1"):
        (tmp_path / name).rmdir()
    assert shard_of(source, False, 2, 3) is None  # nobody has one
