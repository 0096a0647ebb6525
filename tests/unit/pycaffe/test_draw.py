import sys
from pathlib import Path
from types import ModuleType

import pytest

from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.proto import caffe_pb2
from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN, LayerParameter, NetParameter
from pycaffe_dist.proto.text import read_text
from pycaffe_dist.pycaffe import draw
from pycaffe_dist.pycaffe.net_spec import NetSpec
from pycaffe_dist.pycaffe.net_spec import layers as L
from pycaffe_dist.pycaffe.net_spec import params as P

ROOT = Path(__file__).parents[3]
NETS = sorted(p for p in ROOT.glob("models/*/*.prototxt") if "solver" not in p.name)


class Node:
    def __init__(self, name, **style):
        self.name, self.style = name, style


class Edge:
    def __init__(self, source, target, label):
        self.source, self.target, self.label = source, target, label


class Dot:
    def __init__(self, name, graph_type, rankdir):
        self.name, self.graph_type, self.rankdir = name, graph_type, rankdir
        self.nodes, self.edges = [], []

    def add_node(self, node):
        self.nodes.append(node)

    def add_edge(self, edge):
        self.edges.append((edge.source.name, edge.target.name, edge.label))

    def create(self, format):
        return f"picture in {format}".encode()

    def to_string(self):
        return "digraph"


@pytest.fixture
def pydot(monkeypatch):
    module = ModuleType("pydot")
    module.Node, module.Edge, module.Dot = Node, Edge, Dot
    monkeypatch.setitem(sys.modules, "pydot", module)
    return module


def small_net():
    n = NetSpec()
    n.data, n.label = L.Data(ntop=2, batch_size=64, include={"phase": TRAIN})
    n.conv = L.Convolution(n.data, num_output=20, kernel_size=5, pad=2, param=[{"lr_mult": 1}])
    n.relu = L.ReLU(n.conv, in_place=True)
    n.pool = L.Pooling(n.relu, pool=P.Pooling.AVE, kernel_size=3, stride=2)
    n.ip = L.InnerProduct(n.pool, num_output=10, param=[{"lr_mult": 2}, {"lr_mult": 0.5}])
    n.loss = L.SoftmaxWithLoss(n.ip, n.label, exclude={"phase": TEST})
    net = n.to_proto()
    net.name = "small"
    return net


CONV = r'"conv\n(Convolution)\nkernel size: 5\nstride: 1\npad: 2"'
POOL = r'"pool\n(Pooling AVE)\nkernel size: 3\nstride: 2\npad: 0"'


def test_modules_that_scripts_find_here(pydot):
    assert draw.pydot is sys.modules["pydot"]
    assert draw.caffe_pb2 is caffe_pb2


def test_graph(pydot):
    graph = draw.get_pydot_graph(small_net(), "LR")
    assert (graph.name, graph.graph_type, graph.rankdir) == ("small", "digraph", "LR")
    styles = {node.name: node.style for node in graph.nodes}
    blob = {"shape": "octagon", "fillcolor": "#E0E0E0", "style": "filled"}
    box = {"shape": "record", "style": "filled"}
    assert styles == {
        r'"data\n(Data)"': {**box, "fillcolor": "#6495ED"},
        CONV: {**box, "fillcolor": "#FF5050"},
        r'"relu\n(ReLU)"': {**box, "fillcolor": "#90EE90"},
        POOL: {**box, "fillcolor": "#FF9900"},
        r'"ip\n(InnerProduct)"': {**box, "fillcolor": "#CC33FF"},
        r'"loss\n(SoftmaxWithLoss)"': {**box, "fillcolor": "#6495ED"},
        **dict.fromkeys(("data", "label", "conv", "pool", "ip"), blob),
        "loss": {},  # what nothing takes looks plain
    }
    assert graph.edges == [
        (r'"data\n(Data)"', "data", "Batch 64"),
        (r'"data\n(Data)"', "label", "Batch 64"),
        ("data", CONV, '""'),
        (CONV, "conv", "20"),
        ("conv", r'"relu\n(ReLU)"', '""'),
        (r'"relu\n(ReLU)"', "conv", '""'),
        ("conv", POOL, '""'),
        (POOL, "pool", '""'),
        ("pool", r'"ip\n(InnerProduct)"', '""'),
        (r'"ip\n(InnerProduct)"', "ip", "10"),
        ("ip", r'"loss\n(SoftmaxWithLoss)"', '""'),
        ("label", r'"loss\n(SoftmaxWithLoss)"', '""'),
        (r'"loss\n(SoftmaxWithLoss)"', "loss", '""'),
    ]


def test_graph_without_edge_labels(pydot):
    graph = draw.get_pydot_graph(small_net(), "LR", label_edges=False)
    assert {label for _, _, label in graph.edges} == {'""'}


@pytest.mark.parametrize(("phase", "there"), [(None, 6), (TRAIN, 6), (TEST, 4)])
def test_phases(pydot, phase, there):
    graph = draw.get_pydot_graph(small_net(), "LR", phase=phase)
    assert sum(node.name.startswith('"') for node in graph.nodes) == there


