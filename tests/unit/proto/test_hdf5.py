# ruff: noqa: E501
import os

import h5py
import numpy as np
import pytest

from pycaffe_dist.errors import FileError
from pycaffe_dist.proto import hdf5
from pycaffe_dist.proto.weights import read_state, read_weights

RANDOM = np.random.default_rng(1)
W = RANDOM.standard_normal((3, 4)).astype("f4")
B = RANDOM.standard_normal(3).astype("f4")
FIVE = RANDOM.standard_normal((1, 2, 3, 2, 2)).astype("f4")
ONE = np.float32(2.5)


@pytest.fixture
def made(tmp_path):
    """Makes an HDF5 file of datasets by name; None makes a group."""

    def make(**sets):
        path = tmp_path / "made.h5"
        with h5py.File(path, "w") as file:
            for name, values in sets.items():
                name = name.replace("__", "/")
                if values is None:
                    file.require_group(name)
                else:
                    file[name] = values
        return path

    return make


def blobs_of(path):
    return {la.name: la.blobs for la in read_weights(path).layers}


def same(read, expected):
    assert len(read) == len(expected)
    for blob, values in zip(read, expected, strict=True):
        np.testing.assert_array_equal(blob.data, values)
        assert blob.shape == np.shape(values)
        assert blob.data.dtype == np.float32
        assert not blob.legacy


# -- weights ---------------------------------------------------------------------------------------


def test_weights_round_trip(tmp_path):
    path = tmp_path / "w.caffemodel.h5"
    hdf5.write_layers(path, ["conv", "relu", "bn"], [[W, B], [], [FIVE, ONE]])
    read = blobs_of(path)
    assert sorted(read) == ["bn", "conv", "relu"]
    same(read["conv"], [W, B])
    same(read["relu"], [])
    same(read["bn"], [FIVE, ONE])
    assert all(b.diff is None for blobs in read.values() for b in blobs)
    assert [la.type for la in read_weights(path).layers] == [""] * 3


def test_weights_with_diffs(tmp_path):
    hdf5.write_layers(tmp_path / "w", ["a", "b"], [[W, B], []], [[W * 2, B * 2], []])
    read = blobs_of(tmp_path / "w")
    same(read["a"], [W, B])
    for blob, values in zip(read["a"], [W, B], strict=True):
        np.testing.assert_array_equal(blob.diff, values * 2)


def test_the_layout_is_caffes(tmp_path):
    hdf5.write_layers(tmp_path / "w", ["conv", "relu"], [[W.astype("f8"), ONE], []])
    with h5py.File(tmp_path / "w") as file:
        found = []
        file.visit(found.append)
        assert sorted(found) == ["data", "data/conv", "data/conv/0", "data/conv/1", "data/relu"]
        assert file["data/conv/0"].dtype == np.float32
        assert file["data/conv/1"].shape == ()


def test_blobs_beyond_nine_keep_their_order(tmp_path):
    arrays = [np.float32([i]) for i in range(12)]
    hdf5.write_layers(tmp_path / "w", ["lstm"], [arrays])
    same(blobs_of(tmp_path / "w")["lstm"], arrays)


@pytest.mark.parametrize(
    "names",
    [
        ["a/b", "a/c"],
        ["inception_3a/1x1", "inception_3a/3x3", "conv1/7x7_s2", "pool"],
        ["a", "a/b"],
        ["a/b", "a"],
        ["a/b/c", "a"],
        ["a b", "é", "0", "a.b", ".."],
    ],
)
def test_layer_names(tmp_path, names):
    arrays = [[np.float32([i])] for i in range(len(names))]
    hdf5.write_layers(tmp_path / "w", names, arrays)
    read = blobs_of(tmp_path / "w")
    assert sorted(read) == sorted(names)
    for name, expected in zip(names, arrays, strict=True):
        same(read[name], expected)


@pytest.mark.parametrize(
    "names", [["a", "a"], ["a", "a/0"], ["a/0", "a"], [""], ["."], ["/a"], ["a\0b"], ["a//b"]]
)
def test_names_that_hdf5_cannot_keep_are_refused(tmp_path, names):
    with pytest.raises(FileError) as e:
        hdf5.write_layers(tmp_path / "w", names, [[B]] * len(names))
    assert repr(names[-1])[1:-1] in str(e.value)
    assert not list(tmp_path.iterdir())


