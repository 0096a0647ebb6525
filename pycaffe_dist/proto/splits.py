"""Split layers where a blob feeds several: then each blob has one reader, and gradients add up."""

from __future__ import annotations

from collections import Counter

from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, NetParameter
from pycaffe_dist.proto.suggest import did_you_mean

Top = tuple[int, int]  # (layer index, top index)


def insert_splits(net: NetParameter) -> NetParameter:
    """A copy of ``net`` with a Split layer behind every top that is used more than once.

    A non-zero ``loss_weight`` on a top counts as a use, and moves to the split's first top.
    The names are Caffe's: layer ``<blob>_<layer>_<top>_split``, tops ``..._split_0`` and on.
    """
    source, uses, loss = _count_uses(net)
    given: Counter[Top] = Counter()  # how many of a split's tops have found their reader
    out = NetParameter()
    out.CopyFrom(net)
    if max(uses.values(), default=0) <= 1:
        return out
    out.ClearField("layer")
    for i, layer in enumerate(net.layer):
        copy = out.layer.add()
        copy.CopyFrom(layer)
        for j, blob in enumerate(layer.bottom):
            top = source[i, j]
            if uses[top] > 1:
                maker = net.layer[top[0]].name
                copy.bottom[j] = f"{_split_name(maker, blob, top[1])}_{given[top]}"
                given[top] += 1
        for j, blob in enumerate(layer.top):
            if uses[i, j] > 1:
                weight = loss.get((i, j), 0.0)
                _add_split(
                    out.layer.add(), _split_name(layer.name, blob, j), blob, uses[i, j], weight
                )
                if weight:
                    copy.ClearField("loss_weight")
                    given[i, j] += 1
    return out


def _count_uses(net: NetParameter) -> tuple[dict[Top, Top], Counter[Top], dict[Top, float]]:
    """For each bottom the top it reads; for each top how often it is used, and its loss weight."""
    source: dict[Top, Top] = {}
    uses: Counter[Top] = Counter()
    loss: dict[Top, float] = {}
    last: dict[str, Top] = {}
    for i, layer in enumerate(net.layer):
        for j, blob in enumerate(layer.bottom):
            if blob not in last:
                raise NetError(unknown_bottom(layer, j, last))
            source[i, j] = last[blob]
            uses[last[blob]] += 1
        last.update((blob, (i, j)) for j, blob in enumerate(layer.top))
        for blob, weight in zip(layer.top, layer.loss_weight, strict=False):
            loss[last[blob]] = weight
            uses[last[blob]] += bool(weight)
    return source, uses, loss


def unknown_bottom(layer: LayerParameter, index: int, known: dict[str, Top]) -> str:
    blob = layer.bottom[index]
    return (
        f"Unknown bottom blob '{blob}' (layer '{layer.name}', bottom index {index})"
        + did_you_mean(blob, known)
    )


def _split_name(layer: str, blob: str, top: int) -> str:
    return f"{blob}_{layer}_{top}_split"


def _add_split(split: LayerParameter, name: str, blob: str, count: int, weight: float) -> None:
    split.name = name
    split.type = "Split"
    split.bottom.append(blob)
    split.top.extend(f"{name}_{k}" for k in range(count))
    if weight:
        split.loss_weight.extend([weight] + [0.0] * (count - 1))
