"""The schemes, and which of them a user asks for; the impossible is refused with its reason."""

from __future__ import annotations

from collections.abc import Sequence

from pycaffe_dist.errors import NetError
from pycaffe_dist.net import Net
from pycaffe_dist.parallel.plan.units import Unit
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.proto.suggest import did_you_mean

DENSE = ("allreduce", "sharded")
FACTORED = ("sfb", "sf-push")
SCHEMES = (*DENSE, *FACTORED)
STALE = ("updates", "sfb")  # in place of dense and factored ones, where staleness is allowed
UPDATING = ("sharded", "sf-push")  # new weights come back, not gradients
TOO_SOON = (
    "and here parts of the weights are updated before it is known; use auto, allreduce or sfb"
)


def asked(
    net: Net, units: Sequence[Unit], settings: ClusterSettings, waits: str
) -> dict[Unit, str]:
    """The word for each unit: of --comm-layer, else of --comm.

    ``waits`` says why no update may come before all gradients are there, or is "".

    A scheme for factors is asked of a whole net for those layers that have some, as many in every
    pass.

    Raises:
        NetError: a layer cannot use its scheme, or there is no such layer.
    """
    _refuse_impossible(net, units, settings, waits)
    by_layer = settings.comm_layer
    found = {}
    for unit in units:
        words = {by_layer[name] for name in unit.layers if name in by_layer}
        if len(words) > 1:
            raise NetError(
                f"--comm-layer: {' and '.join(sorted(words))} are asked for parameters "
                f"that {' and '.join(unit.layers)} share; give one"
            )
        unfit = settings.comm in FACTORED and unit.varies
        found[unit] = words.pop() if words else "auto" if unfit else settings.comm
    return found


def _refuse_impossible(
    net: Net, units: Sequence[Unit], settings: ClusterSettings, waits: str
) -> None:
    if settings.comm in UPDATING and waits:
        raise NetError(f"--comm {settings.comm} is not possible: {waits}, {TOO_SOON}")
    known = {name for unit in units for name in unit.layers}
    for name, comm in settings.comm_layer.items():
        flag = f"--comm-layer {name}={comm}"
        if name not in known:
            what = "learns nothing" if name in net.layer_names else "is not in the net"
            raise NetError(f'{flag}: the layer "{name}" {what}{did_you_mean(name, known)}')
        mine = [unit for unit in units if name in unit.layers]
        if comm in FACTORED and all(unit.no_factors for unit in mine):
            why = max(mine, key=lambda unit: unit.load.values).no_factors
            raise NetError(f"{flag} is not possible: {why}; use auto or dense")
        if comm in UPDATING and waits:
            raise NetError(f"{flag} is not possible: {waits}, {TOO_SOON}")