def test_include_and_exclude(pydot):
    net = small_net()
    net.layer[0].exclude.add()
    with pytest.raises(ValueError, match="layer data has both include and exclude specified"):
        draw.get_pydot_graph(net, "LR", phase=TEST)


def test_labels():
    conv, pool, ip = (small_net().layer[i] for i in (1, 3, 4))
    assert draw.get_layer_label(conv, "LR") == CONV
    spaced = '"conv (Convolution) kernel size: 5 stride: 1 pad: 2"'
    assert draw.get_layer_label(conv, "TB") == draw.get_layer_label(conv, "BT") == spaced
    assert draw.get_layer_label(pool, "LR", display_lrm=True) == POOL
    shown = r'"ip\n(InnerProduct)\nlr mult: 2.0, 0.5"'
    assert draw.get_layer_label(ip, "LR", display_lrm=True) == shown
    for spec in ip.param:
        spec.lr_mult = 0
    assert draw.get_layer_label(ip, "LR", display_lrm=True) == r'"ip\n(InnerProduct)"'
    bare = LayerParameter(name="d", type="Deconvolution")
    assert draw.get_layer_label(bare, "TB") == '"d (Deconvolution) kernel size: 1 stride: 1 pad: 0"'


def test_lr_multipliers():
    layer = LayerParameter(type="Convolution")
    assert draw.get_layer_lr_mult(layer) == (1, 1)
    layer.param.add(lr_mult=3)
    assert draw.get_layer_lr_mult(layer) == (3, 1)
    layer.param.add(lr_mult=4)
    assert draw.get_layer_lr_mult(layer) == (3, 4)
    layer.param.add()
    with pytest.raises(ValueError, match="Could not parse the learning rate multiplier"):
        draw.get_layer_lr_mult(layer)
    with pytest.raises(ValueError, match="expected a Convolution/Deconvolution/InnerProduct"):
        draw.get_layer_lr_mult(LayerParameter(type="ReLU"))


def test_edge_labels_and_colours():
    deconv = LayerParameter(type="Deconvolution")
    deconv.convolution_param.num_output = 7
    assert draw.get_edge_label(deconv) == "7"
    assert draw.get_edge_label(LayerParameter(type="ReLU")) == '""'
    assert draw.choose_color_by_layertype("Deconvolution") == "#FF5050"
    assert draw.choose_color_by_layertype("Anything") == "#6495ED"
    kinds = draw.get_pooling_types_dict()
    assert {i: kinds[i] for i in range(3)} == {0: "MAX", 1: "AVE", 2: "STOCHASTIC"}


def test_old_nets_are_upgraded(pydot):
    net = NetParameter()
    net.layers.add(name="r", type=18, bottom=["a"], top=["b"])  # RELU
    graph = draw.get_pydot_graph(net, "TB")
    assert graph.name == "Net"
    assert '"r (ReLU)"' in [node.name for node in graph.nodes]
    assert net.layers  # the caller's is as it was


def test_names_with_colons(pydot):
    net = NetParameter()
    net.layer.add(name="r", type="ReLU", bottom=["a:0"], top=["b"])
    graph = draw.get_pydot_graph(net, "TB")
    assert [node.name for node in graph.nodes] == ['"r (ReLU)"', '"a:0"', "b"]


@pytest.mark.parametrize("path", NETS, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_every_net_of_ours(pydot, path):
    net = read_text(path, NetParameter()).message
    for phase in (None, TRAIN, TEST):
        assert draw.get_pydot_graph(net, "TB", phase=phase, display_lrm=True).edges


def test_there_are_nets():
    assert NETS


def test_files(pydot, tmp_path):
    assert draw.draw_net(small_net(), "LR", "svg") == b"picture in svg"
    draw.draw_net_to_file(small_net(), str(tmp_path / "net.png"), rankdir="TB", phase=TEST)
    assert (tmp_path / "net.png").read_bytes() == b"picture in png"
    draw.draw_net_to_file(small_net(), tmp_path / "net.raw")
    assert (tmp_path / "net.raw").read_bytes() == b"digraph"


def test_no_graphviz(pydot, monkeypatch, tmp_path):
    def create(self, format):
        raise FileNotFoundError('"dot" not found in path.')

    monkeypatch.setattr(Dot, "create", create)
    with pytest.raises(MissingPartError, match=r"Graphviz's program dot.*\.raw"):
        draw.draw_net_to_file(small_net(), tmp_path / "net.png")
    assert not (tmp_path / "net.png").exists()


def test_no_pydot(monkeypatch):
    for name in ("pydot", "pydotplus"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingPartError, match=r"'pydot'.*\n.*pip install 'pydot'"):
        draw.get_pydot_graph(small_net(), "LR")


def test_the_real_pydot():
    text = draw.draw_net(small_net(), "LR", "raw").decode()
    assert CONV in text
    assert "#FF5050" in text
