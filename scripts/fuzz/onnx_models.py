"""Models of ONNX in which something is another thing than it should be.

Bytes that are damaged rarely get beyond the parser; these parse, and claim what is not so.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
from damage import INTEGERS
from onnx import TensorProto, defs, helper, numpy_helper

node = helper.make_node
SHAPE = [2, 4, 9, 8]
VALUES = np.random.RandomState(0)
KINDS = sorted({schema.name for schema in defs.get_all_schemas()})
_USUAL = "Conv Gemm MatMul Reshape LSTM Resize Pad Slice Gather Concat Expand Tile Loop If Cast"
USUAL = _USUAL.split()
PLACES = (
    "list.txt",
    "img",
    "/etc/passwd",
    "../sound/list.txt",
    "",
    ".",
    "db/data.mdb",
    "/dev/zero",
)
PLACES += ("img/../../sound/list.txt", "deploy.onnx", "a" * 300, "x\0y")


def numbers(*shape: int) -> Any:
    return VALUES.standard_normal(shape).astype(np.float32)


def floats(values: Any) -> Any:
    return np.array(values, np.float32)


NORM = {name: np.abs(numbers(6)) for name in ("g", "b", "m", "v")}
SEQUENCE = {"w": numbers(2, 12, 5), "r": numbers(2, 12, 3), "b": numbers(2, 24)}
# Chains of operators from "x" to "y", and their constants.
GRAPHS: list[tuple[list[Any], dict[str, Any]]] = [
    (
        [
            node("Conv", ["x", "w"], ["c"], pads=[1, 0, 0, 1], strides=[2, 1], group=2),
            node("BatchNormalization", ["c", *NORM], ["n"]),
            node("Clip", ["n", "lo", "hi"], ["r"]),
            node("AveragePool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
            node("Flatten", ["p"], ["f"]),
            node("Gemm", ["f", "k"], ["h"], alpha=0.5, transB=1),
            node("Softmax", ["h"], ["y"], axis=1),
        ],
        {"w": numbers(6, 2, 3, 3), **NORM, "lo": floats(0), "hi": floats(6), "k": numbers(5, 48)},
    ),
    (
        [
            node("Shape", ["x"], ["s"]),
            node("Gather", ["s", "i"], ["n"]),
            node("Unsqueeze", ["n", "i0"], ["u"]),
            node("Concat", ["u", "m"], ["d"], axis=0),
            node("Reshape", ["x", "d"], ["f"]),
            node("MatMul", ["f", "k"], ["h"]),
            node("Add", ["h", "b"], ["y"]),
        ],
        {"i": np.array(0), "i0": np.array([0]), "m": np.array([-1])}
        | {"k": numbers(288, 5), "b": numbers(5)},
    ),
    (
        [
            node("Resize", ["x", "", "s"], ["r"], mode="nearest"),
            node("Pad", ["r", "p"], ["q"], mode="reflect"),
            node("ConvTranspose", ["q", "w"], ["t"], strides=[2, 2], pads=[0, 0, 1, 1], group=2),
            node("Slice", ["t", "b", "e", "a", "st"], ["l"]),
            node("Transpose", ["l"], ["o"], perm=[0, 2, 3, 1]),
            node("ReduceMean", ["o"], ["y"], axes=[1, 2], keepdims=0),
        ],
        {"s": floats([1, 1, 1.5, 2]), "p": np.array([0, 0, 1, 2, 0, 0, 1, 0])}
        | {"w": numbers(4, 3, 4, 4), "b": np.array([1, 9]), "e": np.array([9, 2])}
        | {"a": np.array([2, 3]), "st": np.array([1, -1])},
    ),
    (
        [
            node("Split", ["x", "n"], ["a", "b"], axis=1),
            node("Sigmoid", ["a"], ["s"]),
            node("GlobalAveragePool", ["b"], ["g"]),
            node("Mul", ["s", "g"], ["m"]),
            node("Sub", ["k", "m"], ["d"]),
            node("Concat", ["d", "b"], ["c"], axis=1),
            node("Gather", ["c", "i"], ["h"], axis=1),
            node("DepthToSpace", ["h"], ["y"], blocksize=2, mode="CRD"),
        ],
        {"n": np.array([2, 2]), "k": numbers(2, 1, 1), "i": np.array([2, 0, 1, -1])},
    ),
    (
        [
            node("Reshape", ["x", "d"], ["q"]),
            node("LSTM", ["q", *SEQUENCE], ["l", "h"], hidden_size=3, direction="bidirectional"),
            node("Transpose", ["l"], ["t"], perm=[0, 2, 1, 3]),
            node("Reshape", ["t", "e"], ["o"]),
            node("ReduceMax", ["o"], ["y"], axes=[0]),
        ],
        {"d": np.array([0, -1, 5]), "e": np.array([0, 0, -1])} | SEQUENCE,
    ),
    (
        [
            node("Constant", [], ["c"], value=numpy_helper.from_array(numbers(4, 1, 1))),
            node("ConstantOfShape", ["z"], ["k"], value=numpy_helper.from_array(floats([2]))),
            node("Expand", ["c", "s"], ["e"]),
            node("Mul", ["x", "e"], ["m"]),
            node("Add", ["m", "k"], ["a"]),
            node("ArgMax", ["a"], ["y"], axis=1, keepdims=0),
        ],
        {"z": np.array([1]), "s": np.array([4, 9, 8])},
    ),
]


def some_model(rng: random.Random) -> Any:
    """A sound one."""
    nodes, constants = rng.choice(GRAPHS)
    shape = [2, 4, 45, 1] if any(n.op_type == "LSTM" for n in nodes) else list(SHAPE)
    if rng.random() < 0.2:
        shape[0] = "N"
    whole = TensorProto.INT64 if nodes[-1].op_type == "ArgMax" else TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", whole, None)],
        [numpy_helper.from_array(np.asarray(values), name) for name, values in constants.items()],
    )
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def twisted(rng: random.Random) -> Any:
    """One with up to three twists."""
    model = some_model(rng)
    for _ in range(rng.choice((1, 1, 2, 3))):
        rng.choice(TWISTS)(rng, model)
    return model


# -- twists ----------------------------------------------------------------------------------------


def _number(rng: random.Random) -> int:
    return rng.choice([n for n in INTEGERS if -(1 << 63) <= n < 1 << 63])


def attribute(rng: random.Random, model: Any) -> None:
    found = [a for n in model.graph.node for a in n.attribute]
    if not found:
        return
    one = rng.choice(found)
    what = rng.random()
    if one.ints and what < 0.7:
        one.ints[rng.randrange(len(one.ints))] = _number(rng)
    elif one.ints:
        one.ints.append(_number(rng)) if what < 0.85 else one.ints.pop()
    elif what < 0.7:
        one.i = _number(rng)
    elif what < 0.8:
        one.name = rng.choice(("axis", "axes", "pads", "kernel_shape", "to", "mode", "value"))
    else:
        one.type = rng.randrange(16)
        one.s, one.f = b"\xff\xfe", float("nan")


def constant(rng: random.Random, model: Any) -> None:
    """Its sizes, its type, or its values: those of shapes are numbers of sizes."""
    if not model.graph.initializer:
        return
    tensor = rng.choice(model.graph.initializer)
    what = rng.randrange(5)
    if what == 0 and tensor.dims:
        tensor.dims[rng.randrange(len(tensor.dims))] = _number(rng)
    elif what == 1:
        tensor.dims.append(_number(rng))
    elif what == 2:
        tensor.data_type = rng.randrange(25)
    elif what == 3:
        tensor.raw_data = tensor.raw_data[: rng.randrange(len(tensor.raw_data) + 1)]
    else:
        values = np.frombuffer(tensor.raw_data, np.uint8).copy()
        many = values.view(np.int64 if tensor.data_type == TensorProto.INT64 else np.uint8)
        if len(many):
            many[rng.randrange(len(many))] = _number(rng) & (127 if many.itemsize == 1 else -1)
        tensor.raw_data = values.tobytes()


def edge(rng: random.Random, model: Any) -> None:
    """An input that is another value: of the operator itself, a later one, none, or nobody's."""
    nodes = model.graph.node
    one = rng.choice(nodes)
    names = [n for other in nodes for n in other.output] + ["x", "", "nobody", "w"]
    if one.input and rng.random() < 0.7:
        one.input[rng.randrange(len(one.input))] = rng.choice(names)
    elif rng.random() < 0.5:
        one.output[rng.randrange(len(one.output))] = rng.choice(names)
    elif one.input:
        one.input.append(rng.choice(names)) if rng.random() < 0.5 else one.input.pop()