def test_only_the_blobs_a_layer_owns_are_stored(made):
    """A layer that shares its weights but not its bias has a dataset 1 and no 0."""
    blobs = blobs_of(made(data__ip__1=B))["ip"]
    assert len(blobs) == 2
    np.testing.assert_array_equal(blobs[1].data, B)


def test_a_blob_that_another_layer_owns_is_left_out(tmp_path):
    hdf5.write_layers(tmp_path / "w", ["ip"], [[None, B]], [[W, B]])
    with h5py.File(tmp_path / "w") as file:
        assert list(file["data/ip"]) == ["1"]
        assert list(file["diff/ip"]) == ["0", "1"]


def test_all_kinds_of_numbers_become_floats(made):
    path = made(
        data__ip__0=np.int64([1, 2]), data__ip__1=np.float64([0.1]), data__ip__2=np.float16([3])
    )
    arrays = [b.data for b in blobs_of(path)["ip"]]
    assert [a.dtype for a in arrays] == ["f4", "f8", "f4"]
    assert [a.tolist() for a in arrays] == [[1, 2], [0.1], [3]]


def test_compressed_files_of_other_writers(tmp_path):
    with h5py.File(tmp_path / "w", "w") as file:
        file.create_dataset("data/ip/0", data=W, compression="gzip", chunks=(1, 4))
    same(blobs_of(tmp_path / "w")["ip"], [W])


# -- state -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("learned", ["snapshots/net_iter_5.caffemodel.h5", "", "né"])
@pytest.mark.parametrize("history", [[], [W, ONE], [np.float32([i]) for i in range(12)]])
def test_state_round_trip(tmp_path, learned, history):
    path = tmp_path / "s.solverstate.h5"
    hdf5.write_state(path, 12345, learned, history, 7)
    read = read_state(path)
    assert (read.iter, read.learned_net, read.current_step) == (12345, learned, 7)
    same(read.history, history)


def test_learned_net_ends_in_a_zero_byte(tmp_path):
    """Caffe reads it with a C string's length."""
    hdf5.write_state(tmp_path / "s", 1, "abc", [], 0)
    with h5py.File(tmp_path / "s") as file:
        dataset = file["learned_net"].id
        kind = dataset.get_type()
        raw = np.zeros((), f"V{kind.get_size()}")
        dataset.read(h5py.h5s.ALL, h5py.h5s.ALL, raw, kind)
        assert raw.tobytes() == b"abc\0"
        assert kind.get_strpad() == h5py.h5t.STR_NULLTERM
        assert dataset.shape == ()
        for name in ("iter", "current_step"):
            assert (file[name].shape, file[name].dtype) == ((1,), np.int32)


def test_state_of_another_writer(made):
    path = made(iter=np.int64(5), history__0=W)
    read = read_state(path)
    assert (read.iter, read.learned_net, read.current_step) == (5, "", 0)


# -- wrong files -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("read", "sets", "said"),
    [
        (read_weights, {}, "an HDF5 file without the group /data of a .caffemodel.h5; it holds nothing"),
        (read_weights, {"x": B, "y__z": B}, "an HDF5 file without the group /data of a .caffemodel.h5; it holds /x, /y"),
        (read_weights, {"data": W, "label": B}, "an HDF5 file without the group /data of a .caffemodel.h5; it holds /data, /label"),
        (read_weights, {"iter": [1], "history__0": B}, "an HDF5 file without the group /data of a .caffemodel.h5; it holds /history, /iter (a solver state, perhaps)"),
        (read_weights, {"data__ip__w": B}, "/data/ip/w is not a blob: expected numbers in datasets 0, 1, ..."),
        (read_weights, {"data__ip__0": "text"}, "/data/ip/0 is not a blob: expected numbers in datasets 0, 1, ..."),
        (read_state, {}, "an HDF5 file without /iter and /history of a .solverstate.h5; it holds nothing"),
        (read_state, {"data__ip__0": B}, "an HDF5 file without /iter and /history of a .solverstate.h5; it holds /data (weights, perhaps)"),
        (read_state, {"iter": [1]}, "an HDF5 file without /iter and /history of a .solverstate.h5; it holds /iter"),
        (read_state, {"iter": [1, 2], "history": None}, "/iter is not one number"),
        (read_state, {"iter": "x", "history": None}, "/iter is not one number"),
    ],
)  # fmt: skip
def test_hdf5_files_with_something_else(made, read, sets, said):
    path = made(**sets)
    with pytest.raises(FileError) as e:
        read(path)
    assert str(e.value) == f"{path}: {said}"


