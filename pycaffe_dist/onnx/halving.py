"""`--fp16`: weights and sums in half precision, inputs and outputs as they were."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper

from pycaffe_dist.onnx.export import Exported

FULL = ("NonMaxSuppression", "Resize", "MaxRoiPool", "CumSum")  # compute in float32 in any case
LARGEST = float(np.finfo(np.float16).max)


def halve(exported: Exported) -> None:
    """Make the model compute in float16, between a Cast of each input and one of each output."""
    graph = exported.model.graph
    kept = _kept_whole(graph)
    for name, values in exported.constants.items():
        if values.dtype == np.float32 and name not in kept:
            exported.constants[name] = np.clip(values, -LARGEST, LARGEST).astype(np.float16)
    nodes = list(graph.node)
    apart = _apart(nodes)
    _cast_inside(nodes)
    heads = [_cast(v.name, f"{v.name}/half", TensorProto.FLOAT16) for v in graph.input]
    inner = {head.input[0]: head.output[0] for head in heads}
    inner |= {value.name: f"{value.name}/half" for value in graph.output}
    for node in nodes:
        for names in (node.input, node.output):
            for i, name in enumerate(names):
                names[i] = inner.get(name, name)
    tails = [_cast(inner[v.name], v.name, TensorProto.FLOAT) for v in graph.output]
    del graph.node[:]
    for node in heads + nodes + tails:
        whole = node.op_type in FULL and node.input[0] not in apart
        graph.node.extend(_in_full(node) if whole else [node])


def _kept_whole(graph: onnx.GraphProto) -> set[str]:
    """Constants of operators that compute in float32."""
    return {n for node in graph.node if node.op_type in FULL for n in node.input[1:]}


def _apart(nodes: list[onnx.NodeProto]) -> set[str]:
    """Running sums of values that are no float32: counted in int64, or in float64 to be exact."""
    found: set[str] = set()
    for node in nodes:
        kinds = [a.i for a in node.attribute if a.name == "to"]
        counted = node.op_type == "CumSum" and node.input[0] in found
        if counted or (kinds and kinds != [TensorProto.FLOAT]):
            found.add(node.output[0])
    return found


def _cast_inside(nodes: list[onnx.NodeProto]) -> None:
    for node in nodes:
        if node.op_type == "Cast" and node.attribute[0].i == TensorProto.FLOAT:
            node.attribute[0].i = TensorProto.FLOAT16


def _cast(source: str, target: str, to: int) -> onnx.NodeProto:
    # Layers' own casts are called LAYER/Cast, and the last one may be that of an output.
    return helper.make_node("Cast", [source], [target], name=f"{target}/Cast/half", to=to)


def _in_full(node: onnx.NodeProto) -> list[onnx.NodeProto]:
    """The operator between casts of what it reads, and of what it makes if that is a number."""
    reads = 2 if node.op_type in ("NonMaxSuppression", "MaxRoiPool") else 1
    casts = []
    for i in range(reads):
        full = f"{node.name}/full{i}"
        casts.append(_cast(node.input[i], full, TensorProto.FLOAT))
        node.input[i] = full
    if node.op_type == "NonMaxSuppression":
        return [*casts, node]
    made = node.output[0]
    node.output[0] = f"{node.name}/made"
    return [*casts, node, _cast(node.output[0], made, TensorProto.FLOAT16)]
