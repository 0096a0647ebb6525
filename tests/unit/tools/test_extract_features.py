import h5py
import numpy as np
import pytest

from pycaffe_dist.data.database import records_of, write_database
from pycaffe_dist.data.datum import datum_pixels, parse_datum
from pycaffe_dist.data.lmdb_writer import image_record
from pycaffe_dist.errors import NetError, PcdError
from pycaffe_dist.loading import save_weights
from pycaffe_dist.net import Net
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.tools.extract_features import extract_features

NET = """
layer {{ name: "data" type: "Data" top: "data" top: "label"
  data_param {{ source: "{folder}/db" batch_size: 4 backend: LMDB }} }}
layer {{ name: "pool" type: "Pooling" bottom: "data" top: "pool"
  pooling_param {{ pool: MAX kernel_size: 2 stride: 2 }} }}
layer {{ name: "ip" type: "InnerProduct" bottom: "pool" top: "ip"
  inner_product_param {{ num_output: 1 weight_filler {{ type: "constant" value: 1 }} }} }}
layer {{ name: "drop" type: "Dropout" bottom: "ip" top: "dropped" }}
layer {{ name: "many" type: "Reshape" bottom: "data" top: "many"
  reshape_param {{ shape {{ dim: 0 dim: 1 dim: 4 dim: 2 dim: 2 }} }} }}
"""
IMAGES = np.random.RandomState(0).randint(0, 256, (10, 1, 4, 4)).astype(np.uint8)
WRAPPED = IMAGES[np.arange(12) % 10]
POOLED = WRAPPED.reshape(12, 1, 2, 2, 2, 2).max((3, 5)).astype(np.float32)


@pytest.fixture
def net(tmp_path):
    """The weights and the net; ip is twice the sum of pool."""
    write_database(
        tmp_path / "db", "lmdb", (image_record(f"{i}", x, 3) for i, x in enumerate(IMAGES))
    )
    (tmp_path / "net.prototxt").write_text(NET.format(folder=tmp_path))
    net = Net(read_net(str(tmp_path / "net.prototxt")))
    net.layers[net.layer_names.index("ip")].blobs[0].data[...] = 2
    save_weights(net, str(tmp_path / "net.caffemodel"))
    return str(tmp_path / "net.caffemodel"), str(tmp_path / "net.prototxt")


def test_two_blobs_as_caffe_keeps_them(net, tmp_path):
    pool, ip = str(tmp_path / "pool"), str(tmp_path / "ip")
    counts = extract_features(*net, ["pool", "ip"], [pool, ip], 3, "lmdb")
    assert counts == {pool: 12, ip: 12}
    records = list(records_of(pool, "lmdb"))
    assert [key for key, _ in records] == [b"%010d" % i for i in range(12)]
    datums = [parse_datum(value) for _, value in records]
    assert {tuple(f.name for f, _ in d.ListFields()) for d in datums} == {
        ("channels", "height", "width", "float_data")
    }
    np.testing.assert_array_equal([datum_pixels(d) for d in datums], POOLED)
    # Each float has a tag of its own: Caffe's schema does not pack them.
    assert records[0][1][:6] == b"\x08\x01\x10\x02\x18\x02"
    assert len(records[0][1]) == 6 + 4 * 5
    sums = [datum_pixels(parse_datum(v)).tolist() for _, v in records_of(ip, "lmdb")]
    assert sums == [[[[2 * x.sum()]]] for x in POOLED]


def test_test_phase(net, tmp_path):
    dropped = str(tmp_path / "dropped")
    extract_features(*net, ["dropped"], [dropped], 1, "lmdb")
    assert all(datum_pixels(parse_datum(v)).all() for _, v in records_of(dropped, "lmdb"))


def test_hdf5_keeps_any_shape(net, tmp_path):
    paths = [str(tmp_path / "ip.h5"), str(tmp_path / "many.h5")]
    extract_features(*net, ["ip", "many"], paths, 3, "hdf5")
    with h5py.File(paths[0]) as file:
        np.testing.assert_array_equal(file["ip"], 2 * POOLED.sum((1, 2, 3))[:, None])
    with h5py.File(paths[1]) as file:
        np.testing.assert_array_equal(file["many"], WRAPPED.reshape(12, 1, 4, 2, 2))


@pytest.mark.parametrize("ranks", [2, 4])
def test_ranks_together_write_what_one_writes(net, tmp_path, ranks):
    whole = str(tmp_path / "whole")
    extract_features(*net, ["ip"], [whole], 5, "lmdb")
    parts = []
    for rank in range(ranks):
        extract_features(*net, ["ip"], [str(tmp_path / "part")], 5, "lmdb", rank, ranks)
        parts.append(list(records_of(str(tmp_path / f"part_{rank}"), "lmdb")))
    assert len(parts[-1]) == 4 * (5 // ranks)
    assert sorted(record for part in parts for record in part) == list(records_of(whole, "lmdb"))


@pytest.mark.parametrize(
    ("blobs", "databases", "batches", "message"),
    [
        (["ipp"], ["a"], 1, "no blob 'ipp'; did you mean \"ip\""),
        (["ip", "pool"], ["a"], 1, "2 blobs and 1 databases"),
        (["ip"], ["a"], 0, "num_mini_batches must be 1 or more, not 0"),
        (["many"], ["a"], 1, "does not fit into a Datum.* Write hdf5"),
    ],
)
def test_what_cannot_be(net, tmp_path, blobs, databases, batches, message):
    before = sorted(tmp_path.iterdir())
    paths = [str(tmp_path / name) for name in databases]
    with pytest.raises(PcdError, match=message) as caught:
        extract_features(*net, blobs, paths, batches, "lmdb")
    assert batches == 0 or isinstance(caught.value, NetError)
    assert sorted(tmp_path.iterdir()) == before