@pytest.mark.parametrize(
    ("read", "sets"),
    [
        (read_weights, {"data__ip__0": B, "diff": B}),
        (read_weights, {"data__ip__0": B, "diff__ip": B}),
        (read_weights, {"data__ip__0": h5py.Empty("f4")}),
        (read_weights, {"data__ip__0": h5py.SoftLink("/nowhere")}),
        (read_weights, {"data__ip__0": h5py.ExternalLink("nowhere.h5", "/x")}),
        (read_weights, {"data__ip__0": h5py.SoftLink("/data")}),
        (read_state, {"iter": [np.inf], "history": None}),
        (read_state, {"iter": [np.nan], "history": None}),
        (read_state, {"iter": None, "history": None}),
        (read_state, {"iter": [1], "history": B}),
        (read_state, {"iter": [1], "history": None, "learned_net": None}),
        (read_state, {"iter": [1], "history": None, "learned_net": B}),
        (read_state, {"iter": [1], "history": None, "current_step": None}),
    ],
)
def test_hdf5_files_that_no_caffe_wrote(made, read, sets):
    path = made(**sets)
    with pytest.raises(FileError) as e:
        read(path)
    assert str(e.value).startswith(f"{path}: ")


@pytest.mark.parametrize("count", [1 << 40, 1 << 26])
def test_a_dataset_that_claims_more_than_its_file_could_hold(tmp_path, count):
    path = tmp_path / "w"
    with h5py.File(path, "w") as file:
        file.create_dataset("data/ip/0", shape=(count,), dtype="f4", chunks=(1 << 20,))
    with pytest.raises(FileError) as e:
        read_weights(path)
    assert str(e.value).startswith(f"{path}: ")


@pytest.fixture
def whole(tmp_path):
    path = tmp_path / "w"
    hdf5.write_layers(path, ["conv", "ip"], [[W, B], [FIVE]])
    return path


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 0.9])
def test_files_cut_short(whole, share):
    size = whole.stat().st_size
    os.truncate(whole, max(8, int(size * share)))
    with pytest.raises(FileError) as e:
        read_weights(whole)
    assert str(e.value).startswith(f"{whole}: is not a readable HDF5 file: ")


def test_damage_in_the_middle(whole):
    """Told by the checksum, before HDF5 has seen it."""
    content = whole.read_bytes()
    at = content.index(b"TREE")
    whole.write_bytes(content[:at] + b"\xff" * 64 + content[at + 64 :])
    with pytest.raises(FileError) as e:
        read_weights(whole)
    assert str(e.value).startswith(f"{whole}: is damaged: its checksum is wrong: ")


def test_is_hdf5(tmp_path, whole):
    assert hdf5.is_hdf5(whole)
    for content in (b"", b"\x89HDF", b"name: 'a'"):
        (tmp_path / "other").write_bytes(content)
        assert not hdf5.is_hdf5(tmp_path / "other")
    with pytest.raises(FileError) as e:
        hdf5.is_hdf5(tmp_path / "missing")
    assert str(e.value) == f"{tmp_path / 'missing'}: cannot be read: No such file or directory"


# -- writing whole or not at all -------------------------------------------------------------------


def test_a_failed_write_leaves_the_old_file_and_nothing_else(whole, monkeypatch):
    before = whole.read_bytes()

    def fsync(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    for write in (
        lambda: hdf5.write_layers(whole, ["a"], [[W]]),
        lambda: hdf5.write_state(whole, 1, "x", [W], 0),
    ):
        with pytest.raises(FileError) as e:
            write()
        assert str(e.value) == f"{whole}: cannot be written: No space left on device"
    assert whole.read_bytes() == before
    assert list(whole.parent.iterdir()) == [whole]


def test_a_keras_file_is_named(tmp_path):
    with h5py.File(tmp_path / "w.h5", "w") as file:
        file.attrs["layer_names"] = [b"dense"]
        file.create_group("dense")
    with pytest.raises(FileError, match=r"it holds /dense \(a Keras model: convert it"):
        read_weights(tmp_path / "w.h5")
