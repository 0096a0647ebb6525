"""Which schemes a policy may choose from; what is asked for and impossible is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pycaffe_dist.errors import NetError
from pycaffe_dist.net import Net
from pycaffe_dist.parallel.plan.cost import VALUE
from pycaffe_dist.parallel.plan.units import Unit
from pycaffe_dist.parallel.schemes.allreduce import ALLREDUCE
from pycaffe_dist.parallel.schemes.scheme import Scheme, schemes, selectable
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.proto.suggest import did_you_mean

TOO_SOON = (
    "and here parts of the weights are updated before it is known; use auto, allreduce or sfb"
)


@dataclass(frozen=True)
class Options:
    """What a policy may choose from for a unit.

    Attributes:
        why: why there is no other, or no factored one.
    """

    schemes: tuple[Scheme, ...]
    why: str


class Requests:
    """What a user has asked for, for each unit of a net.

    Args:
        net: the training net.
        units: what a scheme is chosen for.
        settings: what was asked for.
        waits: why no update may come before all gradients are there, or "".
        ranks: how many there are.

    Raises:
        NetError: a layer cannot use its scheme, or there is no such layer.
    """

    def __init__(
        self, net: Net, units: Sequence[Unit], settings: ClusterSettings, waits: str, ranks: int
    ) -> None:
        self.settings, self.waits, self.ranks = settings, waits, ranks
        self._refuse_impossible(net, units)
        self.words = {unit: self._word(unit) for unit in units}

    def asked(self, unit: Unit) -> Scheme | None:
        """The very scheme that was asked for, if it was."""
        return selectable().get(self.words[unit])

    def options(self, unit: Unit) -> Options:
        found, why = self._stale(unit) if self.settings.staleness else self._synchronous(unit)
        return Options(found, "one rank" if self.ranks == 1 else why)

    def _synchronous(self, unit: Unit) -> tuple[tuple[Scheme, ...], str]:
        asked = self.asked(unit)
        if unit.frozen:
            return (ALLREDUCE,), "asked for" if asked is ALLREDUCE else unit.no_factors
        if asked and not (asked.factored and unit.no_factors) and (asked.exact or self.ranks > 1):
            return (asked,), "asked for"
        if asked or self.ranks == 1:
            return (ALLREDUCE,), unit.no_factors
        dense, why = self._dense(unit)
        return tuple(s for s in selectable().values() if self._chooses(s, unit, dense)), why

    def _dense(self, unit: Unit) -> tuple[bool, str]:
        """Whether only dense schemes may be chosen, and why."""
        dense = self.words[unit] == "dense"
        return bool(unit.no_factors or unit.varies or dense), (
            unit.no_factors or unit.varies or "asked for dense"
        )

    def _chooses(self, scheme: Scheme, unit: Unit, dense: bool) -> bool:
        """Whether a policy may take a scheme that nobody has asked for."""
        return (
            scheme.automatic
            and not (scheme.factored and dense)
            and not (scheme.updates and self.waits)
            and pays_alone(scheme, unit)
        )

    def _stale(self, unit: Unit) -> tuple[tuple[Scheme, ...], str]:
        """Where staleness is allowed, other schemes take the places of those asked for."""
        known, asked = schemes(), self.asked(unit)
        automatic = dict.fromkeys(s.stale for s in known.values() if s.automatic)
        options = tuple(known[name] for name in automatic)
        dense = tuple(scheme for scheme in options if not scheme.factored)
        only_dense, why = self._dense(unit)
        if unit.no_factors or self.ranks == 1:
            return dense, why
        if asked and asked.factored:
            return (known[asked.stale],), "asked for"
        return (dense, why) if asked or only_dense else (options, why)

    def _word(self, unit: Unit) -> str:
        """Of --comm-layer, else of --comm.

        A factored scheme is asked of a whole net for those layers that have factors, as many in
        every pass.
        """
        by_layer, comm = self.settings.comm_layer, self.settings.comm
        words = {by_layer[name] for name in unit.layers if name in by_layer}
        if len(words) > 1:
            raise NetError(
                f"--comm-layer: {' and '.join(sorted(words))} are asked for parameters "
                f"that {' and '.join(unit.layers)} share; give one"
            )
        unfit = comm in selectable() and selectable()[comm].factored and unit.varies
        return words.pop() if words else "auto" if unfit else comm

    # -- refusals ----------------------------------------------------------------------------

    def _refuse_impossible(self, net: Net, units: Sequence[Unit]) -> None:
        self._refuse(f"--comm {self.settings.comm}", self.settings.comm)
        known = {name for unit in units for name in unit.layers}
        for name, comm in self.settings.comm_layer.items():
            flag = f"--comm-layer {name}={comm}"
            if name not in known:
                what = "learns nothing" if name in net.layer_names else "is not in the net"
                raise NetError(f'{flag}: the layer "{name}" {what}{did_you_mean(name, known)}')
            mine = [unit for unit in units if name in unit.layers]
            factored = comm in selectable() and selectable()[comm].factored
            if factored and all(unit.no_factors for unit in mine):
                why = max(mine, key=lambda unit: unit.load.values).no_factors
                raise NetError(f"{flag} is not possible: {why}; use auto or dense")
            self._refuse(flag, comm)

    def _refuse(self, flag: str, comm: str) -> None:
        scheme = selectable().get(comm)
        if scheme and scheme.updates and self.waits:
            raise NetError(f"{flag} is not possible: {self.waits}, {TOO_SOON}")
        if scheme and not scheme.stale and self.settings.staleness:
            raise NetError(
                f"{flag} is not possible with --staleness: then updates are exchanged, and "
                f"{comm} exchanges gradients; use auto, dense or sfb"
            )


def pays_alone(scheme: Scheme, unit: Unit) -> bool:
    """Whether a unit is large enough for an exchange of its own by this scheme."""
    return VALUE * unit.load.values >= scheme.least_bytes
