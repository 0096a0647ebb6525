"""Pictures of nets: layers as boxes, blobs as octagons, by pydot and Graphviz."""

from __future__ import annotations

import importlib
import os
from types import ModuleType
from typing import Any

from pycaffe_dist.aliases import Facts
from pycaffe_dist.errors import MissingPartError, visible
from pycaffe_dist.files import atomic_write
from pycaffe_dist.proto import caffe_pb2 as caffe_pb2  # scripts find it here
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, NetParameter, PoolingParameter
from pycaffe_dist.proto.upgrade import upgrade_net

LAYER_STYLE_DEFAULT = {"shape": "record", "fillcolor": "#6495ED", "style": "filled"}
NEURON_LAYER_STYLE = {"shape": "record", "fillcolor": "#90EE90", "style": "filled"}
BLOB_STYLE = {"shape": "octagon", "fillcolor": "#E0E0E0", "style": "filled"}
COLORS = {
    "Convolution": "#FF5050",
    "Deconvolution": "#FF5050",
    "Pooling": "#FF9900",
    "InnerProduct": "#CC33FF",
}
LEARNING = ("Convolution", "Deconvolution", "InnerProduct")
NO_LABEL = '""'


def get_pooling_types_dict() -> dict[int, str]:
    """The names of pooling methods by number."""
    values = PoolingParameter.PoolMethod.DESCRIPTOR.values_by_name
    return {value.number: name for name, value in values.items()}


def get_edge_label(layer: LayerParameter) -> str:
    """What is written at the edges to a layer's tops: batch size or number of outputs."""
    if layer.type == "Data":
        return f"Batch {layer.data_param.batch_size}"
    if layer.type in ("Convolution", "Deconvolution"):
        return str(layer.convolution_param.num_output)
    if layer.type == "InnerProduct":
        return str(layer.inner_product_param.num_output)
    return NO_LABEL


def get_layer_lr_mult(layer: LayerParameter) -> tuple[float, float]:
    """The learning rate multipliers of weights and bias."""
    if layer.type not in LEARNING:
        raise ValueError("expected a Convolution/Deconvolution/InnerProduct layer")
    if len(layer.param) > 2:
        raise ValueError("Could not parse the learning rate multiplier")
    weights, bias = ([spec.lr_mult for spec in layer.param] + [1.0, 1.0])[:2]
    return weights, bias


def get_layer_label(layer: LayerParameter, rankdir: str, display_lrm: bool = False) -> str:
    """The text of a layer's box, in quotes: name, type, kernel, stride, padding, lr multipliers."""
    # In words beside each other where the graph leaves room for that, else in lines.
    separator = " " if rankdir in ("TB", "BT") else r"\n"
    return f'"{separator.join(map(_escaped, layer_words(layer, display_lrm)))}"'


def layer_words(layer: LayerParameter, display_lrm: bool = False) -> list[str]:
    """The pieces of that text, each on one line."""
    kind = layer.type
    if layer.type == "Pooling":
        kind += f" {get_pooling_types_dict()[layer.pooling_param.pool]}"
    parts = [layer.name, f"({kind})"]
    if layer.type == "Pooling":
        pool = layer.pooling_param
        parts += _spatial(pool.kernel_size, pool.stride, pool.pad)
    elif layer.type in ("Convolution", "Deconvolution"):
        conv = layer.convolution_param
        fields = (conv.kernel_size, 1), (conv.stride, 1), (conv.pad, 0)
        parts += _spatial(*(values[0] if values else default for values, default in fields))
    if display_lrm and layer.type in LEARNING:
        mults = get_layer_lr_mult(layer)
        if any(mults):
            parts.append("lr mult: {:.1f}, {:.1f}".format(*mults))
    return [visible(part) for part in parts]


def _spatial(kernel: int, stride: int, pad: int) -> list[str]:
    return [f"kernel size: {kernel}", f"stride: {stride}", f"pad: {pad}"]


def choose_color_by_layertype(layertype: str) -> str:
    """The colour of a layer's box."""
    return COLORS.get(layertype, LAYER_STYLE_DEFAULT["fillcolor"])


