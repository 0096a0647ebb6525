import h5py
import numpy as np
import pytest

from pycaffe_dist.data import hdf5_source
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN, NetParameter
from pycaffe_dist.proto.text import parse_text


@pytest.fixture
def source(tmp_path):
    """Two files of 10 rows; the second compressed, with labels of bytes."""
    paths = []
    for i in range(2):
        data = np.arange(i * 200, (i + 1) * 200, dtype=np.float32).reshape(10, 4, 5)
        labels = np.arange(10) + 10 * i
        path = tmp_path / f"{i}.h5"
        with h5py.File(path, "w") as file:
            file.create_dataset("data", data=data, compression="gzip" if i else None)
            file.create_dataset("label", data=labels.astype(np.uint8 if i else np.float64))
        paths.append(str(path))
    listed = tmp_path / "list.txt"
    listed.write_text(f"{paths[0]}\n\n {paths[1]} ")
    return listed


def build(source, settings="batch_size: 4", tops="top: 'data' top: 'label'", phase=TEST, **context):
    text = f"""layer {{ name: "h" type: "HDF5Data" {tops}
                        hdf5_data_param {{ source: "{source}" {settings} }} }}"""
    param = parse_text(text, NetParameter()).message
    param.state.phase = phase
    return Net(param, Context(**context))


def labels(net, batches):
    found = []
    for _ in range(batches):
        net.forward()
        found += net.blobs[-1].data.tolist()
    return found


def test_rows_in_order_across_files_and_round_again(source):
    net = build(source)
    assert [blob.shape for blob in net.blobs] == [(4, 4, 5), (4,)]
    for i in range(8):
        net.forward()
        rows = np.arange(4 * i, 4 * i + 4) % 20
        np.testing.assert_array_equal(net.blobs[1].data, rows)
        np.testing.assert_array_equal(net.blobs[0].data, np.arange(400.0).reshape(20, 4, 5)[rows])


def test_a_batch_longer_than_all_files(source):
    assert labels(build(source, "batch_size: 45"), 1) == [i % 20 for i in range(45)]


def test_ranks_take_turns_in_training(source):
    for rank in range(8):
        net = build(source, "batch_size: 3", phase=TRAIN, rank=rank, ranks=8)
        assert labels(net, 5) == [(rank + 8 * i) % 20 for i in range(15)]


def test_ranks_see_all_in_testing(source):
    net = build(source, "batch_size: 3", phase=TEST, rank=5, ranks=8)
    assert labels(net, 2) == [0, 1, 2, 3, 4, 5]


