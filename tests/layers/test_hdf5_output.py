import h5py
import numpy as np
import pytest

from pycaffe_dist.blob import Blob, View
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.proto.caffe_pb2 import LayerParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.registry import create_layer
from pycaffe_dist.testing import LayerCase, LayerRun


def layer(path):
    return f'type: "HDF5Output" hdf5_output_param {{ file_name: "{path}" }}'


def test_writes_data_and_label_with_four_axes(tmp_path):
    path = tmp_path / "out.h5"
    run = LayerRun(LayerCase(layer(path), [(2, 3, 4), (2,)], tops=0), dtype=np.float32)
    run.forward()
    with h5py.File(path) as file:
        assert sorted(file) == ["data", "label"]
        assert file["data"].dtype == np.float32
        np.testing.assert_array_equal(file["data"], run.inputs[0].reshape(2, 3, 4, 1))
        np.testing.assert_array_equal(file["label"], run.inputs[1].reshape(2, 1, 1, 1))


def test_the_file_is_emptied_at_setup(tmp_path):
    path = tmp_path / "out.h5"
    path.write_bytes(b"something else")
    LayerRun(LayerCase(layer(path), [(2, 3), (2,)], tops=0))
    with h5py.File(path) as file:
        assert not len(file)


def test_a_second_batch_is_refused(tmp_path):
    run = LayerRun(LayerCase(layer(tmp_path / "out.h5"), [(2, 3), (2,)], tops=0))
    run.forward()
    with pytest.raises(NetError, match="holds a batch already"):
        run.forward()


def test_backward_leaves_the_bottoms_alone(tmp_path):
    run = LayerRun(LayerCase(layer(tmp_path / "out.h5"), [(2, 3), (2,)], tops=0))
    run.bottom[0].blob.diff[...] = 7
    run.backward([], [True, True])
    assert (run.bottom[0].blob.diff == 7).all()


def test_refuses(tmp_path):
    run = LayerRun(LayerCase(layer(tmp_path / "out.h5"), [(2, 3), (3,)], tops=0))
    with pytest.raises(NetError, match="different batch sizes: 2 and 3"):
        run.forward()
    run = LayerRun(LayerCase(layer(tmp_path / "out.h5"), [(2, 1, 1, 1, 1), (2,)], tops=0))
    with pytest.raises(NetError, match=r"HDF5Output.: a blob of 5 axes"):
        run.forward()
    with pytest.raises(NetError, match="cannot be written"):
        LayerRun(LayerCase(layer(tmp_path / "no" / "out.h5"), [(2, 3), (2,)], tops=0))
    with pytest.raises(NetError, match="has no file_name"):
        LayerRun(LayerCase('type: "HDF5Output"', [(2, 3), (2,)], tops=0))


def test_dry_touches_no_file(tmp_path):
    param = parse_text(f'name: "o" {layer(tmp_path / "out.h5")}', LayerParameter()).message
    create_layer(param, Context(dry=True)).set_up([View(Blob((2,)))] * 2, [])
    assert not (tmp_path / "out.h5").exists()


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "victim").write_bytes(b"precious")
    (tmp_path / "out.h5").symlink_to("victim")
    with pytest.raises(NetError, match="a symbolic link, where a regular file belongs"):
        LayerRun(LayerCase(layer(tmp_path / "out.h5"), [(2, 3), (2,)], tops=0))
    assert (tmp_path / "victim").read_bytes() == b"precious"
