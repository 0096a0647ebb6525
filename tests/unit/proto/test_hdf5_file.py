"""What an HDF5 file may do to its reader: weights, states and HDF5Data's sources alike."""

import os

import h5py
import numpy as np
import pytest

from pycaffe_dist.data.hdf5_source import read_datasets, row_shapes
from pycaffe_dist.errors import FileError
from pycaffe_dist.proto import hdf5_file
from pycaffe_dist.proto.hdf5_file import open_hdf5
from pycaffe_dist.proto.weights import read_state, read_weights

SECRET = b"a secret of sixteen bytes, or more"

READERS = {
    "weights": ("data/ip/0", read_weights),
    "state": ("history/0", read_state),
    "source": ("x", lambda path: read_datasets(path, ["x"])),
}


@pytest.fixture(params=READERS)
def reader(request, tmp_path, monkeypatch):
    """A file of each kind: the name of its one dataset, and the function that reads it."""
    monkeypatch.chdir(tmp_path)
    name, read = READERS[request.param]
    with h5py.File("file.h5", "w") as file:
        file["iter"] = [1]
    return name, lambda: read("file.h5")


def external_storage(file, name):
    file.create_dataset(name, (16,), "u1", external=[("secret.txt", 0, 16)])


def external_link(file, name):
    file[name] = h5py.ExternalLink("other.h5", "/x")


def external_behind_a_soft_link(file, name):
    file["elsewhere"] = h5py.ExternalLink("other.h5", "/")
    file[name] = h5py.SoftLink("/elsewhere/x")


def virtual(file, name):
    layout = h5py.VirtualLayout((2,), "f4")
    layout[...] = h5py.VirtualSource("other.h5", "x", (2,))
    file.create_virtual_dataset(name, layout)


OTHERS = [external_storage, external_link, external_behind_a_soft_link, virtual]


@pytest.mark.parametrize("make", OTHERS, ids=lambda make: make.__name__)
def test_bytes_of_other_files_are_not_read_unless_asked_for(reader, make, monkeypatch):
    name, read = reader
    with open("secret.txt", "wb") as secret:
        secret.write(SECRET)
    with h5py.File("other.h5", "w") as other:
        other["x"] = np.float32([1, 2])
    with h5py.File("file.h5", "r+") as file:
        make(file, name)
    with pytest.raises(FileError, match=r"^file.h5: .*not followed.*set PCD_HDF5_EXTERNAL=1"):
        read()
    monkeypatch.setenv("PCD_HDF5_EXTERNAL", "1")
    assert read()


def test_a_pipe_that_a_link_names_is_not_waited_for(reader):
    name, read = reader
    os.mkfifo("other.h5")
    with h5py.File("file.h5", "r+") as file:
        file[name] = h5py.ExternalLink("other.h5", "/x")
    with pytest.raises(FileError, match="is a link to another file"):
        read()


@pytest.mark.parametrize("target", ["/{name}", "/loop", "/nowhere", "/iter/x"])
def test_soft_links_that_lead_nowhere(reader, target):
    name, read = reader
    with h5py.File("file.h5", "r+") as file:
        file["loop"] = h5py.SoftLink("/loop")
        file[name] = h5py.SoftLink(target.format(name=name))
    with pytest.raises(FileError, match=r"^file.h5: "):
        read()


def test_soft_links_within_the_file(reader):
    name, read = reader
    with h5py.File("file.h5", "r+") as file:
        file["there"] = np.float32([1, 2])
        file["middle"] = h5py.SoftLink("there")
        file[name] = h5py.SoftLink("/middle")
    assert read()


def test_a_dataset_of_many_names_is_read_once(tmp_path, monkeypatch):
    """900 names of 4 MB of zeros, which take 4 kB: 3.6 GB if each were read."""
    path = tmp_path / "w.caffemodel.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("zeros", data=np.zeros(1 << 20, "f4"), compression="gzip")
        for i in range(900):
            file[f"data/ip{i}/0"] = file["zeros"]
    layers = read_weights(path).layers
    assert len(layers) == 900
    assert len({id(layer.blobs[0].data) for layer in layers}) == 1
    assert not layers[0].blobs[0].data.flags.writeable


@pytest.mark.parametrize(
    ("most", "used"), [("MOST_BYTES", 400_000), ("MOST_CHUNKS", 10_000), ("MOST_OBJECTS", 300)]
)
def test_one_budget_for_a_whole_file(tmp_path, monkeypatch, most, used):
    path = tmp_path / "w.caffemodel.h5"
    with h5py.File(path, "w") as file:
        for i in range(100):
            file.create_dataset(f"data/ip/{i}", (1000,), "f4", chunks=(10,))

    def read_all():
        with open_hdf5(path) as file:
            file.size = 0  # so that what a large file may have besides does not count
            for i in range(100):
                file.values(file.get(f"data/ip/{i}"))

    monkeypatch.setattr(hdf5_file, most, used)
    read_all()
    monkeypatch.setattr(hdf5_file, most, used - 1)
    with pytest.raises(FileError, match=rf"holds more than {used - 1:,} \w+.* for a file of"):
        read_all()


def test_datasets_that_claim_more_than_there_is(reader):
    name, read = reader
    with h5py.File("file.h5", "r+") as file:
        file.create_dataset(name, (1 << 30,), "f4", chunks=(1 << 20,))
    with pytest.raises(FileError, match="holds more than 134,217,728 bytes of values"):
        read()


def test_damaged_tables(reader):
    name, read = reader
    with h5py.File("file.h5", "r+") as file:
        file[name] = np.float32([1, 2])
    with open("file.h5", "r+b") as file:
        content = file.read()
        file.seek(content.index(b"TREE") + 4)
        file.write(b"\xff" * 60)
    with pytest.raises(FileError, match=r"^file.h5: is not a readable HDF5 file: "):
        read()


def test_shapes_are_looked_at_without_a_budget(tmp_path):
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file.create_dataset("x", (1 << 30, 3), "f4", chunks=(1 << 10, 3))
    assert row_shapes(str(tmp_path / "f.h5"), ["x"]) == [(3,)]
