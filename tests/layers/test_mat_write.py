"""MatWrite: what other programs find in its files, how those are called, and what is refused."""

import numpy as np
import pytest
from scipy.io import loadmat

from pycaffe_dist.blob import Blob, View
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.proto.caffe_pb2 import LayerParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.registry import create_layer
from pycaffe_dist.testing import LayerCase, LayerRun


def layer(folder, settings=""):
    return f'type: "MatWrite" mat_write_param {{ prefix: "{folder}/deep/" {settings} }}'


def run(folder, settings="", shapes=((2, 3, 4, 5),), dtype=np.float32):
    return LayerRun(LayerCase(layer(folder, settings), shapes, tops=0), dtype)


def files(folder):
    return sorted(path.name for path in (folder / "deep").glob("*"))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_bottom_has_a_file_with_its_axes_in_reverse(tmp_path, dtype):
    net = run(tmp_path, shapes=[(2, 3, 4, 5), (2, 3)], dtype=dtype)
    net.forward()
    assert files(tmp_path) == ["iter_0_blob_0.mat", "iter_0_blob_1.mat"]
    for name, values in zip(files(tmp_path), net.inputs, strict=True):
        found = loadmat(tmp_path / "deep" / name)["data"]
        whole = values.reshape(*values.shape, *[1] * (4 - values.ndim))
        assert found.dtype == dtype
        # Axes of 1 at the end are not kept by MATLAB's own files either.
        np.testing.assert_array_equal(found.reshape(whole.T.shape), whole.T)


def test_names_come_from_the_list(tmp_path):
    (tmp_path / "list.txt").write_text("cat.png 3\ndog.png\n")
    net = run(tmp_path, f'source: "{tmp_path}/list.txt" strip: 4')
    net.forward()
    net.forward()
    assert files(tmp_path) == ["cat_blob_0.mat", "dog_blob_0.mat"]
    with pytest.raises(NetError, match="has names for 2 passes, this is one more"):
        net.forward()


def test_only_every_so_many_passes_write(tmp_path):
    net = run(tmp_path, "period: 2")
    for _ in range(3):
        net.forward()
    assert files(tmp_path) == ["iter_0_blob_0.mat", "iter_2_blob_0.mat"]


@pytest.mark.parametrize("settings", [{"dry": True}, {"writes": False}])
def test_a_net_that_is_only_tried_touches_no_file(tmp_path, settings):
    text = layer(tmp_path, 'source: "not there"')
    param = parse_text(f'name: "m" {text}', LayerParameter()).message
    made = create_layer(param, Context(**settings))
    bottom = [View(Blob((2, 3)))]
    made.set_up(bottom, [])
    if "writes" in settings:
        made.forward(bottom, [])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("period: 0", "period must be above 0"),
        ("strip: -1", "strip must not be negative"),
        ('source: "{folder}/none.txt"', "none.txt: cannot be read"),
        ('source: "{folder}/list.txt" strip: 3', r"list.txt:2: .* more than strip = 3 .*'dog'"),
    ],
)
def test_what_is_refused(tmp_path, settings, message):
    (tmp_path / "list.txt").write_text("lion\ndog\n")
    with pytest.raises(NetError, match=message):
        run(tmp_path, settings.format(folder=tmp_path))


def test_a_folder_that_cannot_be_made_is_named_with_the_layer(tmp_path):
    (tmp_path / "deep").write_text("a file")
    with pytest.raises(NetError, match=r"\(MatWrite\).*deep: is a file"):
        run(tmp_path).forward()
