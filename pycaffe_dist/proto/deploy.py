"""The net to deploy, made of the one that was trained and tested."""

from __future__ import annotations

from collections.abc import Iterable

from pycaffe_dist.proto.caffe_pb2 import LayerParameter, NetParameter

# What a loss over classes computes its scores with, which is what stays where there are no labels.
ANSWERS = {"SoftmaxWithLoss": "Softmax", "SigmoidCrossEntropyLoss": "Sigmoid"}
OUTPUT = "prob"


def with_input(net: NetParameter, source: LayerParameter, shape: tuple[int, ...]) -> NetParameter:
    """The net with an input in place of its images, without what needs labels or writes files."""
    out = NetParameter()
    out.CopyFrom(net)
    del out.layer[:]
    gone: set[str] = set()
    for layer in net.layer:
        if layer.name == source.name and not layer.bottom:
            first = out.layer.add(name=layer.name, type="Input", top=layer.top[:1])
            first.input_param.shape.add(dim=shape)
            if layer.type == "Input":
                first.top.extend(layer.top[1:])
                first.input_param.shape.extend(layer.input_param.shape[1:])
            else:
                gone.update(layer.top[1:])
        elif gone.isdisjoint(layer.bottom):
            out.layer.add().CopyFrom(layer)
            out.layer[-1].detection_output_param.ClearField("save_output_param")
            if not layer.HasField("detection_output_param"):
                out.layer[-1].ClearField("detection_output_param")
        else:
            gone.update(layer.top)
    return out


def deployed(net: NetParameter, source: LayerParameter, shape: tuple[int, ...]) -> NetParameter:
    """The net with an input; the last loss over classes leaves its scores, "prob".

    Only what leads to these stays: of GoogLeNet's three losses those of training go.

    Args:
        net: filtered for its phase, and without splits.
        source: its layer that brings images in.
        shape: (batch, channels, height, width) of the input.
    """
    made = with_input(net, source, shape)
    tops = {top for layer in made.layer for top in layer.top}
    losses = [loss for loss in net.layer if loss.type in ANSWERS and loss.bottom[0] in tops]
    if not losses:
        return made
    scores = losses[-1].bottom[0]
    kept = _leading_to(scores, made.layer)
    del made.layer[:]
    made.layer.extend(kept)
    last = made.layer.add(name=OUTPUT, type=ANSWERS[losses[-1].type], bottom=[scores], top=[OUTPUT])
    if losses[-1].HasField("softmax_param"):
        last.softmax_param.CopyFrom(losses[-1].softmax_param)
    return made


def _leading_to(blob: str, layers: Iterable[LayerParameter]) -> list[LayerParameter]:
    needed, found = {blob}, []
    for layer in reversed(list(layers)):
        if needed.intersection(layer.top):
            needed.update(layer.bottom)
            found.append(layer)
    return found[::-1]
