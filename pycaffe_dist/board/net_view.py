"""The net of a run as a graph: what each layer is, costs, took and weighs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from pycaffe_dist.aliases import Array, Facts
from pycaffe_dist.board.runs import Run
from pycaffe_dist.errors import FileError, NetError, PcdError
from pycaffe_dist.facts import layer_facts, totals
from pycaffe_dist.pictures import data_uri, tiles
from pycaffe_dist.proto.caffe_pb2 import TRAIN, LayerParameter, NetParameter, NetState
from pycaffe_dist.proto.nets import NetFile, read_net
from pycaffe_dist.proto.state import filter_net
from pycaffe_dist.proto.text import format_text
from pycaffe_dist.proto.weights import LayerWeights, read_weights
from pycaffe_dist.pycaffe.layered import lay_out
from pycaffe_dist.sketch import Sketch
from pycaffe_dist.tools.fake_data import fake_data
from pycaffe_dist.tools.run_layers import LAYERS
from pycaffe_dist.tools.run_model import TRANSFORM, newest_weights

BOX = (190.0, 46.0)  # of a layer
BINS = 40
WIDEST = 200  # letters of a word that a run's file has for a layer


def net_of(run: Run) -> NetParameter:
    """The training net as the run's folder has it.

    Raises:
        FileError: it has none.
    """
    net = read_net(run.file("net.prototxt")).net
    return filter_net(net, NetState(phase=TRAIN))


def graph(run: Run, times: dict[str, Facts]) -> Facts:
    """Boxes and edges in their places, and the facts of the layers.

    Args:
        run: whose net.
        times: of a trace: what each layer took, and how its parameters travelled.
    """
    net = net_of(run)
    facts, problem = _facts(net, run)
    told = told_by_layer(run)
    edges, shapes = _edges(net, facts)
    placed = lay_out([BOX] * len(net.layer), edges)
    layers = []
    for layer, box in zip(net.layer, placed.boxes, strict=True):
        known = facts.get(layer.name, {})
        layers.append(
            {
                "name": layer.name,
                "type": layer.type,
                "x": box.x,
                "y": box.y,
                **known,
                **told.get(layer.name, {}),
                **times.get(layer.name, {}),
            }
        )
    lines = [
        {"blob": e.blob, "shape": shapes.get(e.blob, ""), "path": e.path("{:.1f},{:.1f}".format)}
        for e in placed.lines
    ]
    size = {"width": placed.width, "height": placed.height, "box": BOX}
    return {
        "name": net.name,
        "layers": layers,
        "lines": lines,
        "problem": problem,
        **size,
        **facts.get("", {}),
    }


def told_by_layer(run: Run) -> dict[str, Facts]:
    """What computed each layer and how its parameters travelled, as the run has written it."""
    try:
        rows = dict(json.loads(run.text(LAYERS))["layers"])
        return {str(name): _told(row) for name, row in rows.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}  # of an older version, or damaged


def _told(row: Facts) -> Facts:
    ways = ("forward_by", "backward_by")
    said: Facts = {name: str(row[name])[:WIDEST] for name in ways if row[name]}
    schemes = {str(number): str(name)[:WIDEST] for number, name in row.get("schemes", {}).items()}
    if schemes:
        said |= {"schemes": schemes, "scheme": ", ".join(dict.fromkeys(schemes.values()))}
    return said


def _edges(
    net: NetParameter, facts: dict[str, Facts]
) -> tuple[list[tuple[int, int, str]], dict[str, str]]:
    """From layer to layer, those that work in place in a row, and the shape of each blob."""
    made: dict[str, int] = {}
    edges: dict[tuple[int, int, str], None] = {}
    shapes: dict[str, str] = {}
    for i, layer in enumerate(net.layer):
        edges |= {(made[b], i, b): None for b in layer.bottom if b in made}
        for blob, shape in zip(
            layer.top, facts.get(layer.name, {}).get("shapes", ()), strict=False
        ):
            shapes[blob] = shape
        made |= dict.fromkeys(layer.top, i)
    return list(edges), shapes


def _facts(net: NetParameter, run: Run) -> tuple[dict[str, Facts], str]:
    """Shapes and costs of a net that is never run and whose data are never opened."""
    try:
        closed = _closed(net, run)
        rows = layer_facts(Sketch(NetFile(closed, "", [])))
    except (PcdError, ValueError, ArithmeticError, MemoryError) as e:
        return {}, str(e)
    sums = totals(rows)
    found: dict[str, Facts] = {
        row.name: {
            "shapes": ["x".join(map(str, s)) for s in row.top_shapes],
            "params": int(row.param_count),
            "flops": int(row.flops),
            "bytes": int(row.data_bytes + row.diff_bytes),
            "note": row.note,
        }
        for row in rows
    }
    found[""] = {
        "params": int(sums.params),
        "flops": int(sums.flops),
        "memory": int(sums.train_bytes),
    }
    return found, ""


def _closed(net: NetParameter, run: Run) -> NetParameter:
    """The net with made-up data in place of its sources, at the size the run remembers."""
    try:
        shape = [int(v) for v in json.loads(run.text(TRANSFORM))["input"]]
    except (ValueError, KeyError, TypeError):
        return fake_data(net)
    out = NetParameter()
    out.CopyFrom(net)
    for layer in out.layer:
        if layer.bottom or layer.type in ("Input", "DummyData", "Parameter"):
            continue
        batch = layer.data_param.batch_size or layer.image_data_param.batch_size or 1
        made = LayerParameter(name=layer.name, type="Input", top=layer.top)
        for i, _ in enumerate(layer.top):
            made.input_param.shape.add(dim=[batch, *shape] if i == 0 else [batch])
        layer.CopyFrom(made)
    return out


# -- one layer -------------------------------------------------------------------------------------


def layer_view(run: Run, name: str) -> Facts:
    """The prototxt of a layer, and its parameters: numbers, histogram, filters."""
    net = net_of(run)
    found = [layer for layer in net.layer if layer.name == name]
    if not found:
        raise NetError(f"the net has no layer {name!r}")
    text = format_text(NetParameter(layer=found[:1]))
    said: Facts = {"name": name, "type": found[0].type, "prototxt": text, "blobs": []}
    assert run.folder is not None
    try:
        weights = str(run.places.inside(newest_weights(str(run.folder))))
    except FileError as e:
        return {**said, "why": str(e)}
    said["weights"] = Path(weights).name
    for layer in read_weights(weights).layers:
        if layer.name == name:
            said["blobs"] = [blob_view(values) for values in _arrays(layer)]
    return said


def _arrays(layer: LayerWeights) -> list[Array]:
    return [np.asarray(blob.data) for blob in layer.blobs if blob is not None]


def blob_view(values: Array) -> Facts:
    """A parameter's shape, range and histogram, and its filters if they are images."""
    finite = values[np.isfinite(values)]
    said: Facts = {"shape": "x".join(map(str, values.shape)), "count": int(values.size)}
    said["not_finite"] = int(values.size - finite.size)
    if finite.size:
        counts, edges = np.histogram(finite, BINS)
        said |= {"low": float(finite.min()), "high": float(finite.max())}
        said |= {"mean": float(finite.mean()), "std": float(finite.std())}
        said |= {"counts": counts.tolist(), "edges": [float(f"{e:.5g}") for e in edges]}
    if values.ndim == 4 and values.shape[2] > 1:
        colored = values.shape[1] == 3  # blue first, as pictures are
        planes = values if colored else values.reshape(-1, *values.shape[2:])
        said["filters"] = data_uri(tiles(planes))
    return said