def get_pydot_graph(
    caffe_net: NetParameter,
    rankdir: str,
    label_edges: bool = True,
    phase: int | None = None,
    display_lrm: bool = False,
) -> Any:
    """The net as a ``pydot.Dot``.

    Args:
        caffe_net: the net; one in the old ``layers`` format is drawn as its upgrade.
        rankdir: the way it runs: "LR", "RL", "TB" or "BT".
        label_edges: whether edges to tops show batch sizes and numbers of outputs.
        phase: draw only what takes part in this phase.
        display_lrm: whether boxes show learning rate multipliers.
    """
    pydot = _pydot()
    graph = pydot.Dot(_quoted(caffe_net.name) or "Net", graph_type="digraph", rankdir=rankdir)
    nodes: Facts = {}
    edges: list[tuple[str, str, str]] = []
    for layer in _today(caffe_net).layer:
        if phase is not None and not in_phase(layer, phase):
            continue
        here = f"{layer.name}_{layer.type}"
        if len(layer.bottom) == 1 and list(layer.bottom) == list(layer.top):
            style = NEURON_LAYER_STYLE
        else:
            style = {**LAYER_STYLE_DEFAULT, "fillcolor": choose_color_by_layertype(layer.type)}
        nodes[here] = pydot.Node(get_layer_label(layer, rankdir, display_lrm), **style)
        for name in layer.bottom:
            nodes[f"{name}_blob"] = pydot.Node(_quoted(name), **BLOB_STYLE)
            edges.append((f"{name}_blob", here, NO_LABEL))
        for name in layer.top:
            nodes[f"{name}_blob"] = pydot.Node(_quoted(name))
            label = get_edge_label(layer) if label_edges else NO_LABEL
            edges.append((here, f"{name}_blob", label))
    for node in nodes.values():
        graph.add_node(node)
    for source, target, label in edges:
        graph.add_edge(pydot.Edge(nodes[source], nodes[target], label=label))
    return graph


def _today(net: NetParameter) -> NetParameter:
    if not net.layers:
        return net
    upgraded = NetParameter()
    upgraded.CopyFrom(net)
    upgrade_net(upgraded, net.name)
    return upgraded


def in_phase(layer: LayerParameter, phase: int) -> bool:
    """Whether the include or exclude rules name the phase; other rules are not looked at."""
    if layer.include and layer.exclude:
        raise ValueError(f"layer {layer.name} has both include and exclude specified.")
    included = not layer.include or any(rule.phase == phase for rule in layer.include)
    return included and all(rule.phase != phase for rule in layer.exclude)


def _quoted(name: str) -> str:
    """A name for Graphviz; what follows a colon would be a port of the node."""
    quoted = _escaped(visible(name))
    return f'"{quoted}"' if ":" in name or quoted != name else name


def _escaped(text: str) -> str:
    """Within Graphviz's quotes, which neither a quote nor a backslash of a name ends or changes."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def draw_net(
    caffe_net: NetParameter,
    rankdir: str,
    ext: str = "png",
    phase: int | None = None,
    display_lrm: bool = False,
) -> bytes:
    """The picture's bytes in the format ``ext``: png, pdf, svg, or raw for Graphviz's own text."""
    graph = get_pydot_graph(caffe_net, rankdir, phase=phase, display_lrm=display_lrm)
    if ext == "raw":
        return str(graph.to_string()).encode()
    try:
        picture: bytes = graph.create(format=ext)
    except FileNotFoundError as e:
        raise MissingPartError(
            f"Drawing a net needs Graphviz's program dot ({e}). Install the graphviz package of "
            "your system, or write a .raw file, which needs none."
        ) from e
    return picture


def draw_net_to_file(
    caffe_net: NetParameter,
    filename: str | os.PathLike[str],
    rankdir: str = "LR",
    phase: int | None = None,
    display_lrm: bool = False,
) -> None:
    """Write the picture, in the format that the file's ending names; see :func:`draw_net`."""
    ext = os.fspath(filename).rpartition(".")[2]
    picture = draw_net(caffe_net, rankdir, ext, phase, display_lrm)
    with atomic_write(filename) as file:
        file.write(picture)


def _pydot() -> ModuleType:
    reasons = []
    for name in ("pydot", "pydotplus"):
        try:
            return importlib.import_module(name)
        except ImportError as e:
            reasons.append(str(e))
    raise MissingPartError(
        f"Drawing a net needs the Python module 'pydot', which cannot be imported ({reasons[0]}).",
        "Install it with: python -m pip install 'pydot'",
    )


def __getattr__(name: str) -> Any:
    """``draw.pydot``, which scripts find here if it is installed."""
    if name != "pydot":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _pydot()
