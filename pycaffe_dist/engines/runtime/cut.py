"""Which layers of a net a library computes: between those that bring data and those that judge."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import View
from pycaffe_dist.errors import NetError
from pycaffe_dist.net import Net


@dataclass(frozen=True)
class Cut:
    """A net in three parts; layers and blobs by their numbers.

    Attributes:
        sources: layers that bring data, which our engine runs first.
        tail: losses and scores, which it runs last.
        inputs: blobs that the model is given, by their names.
        outputs: blobs that it makes and that somebody is sure to read, with their names in it.
        hidden: blobs that it makes and nobody may ever read.
        model: the bytes of an ONNX file.
    """

    sources: Sequence[int]
    tail: Sequence[int]
    inputs: Mapping[str, View]
    outputs: Mapping[int, str]
    hidden: Sequence[int]
    model: bytes

    def given(self) -> dict[str, Array]:
        """The values of the inputs now."""
        return {name: view.data for name, view in self.inputs.items()}


def cut(net: Net, asked: Collection[int] = ()) -> Cut:
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
    graph = made.model.graph
    sources = _sources(net, made.blobs)
    tail = [i for i, layer in enumerate(net.layers) if isinstance(layer, LEFT_OUT)]
    outside = {t for i in (*sources, *tail) for t in net.top_ids[i]}
    middle = [i for i in range(len(net.layers)) if i not in (*sources, *tail)]
    inside = dict.fromkeys(t for i in middle for t in net.top_ids[i])
    read = {*net.output_ids, *asked, *(b for i in tail for b in net.bottom_ids[i])}
    read |= {t for t, weight in enumerate(net.blob_loss_weights) if weight}
    outputs = {t: made.blobs[net.blob_names[t]] for t in inside if t in read}
    inputs = [value.name for value in graph.input]
    if not outputs or not set(inputs).isdisjoint(outputs.values()):
        raise NetError("nothing is left for a library to compute")
    if not outside.isdisjoint(inside):
        raise NetError("a layer changes in place what the net is given")
    del graph.output[:]
    for name in dict.fromkeys(outputs.values()):
        graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    # Splits and reshapes share the values of their bottoms.
    there = {id(net.blobs[t].data_value) for t in (*outputs, *outside)}
    return Cut(
        sources,
        tail,
        {name: View(net.blobs[net.blob_ids[name]]) for name in inputs},
        outputs,
        [t for t in inside if id(net.blobs[t].data_value) not in there],
        as_bytes(made),
    )


def _sources(net: Net, names: Mapping[str, str]) -> list[int]:
    """Layers without bottoms, and those that pass on what these bring: Splits of labels."""
    sources = [i for i, bottoms in enumerate(net.bottom_ids) if not bottoms]
    brought = {net.blob_names[t] for i in sources for t in net.top_ids[i]}
    for i, tops in enumerate(net.top_ids):
        passed = tops and all(names.get(net.blob_names[t]) in brought for t in tops)
        if passed and net.bottom_ids[i]:
            sources.append(i)
    return sorted(sources)


def signature(net: Net) -> str:
    """What a choice is remembered under: the net's description, shapes included."""
    text = net.net_param.SerializeToString(deterministic=True)
    shapes = repr([blob.shape for blob in net.blobs])
    return hashlib.sha256(text + shapes.encode()).hexdigest()[:16]
