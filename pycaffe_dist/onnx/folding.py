"""`--fold`: what scales and shifts the channels of a convolution goes into its weights."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnx

from pycaffe_dist.aliases import Array
from pycaffe_dist.onnx.export import Exported

# Operators with weights, and the axis of these that has a value for each channel of the output.
WEIGHTED = {"Conv": 0, "Gemm": 0}


Affine = tuple[Array, Array]


def fold(exported: Exported) -> int:
    """Fold BatchNormalization, Mul and Add by constants into what is before them; how many."""
    graph = exported.model.graph
    outputs = {value.name for value in graph.output}
    folded = 0
    while pair := _next(graph, exported.constants, outputs):
        before, after, (scale, shift) = pair
        _scale(before, exported.constants, scale, shift)
        before.output[0] = after.output[0]
        graph.node.remove(after)
        folded += 1
    used = {name for node in graph.node for name in node.input}
    for name in [n for n in exported.constants if n not in used]:
        del exported.constants[name]
    return folded


def _next(
    graph: onnx.GraphProto, constants: dict[str, Array], outputs: set[str]
) -> tuple[onnx.NodeProto, onnx.NodeProto, Affine] | None:
    """An operator with weights whose only reader can be folded into it."""
    readers = Counter(name for node in graph.node for name in node.input)
    made = {node.output[0]: node for node in graph.node}
    for after in graph.node:
        before = made.get(after.input[0]) if after.input else None
        if before is None or before.op_type not in WEIGHTED:
            continue
        alone = readers[before.output[0]] == 1 and before.output[0] not in outputs
        weights, affine = constants.get(before.input[1]), _affine(after, constants)
        if not alone or weights is None or affine is None:
            continue
        if before.op_type == "Gemm" and not _attribute(before, "transB"):
            continue
        if all(part.size in (1, len(weights)) for part in affine):
            return before, after, affine
    return None


def _affine(node: onnx.NodeProto, constants: dict[str, Array]) -> Affine | None:
    """Scale and shift of each channel, if that is all the operator does."""
    rest = [constants[name] for name in node.input[1:] if name in constants]
    if len(rest) < len(node.input) - 1:
        return None
    if node.op_type == "BatchNormalization":
        gamma, beta, mean, variance = (part.astype(np.float64) for part in rest)
        scale = gamma / np.sqrt(variance + _attribute(node, "epsilon"))
        return scale, beta - mean * scale
    if node.op_type in ("Mul", "Add") and _per_channel(rest[0]):
        values = rest[0].reshape(-1).astype(np.float64)
        return (values, np.zeros(1)) if node.op_type == "Mul" else (np.ones(1), values)
    return None


def _per_channel(values: Array) -> bool:
    """(C, 1, 1), or a single number: what broadcasts over pixels only."""
    return values.size == 1 or (values.ndim == 3 and values.shape[1:] == (1, 1))


def _attribute(node: onnx.NodeProto, name: str) -> float:
    found = [onnx.helper.get_attribute_value(a) for a in node.attribute if a.name == name]
    return found[0] if found else {"epsilon": 1e-5, "transB": 0}[name]


def _scale(node: onnx.NodeProto, constants: dict[str, Array], scale: Array, shift: Array) -> None:
    weights = constants[node.input[1]]
    shape = (-1, *[1] * (weights.ndim - 1))
    bias = constants[node.input[2]] if len(node.input) > 2 else np.zeros(len(weights))
    name = f"{node.name}/folded_{len(constants)}"
    constants[f"{name}/weight"] = (weights * scale.reshape(shape)).astype(np.float32)
    constants[f"{name}/bias"] = (bias * scale + shift).astype(np.float32)
    node.input[1] = f"{name}/weight"
    if len(node.input) > 2:
        node.input[2] = f"{name}/bias"
    else:
        node.input.append(f"{name}/bias")