def operator(rng: random.Random, model: Any) -> None:
    one = rng.choice(model.graph.node)
    what = rng.random()
    if what < 0.6:
        one.op_type = rng.choice(USUAL if rng.random() < 0.6 else KINDS)
    elif what < 0.7:
        one.domain = rng.choice(("com.microsoft", "ai.onnx.ml", "ai.onnx", "x"))
    elif what < 0.8:
        model.graph.node.append(one)
    elif what < 0.9 and len(model.graph.node) > 1:
        model.graph.node.remove(one)
    else:
        model.graph.node.insert(0, model.graph.node.pop())


def size(rng: random.Random, model: Any) -> None:
    """Of the input; or its type, or whether it has any."""
    kind = model.graph.input[0].type.tensor_type
    dims = kind.shape.dim
    what = rng.random()
    if what < 0.6:
        dims[rng.randrange(len(dims))].dim_value = _number(rng)
    elif what < 0.7:
        dims.add().dim_param = "more"
    elif what < 0.8:
        del dims[rng.randrange(len(dims)) :]
    elif what < 0.9:
        kind.elem_type = rng.randrange(25)
    else:
        model.graph.input[0].type.sequence_type.elem_type.SetInParent()


def version(rng: random.Random, model: Any) -> None:
    model.opset_import[0].version = rng.choice((0, 1, 6, 7, 9, 11, 13, 18, 21, 23, 99, -1, 1 << 40))
    if rng.random() < 0.2:
        del model.opset_import[:]
    if rng.random() < 0.2:
        model.ir_version = rng.choice((0, 1, 3, 99))


