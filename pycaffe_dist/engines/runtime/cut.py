"""Which layers of a net a library computes: between those that bring data and those that judge."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pycaffe_dist.errors import NetError
from pycaffe_dist.net import Net


@dataclass(frozen=True)
class Cut:
    """A net in three parts.

    Attributes:
        sources: layers that bring data, which our engine runs first.
        tail: losses and scores, which it runs last.
        inputs: blobs that the model is given.
        outputs: blobs that it makes and that somebody is sure to read; and their names in it.
        hidden: blobs that it makes and nobody may ever read.
        model: the bytes of an ONNX file.
    """

    sources: tuple[int, ...]
    tail: tuple[int, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    names: tuple[str, ...]
    hidden: tuple[str, ...]
    model: bytes


def cut(net: Net, asked: Collection[str] = ()) -> Cut:
    """Export the middle of a net with its weights of now.

    Blobs that are ``asked`` for are outputs, too.

    Raises:
        NetError: a layer has no form in ONNX, or remembers something between passes.
    """
    # They load onnx, which takes its time.
    from onnx import TensorProto, helper

    from pycaffe_dist.onnx.export import LEFT_OUT, export
    from pycaffe_dist.onnx.writing import as_bytes

    for layer in net.layers:
        if layer.remembers:
            raise layer.error("remembers something from pass to pass")
    made = export(net)
    layers = range(len(net.layers))
    sources = _sources(net, made.blobs)
    tail = tuple(i for i in layers if isinstance(net.layers[i], LEFT_OUT))
    outside = {t for i in (*sources, *tail) for t in net.top_ids[i]}
    inside = [t for i in layers if i not in sources + tail for t in net.top_ids[i]]
    read = {b for i in tail for b in net.bottom_ids[i]} | set(net.output_ids)
    read |= {net.blob_ids[name] for name in asked}
    wanted = [t for t in dict.fromkeys(inside) if t in read and t not in outside]
    names = [made.blobs[net.blob_names[t]] for t in wanted]
    graph = made.model.graph
    given = {value.name for value in graph.input}
    if not wanted or given.intersection(names):
        raise NetError("nothing is left for a library to compute")
    del graph.output[:]
    for name in dict.fromkeys(names):
        graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    # Splits and reshapes share the values of their bottoms.
    there = {id(net.blobs[t].data_value) for t in (*wanted, *outside)}
    hidden = [t for t in dict.fromkeys(inside) if id(net.blobs[t].data_value) not in there]
    return Cut(
        sources,
        tail,
        tuple(value.name for value in graph.input),
        tuple(net.blob_names[t] for t in wanted),
        tuple(names),
        tuple(net.blob_names[t] for t in hidden),
        as_bytes(made),
    )


def _sources(net: Net, names: Mapping[str, str]) -> tuple[int, ...]:
    """Layers without bottoms, and those that pass on what these bring: Splits of labels."""
    found: list[int] = []
    brought: set[str] = set()
    for i, tops in enumerate(net.top_ids):
        tops_of = {net.blob_names[t] for t in tops}
        if not net.bottom_ids[i]:
            brought |= tops_of
        elif not tops_of or not all(names.get(name) in brought for name in tops_of):
            continue
        found.append(i)
    return tuple(found)


def signature(net: Net) -> str:
    """What a choice is remembered under: the net's description, shapes included."""
    text = net.net_param.SerializeToString(deterministic=True)
    shapes = repr([blob.shape for blob in net.blobs])
    return hashlib.sha256(text + shapes.encode()).hexdigest()[:16]
