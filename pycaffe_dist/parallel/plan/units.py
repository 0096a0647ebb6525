"""What a plan decides on: learnable parameters, or weights and bias of a layer that has factors."""

from __future__ import annotations

from dataclasses import dataclass

from pycaffe_dist.facts import backward_order
from pycaffe_dist.layer import OuterProduct
from pycaffe_dist.net import Net
from pycaffe_dist.parallel.plan.cost import Load


@dataclass(frozen=True)
class Unit:
    """Parameters that take one scheme.

    Attributes:
        params: indices into ``net.params.learnable``; several only if they have factors.
        layer: the gradient is complete after this layer's backward.
        layers: the names of all layers that use them.
        load: what is exchanged.
        no_factors: why the gradient cannot travel as factors; empty if it can.
        varies: why the number of rows of its factors may change, and only an explicit wish makes
            them travel; empty if it cannot.
        frozen: the weights stay as they are, and the gradient is needed all the same.
    """

    params: tuple[int, ...]
    layer: int
    layers: tuple[str, ...]
    load: Load
    no_factors: str
    varies: str = ""
    frozen: bool = False


def units(net: Net, passes: int = 1, frozen: bool = False) -> list[Unit]:
    """Everything that learns, in the order in which gradients are complete.

    With several ``passes`` in a step, the rows of all of them are the factors of its gradient.
    ``frozen`` asks for what has an lr_mult of 0 too, if it gets a gradient: by force_backward, in a
    layer that gives one unasked, or through a sharer.
    """
    users: dict[int, list[int]] = {}
    for i, ids in enumerate(net.params.ids):
        for p in ids:
            users.setdefault(p, []).append(i)
    found: list[Unit] = []
    taken: set[int] = set()
    for layer, p in backward_order(net):
        if p in taken:
            continue
        names = tuple(net.layer_names[i] for i in users[p])
        if net.params.learnable[p].lr_mult == 0:
            if frozen and _gets_gradient(net, p, users[p]):
                load = Load(net.params.learnable[p].blob.count)
                found.append(Unit((p,), layer, names, load, "it is frozen", frozen=True))
            continue
        why = _no_factors(net, p, users[p])
        params = (p,) if why else _with_bias(net, layer, p, users)
        taken.update(params)
        values = sum(net.params.learnable[q].blob.count for q in params)
        load = Load(values) if why else _factored(net, layer, values, passes)
        found.append(Unit(params, layer, names, load, why, _varies(net, layer)))
    return found


def _gets_gradient(net: Net, p: int, users: list[int]) -> bool:
    return any(
        net.layer_need_backward[i] and net.layers[i].gives_gradient(blob)
        for i in users
        for blob, q in enumerate(net.params.ids[i])
        if q == p
    )


def _no_factors(net: Net, p: int, users: list[int]) -> str:
    """Why the gradient of a parameter is not one pair of factors of its layer."""
    layer = net.layers[users[0]]
    if _outer_product(net, users[0]) is None:
        return f"{layer.type} has no factors"
    if net.params.ids[users[0]][0] != p:
        return "a bias has no factors"
    if len(users) > 1 or net.params.ids[users[0]].count(p) > 1:
        return "shared weights: a sum over layers has no factors"
    if not net.layer_need_backward[users[0]]:
        return "no gradient arrives here"
    return ""


def _varies(net: Net, layer: int) -> str:
    """Which of the layers below may change the number of items in a batch."""
    needed = set(net.bottom_ids[layer])
    for i in reversed(range(layer)):
        if needed.intersection(net.top_ids[i]):
            if net.layers[i].changes_batch:
                return f"{net.layers[i].type} {net.layer_names[i]} may change the batch"
            needed.update(net.bottom_ids[i])
    return ""


def _with_bias(net: Net, layer: int, p: int, users: dict[int, list[int]]) -> tuple[int, ...]:
    """The bias is a sum over the rows of the same factor, so it goes with the weights."""
    rest = [
        q
        for q in net.params.ids[layer][1:]
        if len(users[q]) == 1 and net.params.learnable[q].lr_mult != 0
    ]
    return (p, *rest)


def _factored(net: Net, layer: int, values: int, passes: int) -> Load:
    product = _outer_product(net, layer)
    assert product is not None
    return Load(values, passes * product.rows, product.outputs, product.inputs)


def _outer_product(net: Net, layer: int) -> OuterProduct | None:
    return net.layers[layer].outer_product(net.tops[layer], net.bottoms[layer])


def halves(net: Net, unit: Unit) -> list[Unit]:
    """One unit a parameter, for schemes that carry dense gradients."""
    return [
        Unit(
            (p,), unit.layer, unit.layers, Load(net.params.learnable[p].blob.count), unit.no_factors
        )
        for p in unit.params
    ]
