"""Whether a net's layers fit together: every bottom made before it is read, every top made once."""

from __future__ import annotations

from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.suggest import MOST_HINTS, did_you_mean


def wiring_problems(net: NetParameter) -> list[tuple[int, str]]:
    """What is wrong with a filtered net, as (layer index, message)."""
    problems: list[tuple[int, str]] = []
    made: dict[str, int] = {}
    for i, layer in enumerate(net.layer):
        who = f'layer "{layer.name}"'
        if not layer.type:
            problems.append((i, f"{who} has no type"))
        for blob in layer.bottom:
            if blob not in made:
                hint = did_you_mean(blob, made) if len(problems) < MOST_HINTS else ""
                problems.append((i, f'{who}: unknown bottom "{blob}"{hint}'))
        for j, blob in enumerate(layer.top):
            in_place = j < len(layer.bottom) and layer.bottom[j] == blob
            if blob in made and not in_place:
                maker = net.layer[made[blob]].name
                problems.append(
                    (i, f'{who}: top "{blob}" is made by layer "{maker}" already; rename one')
                )
            made[blob] = i
        for name, values, blobs in (
            ("loss_weight", layer.loss_weight, layer.top),
            ("propagate_down", layer.propagate_down, layer.bottom),
        ):
            unnamed = name == "loss_weight" and not blobs  # tops that the layer makes by itself
            if len(values) not in (0, len(blobs)) and not unnamed:
                counts = f"{len(values)} {name} for {len(blobs)} blobs"
                problems.append((i, f"{who}: {counts}; give none or one for each"))
    return problems