def test_shuffled_rows_stay_together_and_come_once_each_time_round(source):
    net = build(source, "batch_size: 5 shuffle: true")
    found = []
    for _ in range(8):
        net.forward()
        found += net.blobs[1].data.tolist()
        np.testing.assert_array_equal(net.blobs[0].data[:, 0, 0], 20 * net.blobs[1].data)
    first, second = found[:20], found[20:]
    assert sorted(first) == sorted(second) == list(range(20))
    assert first != list(range(20)) and first != second
    assert {x // 10 for x in first[:10]} in ({0}, {1})  # a file at a time


def test_shuffled_the_same_on_all_ranks(source):
    parts = [
        labels(build(source, "batch_size: 5 shuffle: true", phase=TRAIN, rank=r, ranks=2), 2)
        for r in range(2)
    ]
    assert sorted(parts[0] + parts[1]) == list(range(20))


def test_one_file_shuffled_anew_each_time_round(tmp_path, source):
    (tmp_path / "one.txt").write_text(str(tmp_path / "0.h5"))
    net = build(tmp_path / "one.txt", "batch_size: 10 shuffle: true")
    first, second = labels(net, 1), labels(net, 1)
    assert sorted(first) == sorted(second) == list(range(10)) and first != second


def test_one_file_is_read_once(tmp_path, source, monkeypatch):
    read = []
    whole = hdf5_source.read_datasets
    monkeypatch.setattr(hdf5_source, "read_datasets", lambda *a: read.append(a[0]) or whole(*a))
    (tmp_path / "one.txt").write_text(str(tmp_path / "0.h5"))
    assert labels(build(tmp_path / "one.txt", "batch_size: 10"), 3) == [*range(10)] * 3
    assert read == [str(tmp_path / "0.h5")]


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_position_in_other_files_is_refused(tmp_path, source, shuffle):
    both = hdf5_source.HDF5Source(str(source), ["label"], shuffle)
    both.read([np.empty(12)])
    position = both.position()
    assert position["file"] == 1
    (tmp_path / "one.txt").write_text(str(tmp_path / "0.h5"))
    one = hdf5_source.HDF5Source(str(tmp_path / "one.txt"), ["label"], shuffle)
    with pytest.raises(FileError, match="made with another list of HDF5 files"):
        one.go_to(position)
    for i in range(2):
        with h5py.File(tmp_path / f"{i}.h5", "w") as file:
            file["label"] = np.arange(2)
    shorter = hdf5_source.HDF5Source(str(source), ["label"], shuffle)
    with pytest.raises(FileError, match="made with HDF5 files of other lengths"):
        shorter.go_to(position)


def test_datasets_of_one_file_have_equally_many_rows(tmp_path, source):
    with h5py.File(tmp_path / "1.h5", "a") as file:
        del file["label"]
        file["label"] = np.arange(9)
    net = build(source, "batch_size: 10")
    with pytest.raises(NetError, match=r'1\.h5: "label" has 9 rows, "data" 10'):
        labels(net, 2)


def refuses(message, *args, **kwargs):
    with pytest.raises(NetError, match=message):
        build(*args, **kwargs)


def test_refuses_what_it_cannot_read(tmp_path, source):
    refuses("nowhere.txt: cannot be read", tmp_path / "nowhere.txt")
    refuses("batch_size must be positive", source, "")
    refuses(r'no dataset "image" .* it holds data, label', source, tops="top: 'image'")
    (tmp_path / "list.txt").write_text("")
    refuses("lists no HDF5 file", source)
    (tmp_path / "list.txt").write_text(f"{tmp_path}/0.h5\n{tmp_path}/gone.h5\n")
    refuses("list.txt:2: the HDF5 file .*gone.h5' is not there, seen from", source)
    (tmp_path / "list.txt").write_text(str(source))
    refuses("is not a readable HDF5 file", source)


def test_refuses_datasets_that_do_not_fit(tmp_path, source):
    with h5py.File(tmp_path / "0.h5", "r+") as file:
        file["words"] = [b"a", b"b"]
        file["short"] = np.zeros(3)
        file["number"] = 3.0
    refuses("numbers with at least one axis", source, tops="top: 'words'")
    refuses("numbers with at least one axis", source, tops="top: 'number'")
    refuses('"short" has 3 rows, "data" 10', source, tops="top: 'data' top: 'short'")
    with h5py.File(tmp_path / "1.h5", "w") as file:
        file["data"] = np.zeros((10, 4, 6))
        file["label"] = np.zeros(10)
    net = build(source, "batch_size: 10")
    with pytest.raises(NetError, match=r'1.h5: the rows of "data" have the shape \(4, 6\)'):
        net.forward()


def test_does_not_transform(source):
    text = f"""layer {{ name: "h" type: "HDF5Data" top: "data" transform_param {{ }}
                        hdf5_data_param {{ source: "{source}" batch_size: 1 }} }}"""
    with pytest.raises(NetError, match="does not transform data"):
        Net(parse_text(text, NetParameter()).message)


def test_dry_looks_at_shapes_where_it_can(source):
    assert build(source, dry=True).blobs[0].shape == (4, 4, 5)
    refuses("shapes of its tops are not known: .* elsewhere", "elsewhere", dry=True)
