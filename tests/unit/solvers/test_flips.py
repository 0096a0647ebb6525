"""One flipped bit in any file of a snapshot is noticed by every reader."""

import random
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

from pycaffe_dist import cli, sidecar
from pycaffe_dist.errors import FileError, PcdError
from pycaffe_dist.loading import load_weights
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter, SolverParameter
from pycaffe_dist.proto.seal import SIZE
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.proto.weights import read_state, read_weights
from pycaffe_dist.solver import Solver
from pycaffe_dist.solvers import snapshots

NET = """
layer { name: "x" type: "DummyData" top: "x" top: "t"
  dummy_data_param { shape { dim: 2 dim: 4 } shape { dim: 2 dim: 3 }
    data_filler { type: "gaussian" } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip"
  inner_product_param { num_output: 3 weight_filler { type: "gaussian" std: 0.1 } } }
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "t" top: "loss" }
"""
pytestmark = pytest.mark.host  # the engine has no part in it
FORMS = {"BINARYPROTO": "", "HDF5": ".h5"}
FILES = ["caffemodel", "solverstate", "pcdstate"]


def solver(form):
    text = (
        'base_lr: 0.05 momentum: 0.9 lr_policy: "fixed" max_iter: 9 random_seed: 1 '
        f'snapshot_prefix: "run" snapshot_format: {form} net_param {{ {NET} }}'
    )
    return Solver(parse_text(text, SolverParameter()).message)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A folder for each form, with the snapshots of iterations 1 and 2."""
    folders = {}
    with pytest.MonkeyPatch.context() as patch:
        for form in FORMS:
            folders[form] = tmp_path_factory.mktemp(form)
            patch.chdir(folders[form])
            run = solver(form)
            for _ in range(2):
                run.step(1)
                run.snapshot()
    return folders


@pytest.fixture(params=FORMS)
def form(request, written, tmp_path, monkeypatch):
    """Its name; the working directory has a copy of the snapshots."""
    shutil.copytree(written[request.param], tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return request.param


def path_of(kind, form):
    return Path(f"run_iter_2.{kind}{FORMS[form] if kind != 'pcdstate' else ''}")


def flips(path, bytes_):
    """The file with one bit of each of these bytes flipped, in turn."""
    whole = path.read_bytes()
    for at in bytes_:
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << (at % 8)]) + whole[at + 1 :])
        yield at
    path.write_bytes(whole)


def some(path, count=40):
    """Bytes anywhere, and all of the seal's first and last."""
    size = path.stat().st_size
    ends = [0, SIZE - 1, SIZE, size - SIZE - 1, size - SIZE, size - 1]
    return [*ends, *random.Random(1).sample(range(size), count - len(ends))]


@pytest.mark.parametrize("kind", FILES)
def test_a_reader_notices_a_bit_anywhere(form, kind):
    path = path_of(kind, form)
    read = {"caffemodel": read_weights, "solverstate": read_state, "pcdstate": sidecar.read}[kind]
    read(path)
    size = path.stat().st_size
    for at in flips(path, range(size) if size < 600 else some(path)):
        with pytest.raises(FileError):
            read(path)
            pytest.fail(f"byte {at} of {path}")


def test_libhdf5_sees_no_damaged_file(written, tmp_path, monkeypatch):
    """It may end the process."""
    path = shutil.copy(written["HDF5"] / path_of("caffemodel", "HDF5"), tmp_path)
    monkeypatch.setattr(h5py, "File", lambda *a, **k: pytest.fail("it was opened"))
    for _ in flips(Path(path), some(Path(path))):
        with pytest.raises(FileError):
            read_weights(path)


@pytest.mark.parametrize("kind", FILES)
def test_a_run_does_not_go_on_from_it(form, kind):
    path, again = path_of(kind, form), solver(form)
    state = str(path_of("solverstate", form))
    for at in flips(path, some(path)):
        with pytest.raises(PcdError):
            again.restore(state)
            pytest.fail(f"byte {at} of {path}")
        assert snapshots.newest_whole("run").iteration == 1, at
    again.restore(state)
    assert again.iter == 2


def test_weights_alone_are_not_loaded(form, tmp_path):
    path = path_of("caffemodel", form).rename("alone")
    net = Net(parse_text(NET, NetParameter()).message)
    before = [p.blob.data.copy() for p in net.params.learnable]
    for at in flips(path, some(path)):
        with pytest.raises(FileError):
            load_weights(net, path)
            pytest.fail(f"byte {at} of {path}")
    for blob, values in zip(net.params.learnable, before, strict=True):
        np.testing.assert_array_equal(blob.blob.data, values)
    load_weights(net, path)


def test_damaged_weights_are_not_upgraded(written, tmp_path):
    path = Path(shutil.copy(written["BINARYPROTO"] / "run_iter_2.caffemodel", tmp_path))
    command = ["upgrade_net_proto_binary", str(path), str(tmp_path / "new")]
    for at in flips(path, some(path)):
        assert cli.main(command) == 2, at
        assert not (tmp_path / "new").exists()
    assert cli.main(command) == 0
    assert read_weights(tmp_path / "new").checksum is not None


def test_files_of_another_program_have_no_checksum(form, tmp_path):
    """Protobuf moves what it does not know to the end, and HDF5 cuts it off."""
    path = path_of("caffemodel", form)
    assert read_weights(path).checksum is not None
    if form == "HDF5":
        with h5py.File(path, "r+") as file:
            file["data/ip/0"][...] = 7
    else:
        message = NetParameter.FromString(path.read_bytes())
        message.layer[1].blobs[0].data[:] = [7] * 12
        path.write_bytes(message.SerializeToString())
    read = read_weights(path)
    assert read.checksum is None
    (values,) = [layer.blobs[0].data for layer in read.layers if layer.name == "ip"]
    assert (values == 7).all()
    net = Net(parse_text(NET, NetParameter()).message)
    load_weights(net, path)  # nothing is wrong with it


def test_files_of_earlier_versions_are_compared_with_what_the_third_one_knows(form):
    """They had no checksums; .pcdstate had a CRC-32 of each."""
    arrays, facts = sidecar.read("run_iter_2.pcdstate")
    paths = [path_of(kind, form) for kind in ("caffemodel", "solverstate")]
    for path in paths:
        whole = path.read_bytes()
        path.write_bytes(whole[SIZE:] if form == "BINARYPROTO" else whole[:-SIZE])
    del facts["checksums"]
    facts["files"] = {p.name: [p.stat().st_size, sidecar._crc32(p)] for p in paths}
    sidecar.write("run_iter_2.pcdstate", arrays, facts)
    again, net = solver(form), Net(parse_text(NET, NetParameter()).message)
    again.restore(str(paths[1]))
    for path in paths:
        # In the middle are values, with which a file is as readable as before.
        for _ in flips(path, range(path.stat().st_size // 2, path.stat().st_size // 2 + 8)):
            with pytest.raises(PcdError):
                again.restore(str(paths[1]))
    for _ in flips(paths[0], some(paths[0])):
        with pytest.raises(PcdError):
            load_weights(net, paths[0])
    load_weights(net, paths[0])
