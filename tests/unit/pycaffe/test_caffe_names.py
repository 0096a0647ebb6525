"""Names of BVLC's pycaffe that are not its API, and that scripts use all the same."""

import subprocess
import sys

import numpy as np
import pytest

import pycaffe_dist as caffe
from pycaffe_dist.pycaffe import _caffe

NET = """
layer { name: 'data' type: 'Input' top: 'data' input_param { shape { dim: 2 dim: 3 } } }
layer { name: 'ip' type: 'InnerProduct' bottom: 'data' top: 'ip'
        inner_product_param { num_output: 2 } }
layer { name: 'py' type: 'Python' bottom: 'ip' top: 'py'
        python_param { module: 'kinds_of_vectors' layer: 'Kinds' } }
"""
LAYER = """
import caffe
class Kinds(caffe.Layer):
    seen = []
    def setup(self, bottom, top):
        self.blobs.add_blob(3)
    def reshape(self, bottom, top):
        top[0].reshape(1)
    def forward(self, bottom, top):
        self.seen += [type(bottom), type(top), type(self.blobs)]
    def backward(self, top, propagate_down, bottom):
        self.seen.append(type(propagate_down))
"""


@pytest.fixture
def net(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "kinds_of_vectors", raising=False)
    (tmp_path / "kinds_of_vectors.py").write_text(LAYER)
    (tmp_path / "net.prototxt").write_text("force_backward: true" + NET)
    return caffe.Net("net.prototxt", caffe.TRAIN)


def test_the_compiled_module_has_its_names():
    assert all(hasattr(_caffe, name) for name in _caffe.__all__)
    assert _caffe.__version__ == "1.0.0"
    for name in ("Net", "SGDSolver", "Layer", "Timer", "NCCL", "log", "layer_type_list"):
        assert getattr(_caffe, name) is getattr(caffe, name)


def test_vectors_have_caffes_types(net):
    assert type(net.params["ip"]) is _caffe.BlobVec
    assert type(net.params["py"]) is _caffe.BlobVec
    assert [type(blobs) for blobs in net.params.values()] == [_caffe.BlobVec] * 2
    assert type(net.layers) is _caffe.LayerVec
    assert type(net._layer_names) is type(net._blob_names) is _caffe.StringVec
    assert type(net._inputs) is type(net._top_ids(1)) is type(net._bottom_ids(1)) is _caffe.IntVec
    assert type(net._blob_loss_weights) is _caffe.DtypeVec
    assert isinstance(net.blobs["data"], _caffe.Blob)


def test_what_a_users_layer_is_given(net):
    net.forward()
    net.backward()
    raw, blobs, flags = _caffe.RawBlobVec, _caffe.BlobVec, _caffe.BoolVec
    assert net.layers[2].seen == [raw, raw, blobs, flags]


def test_solvers_have_a_base(net, tmp_path):
    path = tmp_path / "solver.prototxt"
    text = "train_net: 'net.prototxt' test_net: 'net.prototxt' test_iter: 1 test_interval: 9 "
    path.write_text(text + "base_lr: 1 lr_policy: 'fixed' snapshot_prefix: 'x'")
    adam = caffe.AdamSolver(str(path))
    assert isinstance(adam, _caffe.Solver)
    assert not isinstance(adam, caffe.SGDSolver)
    assert type(adam.test_nets) is _caffe.NetVec
    assert isinstance(caffe.get_solver(str(path)), caffe.SGDSolver)


def test_what_bvlcs_net_keeps(net):
    assert net._output_list == net.outputs == ["py"]
    assert net._input_list == ["data"]
    assert list(net._blobs_dict) == list(net.blobs)
    assert net._params_dict is net.params
    assert net._layer_dict is net.layer_dict
    assert net._top_names == net.top_names
    assert net._bottom_names == net.bottom_names
    assert net._blob_loss_weights_dict == net.blob_loss_weights
    (batch,) = net._batch({"data": np.ones((1, 3))})
    np.testing.assert_array_equal(batch["data"], [[1] * 3, [0] * 3])


def test_the_shape_of_a_blob_changes_by_reshape_only(net):
    blob = net.blobs["data"]
    for name in ("shape", "count"):
        with pytest.raises(AttributeError):
            setattr(blob, name, (4, 4))
    assert (blob.shape, blob.count, blob.data.shape) == ((2, 3), 6, (2, 3))


def test_a_net_without_a_phase_says_what_to_write(net):
    with pytest.raises(TypeError, match=r"Net\(file, 'w.caffemodel'\) needs a phase.*weights=weig"):
        caffe.Net("net.prototxt", "w.caffemodel")


def test_as_scripts_import_them():
    text = (
        "import pycaffe_dist\npycaffe_dist.install_as_caffe()\n"
        "import caffe\nprint(caffe._caffe.BlobVec.__name__)\n"
        "from caffe.pycaffe import *\nprint(SGDSolver is caffe.SGDSolver, Timer is caffe.Timer)\n"
        "print(NCCL is caffe.NCCL, Net is caffe.Net, np.__name__)\n"
        "from caffe._caffe import RawBlobVec, Layer, log, layer_type_list\n"
        "from caffe.coord_map import L\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.stdout.split() == ["BlobVec", *["True"] * 4, "numpy"], done.stderr
