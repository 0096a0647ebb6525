"""The graph, histograms and filters of a net, as TensorBoard itself reads them."""

import io

import numpy as np
from PIL import Image

from pycaffe_dist import events as e
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.report.tensorboard import TensorBoard

NET = """
layer { name: "data" type: "DummyData" top: "data"
  dummy_data_param { shape { dim: 2 dim: 3 dim: 6 dim: 5 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
  convolution_param { num_output: 2 kernel_size: 3 weight_filler { type: "xavier" } } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "sum" type: "Eltwise" bottom: "conv" bottom: "conv" top: "sum" }
"""


def events_of(folder):
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

    (path,) = folder.iterdir()
    return list(EventFileLoader(str(path)).Load())


def test_tensorboard_reads_graph_histograms_and_filters(tmp_path):
    from tensorboard.compat.proto.graph_pb2 import GraphDef
    from tensorboard.util import tensor_util

    net = Net(parse_text(NET, NetParameter()).message)
    weights = net.layers[1].blobs[0]
    weights.data[0, 0, 0, :2] = np.nan, np.inf
    tell = TensorBoard(tmp_path, net)
    tell(e.SolveBegins(0, "n", "fixed", 10))
    tell(e.Tested(5, 0, [e.Output(0, "acc", 0.5)]))
    tell(e.Tested(5, 1, [e.Output(0, "acc", 0.5)]))  # the weights are told once
    found = events_of(tmp_path)
    graph = GraphDef.FromString(next(x.graph_def for x in found if x.graph_def))
    assert [(n.name, n.op, list(n.input)) for n in graph.node] == [
        ("data", "DummyData", []),
        ("conv", "Convolution", ["data"]),
        ("relu", "ReLU", ["conv"]),
        ("sum", "Eltwise", ["relu"]),
    ]
    values = [(x.step, v) for x in found for v in x.summary.value if v.tag[0] != "_"]
    tags = [v.tag for _, v in values]
    assert tags == ["test0/acc", "conv/0", "conv/0", "conv/1", "test1/acc"]
    step, histogram = values[1]
    rows = tensor_util.make_ndarray(histogram.tensor)  # left, right, count
    finite = weights.data[np.isfinite(weights.data)]
    assert step == 5 and rows[:, 2].sum() == finite.size == 52
    np.testing.assert_allclose([rows[0, 0], rows[-1, 1]], [finite.min(), finite.max()], rtol=1e-6)
    width, height, data = values[2][1].tensor.string_val
    picture = Image.open(io.BytesIO(data))
    assert (int(width), int(height)) == picture.size
