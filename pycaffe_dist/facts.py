"""Facts about a net for other rooms: shapes, parameters, work and memory, layer by layer."""

from __future__ import annotations

from dataclasses import dataclass

from pycaffe_dist.aliases import Shape
from pycaffe_dist.memory import Value
from pycaffe_dist.net import Net
from pycaffe_dist.sketch import Unbuilt


@dataclass(frozen=True)
class LayerFacts:
    """What one layer is and costs.  Bytes are those it adds: shared memory counts once."""

    index: int
    name: str
    type: str
    top_shapes: tuple[Shape, ...]
    param_shapes: tuple[Shape, ...]
    param_count: int  # values it owns
    flops: int  # of one forward pass
    data_bytes: int  # of its tops' values
    diff_bytes: int  # of its tops' gradients, where backward runs
    outer_product: bool  # the weights' gradient is AᵀB with few rows (InnerProduct)
    note: str = ""  # why its shapes are missing: it was not run, or needs what is unknown


def layer_facts(net: Net) -> list[LayerFacts]:
    """The facts of every layer; a dry net will do."""
    seen: set[int] = set()

    def fresh(value: Value) -> int:
        if id(value) in seen:
            return 0
        seen.add(id(value))
        return value.count * value.dtype.itemsize

    facts = []
    for i, layer in enumerate(net.layers):
        note = layer.note if isinstance(layer, Unbuilt) else ""
        tops = [net.blobs[t] for t in net.top_ids[i] if not note]
        owned = [
            blob
            for j, blob in enumerate(layer.blobs)
            if net.params.learnable[net.params.ids[i][j]].owner == (i, j)
        ]
        facts.append(
            LayerFacts(
                index=i,
                name=net.layer_names[i],
                type=layer.type,
                top_shapes=tuple(blob.shape for blob in tops),
                param_shapes=tuple(blob.shape for blob in layer.blobs),
                param_count=sum(blob.count for blob in owned),
                flops=layer.flops(net.bottoms[i], net.tops[i]),
                data_bytes=sum(fresh(blob.data_value) for blob in tops),
                diff_bytes=sum(
                    fresh(net.blobs[t].diff_value)
                    for t in net.top_ids[i]
                    if net.blob_need_backward[t] and not note
                ),
                outer_product=layer.outer_product(net.tops[i], net.bottoms[i]) is not None,
                note=note,
            )
        )
    return facts


def backward_order(net: Net) -> list[tuple[int, int]]:
    """(layer index, parameter index), in the order in which gradients are complete.

    A shared parameter's gradient is complete after the lowest of its layers has run backward.
    """
    lowest: dict[int, int] = {}
    for i, ids in enumerate(net.params.ids):
        for p in ids:
            lowest.setdefault(p, i)
    return sorted(((i, p) for p, i in lowest.items()), key=lambda pair: (-pair[0], pair[1]))


@dataclass(frozen=True)
class Totals:
    """Sums over a net."""

    params: int
    flops: int
    test_bytes: int  # values of blobs and parameters
    train_bytes: int  # besides, gradients of both and one history value a parameter


def totals(facts: list[LayerFacts], itemsize: int = 4) -> Totals:
    params = sum(f.param_count for f in facts)
    data = sum(f.data_bytes for f in facts)
    return Totals(
        params=params,
        flops=sum(f.flops for f in facts),
        test_bytes=data + params * itemsize,
        train_bytes=data + sum(f.diff_bytes for f in facts) + 3 * params * itemsize,
    )
