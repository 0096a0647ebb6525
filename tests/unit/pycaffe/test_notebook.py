"""How nets, blobs and solvers show themselves, and what they say of a wrong name."""

import base64
import io
import re
import sys
import types
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

import pycaffe_dist as caffe
from pycaffe_dist import events
from pycaffe_dist.errors import PcdError
from pycaffe_dist.pictures import png, tiles
from pycaffe_dist.pycaffe import notebook

NET = """
name: "small <net>"
layer { name: "data" type: "DummyData" top: "data" top: "t"
  dummy_data_param { shape { dim: 2 dim: 3 dim: 6 dim: 5 } shape { dim: 2 dim: 4 }
                     data_filler { type: "uniform" } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
  convolution_param { num_output: 2 kernel_size: 3 weight_filler { type: "xavier" } } }
layer { name: "ip" type: "InnerProduct" bottom: "conv" top: "ip"
  inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "t" top: "loss" }
"""
SOLVER = """
net: "net.prototxt" base_lr: 0.01 lr_policy: "fixed" max_iter: 6 display: 2
test_iter: 1 test_interval: 3 snapshot_after_train: false
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.prototxt").write_text(NET)
    (tmp_path / "solver.prototxt").write_text(SOLVER)
    return tmp_path


def picture(text):
    data = re.search(r'src="data:image/png;base64,([^"]+)"', text)[1]
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))))


def test_a_net_is_a_table_and_a_drawing(folder):
    net = caffe.Net("net.prototxt", caffe.TEST)
    assert repr(net) == net.summary()
    assert net.summary().startswith("small <net>, TEST\nlayer ")
    assert f"{3 * 9 * 2 + 2 + 24 * 4 + 4:,} parameters" in net.summary()
    svg = ElementTree.fromstring(net.draw("net.svg"))
    words = [t.text for t in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert "conv" in words and "ip" in words and not any("Split" in w for w in words)
    assert (folder / "net.svg").read_text() == net.draw()
    shown = net._repr_html_()
    assert "<svg" in shown and "small &lt;net&gt;" in shown and "<net>" not in shown


def test_blobs_of_images_are_grids(folder):
    net = caffe.Net("net.prototxt", caffe.TEST)
    net.forward()
    data = picture(net.blobs["data"]._repr_html_())  # two images in colour, enlarged four times
    assert data.shape[2] == 3 and data.shape[0] == 6 * 4 + 2
    conv = picture(net.blobs["conv"]._repr_html_())  # four grey planes
    assert (conv[..., 0] == conv[..., 1]).all()
    assert net.blobs["ip"]._repr_html_() == "Blob(2, 4)"
    assert picture(net.params["conv"][0]._repr_html_()).any()
    net.blobs["data"].reshape(1, 3, 6, 5)  # less than there is memory for
    assert picture(net.blobs["data"]._repr_html_()).shape[0] == 6 * 4 + 2


def test_a_png_holds_what_it_was_given():
    pixels = np.random.default_rng(1).integers(0, 256, (5, 7, 3), np.uint8)
    read = np.asarray(Image.open(io.BytesIO(png(pixels))))
    np.testing.assert_array_equal(read, pixels[:, :, ::-1])
    flat = tiles(np.array([[[0.0, np.nan], [1.0, np.inf]]]))
    assert flat.min() == 0 and flat.max() == 255


def test_a_wrong_name_is_told_with_the_right_one(folder):
    net = caffe.Net("net.prototxt", caffe.TEST)
    with pytest.raises(KeyError, match="there is no 'dat' here; did you mean \"data\"") as e:
        net.blobs["dat"]
    assert isinstance(e.value, PcdError)
    with pytest.raises(KeyError, match='did you mean "conv"'):
        net.params["conf"]
    assert "dat" not in net.blobs and net.blobs.get("dat") is None


def test_a_solver_keeps_its_history(folder):
    solver = caffe.SGDSolver("solver.prototxt")
    assert repr(solver) == "SGDSolver of small <net>, iteration 0 of 6"
    solver.solve()
    assert [x for x, _ in solver.history.curves["train loss"]] == [0, 2, 4]
    assert [x for x, _ in solver.history.curves["test loss"]] == [0, 3, 6]
    svg = ElementTree.fromstring(solver._repr_html_())
    assert len(list(svg.iter("{http://www.w3.org/2000/svg}polyline"))) == 2


def test_a_long_history_is_thinned():
    history = notebook.History()
    for i in range(20_000):
        history(events.Displayed(i, float("nan") if i == 5 else 1.0, 0, 0, 1))
    (curve,) = history.curves.values()
    assert len(curve) <= 2 * notebook.MOST_POINTS and curve[0][0] == 0 and curve[-1][0] > 19_990
    assert "nan" not in history.as_svg()


def test_progress_in_a_terminal_and_in_a_notebook(folder, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    caffe.SGDSolver("solver.prototxt").solve(progress=True)
    assert "iteration 1/6" in terminal.getvalue() or "iteration 6/6" in terminal.getvalue()

    shown = []
    display = types.ModuleType("IPython.display")
    display.HTML = str
    handle = types.SimpleNamespace(update=shown.append)
    display.display = lambda thing, display_id: shown.append(thing) or handle
    shell = types.ModuleType("IPython")
    shell.get_ipython = lambda: types.SimpleNamespace(kernel=1)
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    solver = caffe.SGDSolver("solver.prototxt")
    solver.solve(progress=True)
    assert '<progress value="1.0000"' in shown[-1] and "iteration 6/6" in shown[-1]
    assert not [s for s in solver.core.subscribers if isinstance(s, notebook.Progress)]