def elsewhere(rng: random.Random, model: Any) -> None:
    """Values in another file."""
    tensors = [a.t for n in model.graph.node for a in n.attribute if a.HasField("t")]
    tensor = rng.choice([*model.graph.initializer, *tensors])
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=rng.choice(PLACES))
    if rng.random() < 0.4:
        tensor.external_data.add(key="offset", value=str(rng.choice((*INTEGERS, "x"))))
        tensor.external_data.add(key="length", value=str(rng.choice(INTEGERS)))


def loop(rng: random.Random, model: Any) -> None:
    """An operator with a graph of its own, which runs for as long as a constant says."""
    body = helper.make_graph(
        [node("Identity", ["go"], ["more"]), node("Add", ["v", "v"], ["u"])],
        "body",
        [helper.make_empty_tensor_value_info(name) for name in ("i", "go", "v")],
        [helper.make_empty_tensor_value_info(name) for name in ("more", "u")],
    )
    model.graph.initializer.append(numpy_helper.from_array(np.array(1 << 40), "trips"))
    model.graph.initializer.append(numpy_helper.from_array(np.array(True), "go0"))
    model.graph.initializer.append(numpy_helper.from_array(floats([1.0]), "v0"))
    model.graph.node.insert(0, node("Loop", ["trips", "go0", "v0"], ["looped"], body=body))


TWISTS: list[Callable[[random.Random, Any], None]] = [attribute, constant, edge, operator, size]
TWISTS += [attribute, constant, edge, version, elsewhere, loop]
