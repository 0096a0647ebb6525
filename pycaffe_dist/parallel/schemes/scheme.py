"""Scheme: one way to turn the gradients of all ranks into the joint gradient, or into new weights.

A scheme is one object and one file of this folder.  Everything that the command line, the plan, the
cost model and the cluster know of it, they ask of this object; docs/adding_a_scheme.md writes one.
"""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pycaffe_dist.errors import NetError
from pycaffe_dist.parallel.plan.cost import Cost, CostModel, Load

if TYPE_CHECKING:
    from pycaffe_dist.parallel.exchange.device import DeviceParcel
    from pycaffe_dist.parallel.exchange.parcel import Parcel


@dataclass(frozen=True)
class Option:
    """A number that a user may give for a scheme, as ``--<scheme>-<name>``.

    Attributes:
        above, most: it must be larger than the first and no larger than the second.
    """

    name: str
    default: float
    help: str
    above: float = 0.0
    most: float = 1.0

    def check(self, flag: str, value: float) -> None:
        if not self.above < value <= self.most:
            raise NetError(
                f"--{flag} must be more than {self.above:g} and at most {self.most:g}, "
                f"not {value:g}"
            )


class Scheme(ABC):
    """Base of the schemes.

    Attributes:
        name: what ``--comm``, the plan and the log call it.
        travels, sent, work: for people, as in the table of docs/sacp.md: what travels, how many
            bytes the busiest rank sends, and what a rank computes besides.
        factored: it sends the factors of a gradient, so the layer must have some.
        updates: the exchange brings new weights; otherwise it brings gradients.
        exact: the joint gradient is the sum over ranks, but for rounding.
        automatic: whether a plan may choose it unasked.
        bucketed: small parameters may share one exchange.
        least_bytes: a smaller exchange of its own does not pay.
        stale: the scheme that takes its place where staleness is allowed; "" if none can.
        synchronous: False: it is such a scheme, and nothing else.
        options: which users may set.
        host, device: the exchange through host memory and the one between devices.  A scheme
            without the second goes through host memory on GPUs too.
    """

    name: str
    travels: str
    sent: str
    work: str
    factored = False
    updates = False
    exact = True
    automatic = True
    bucketed = False
    least_bytes = 0
    stale = ""
    synchronous = True
    options: tuple[Option, ...] = ()
    host: type[Parcel]
    device: type[DeviceParcel] | None = None

    @abstractmethod
    def exchange_cost(self, model: CostModel, load: Load) -> Cost:
        """What an exchange between two or more ranks costs."""

    def cost(self, model: CostModel, load: Load) -> Cost:
        """What a step costs besides forward and backward; one rank only updates."""
        if model.ranks == 1:
            return Cost(0, 0.0, model.update(load.values))
        return self.exchange_cost(model, load)

    def flags(self) -> dict[str, Option]:
        """Its options, by the names of their flags."""
        return {f"{self.name}-{option.name}": option for option in self.options}


@cache
def schemes() -> Mapping[str, Scheme]:
    """All schemes by name: dense ones first, and those that update last among their like."""
    found: list[Scheme] = []
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        contents = vars(importlib.import_module(f"{__package__}.{module.name}"))
        found += [
            value
            for value in contents.values()
            if isinstance(value, Scheme) and type(value).__module__ == contents["__name__"]
        ]
    found.sort(key=lambda s: (s.factored, s.updates, s.name))
    return {scheme.name: scheme for scheme in found}


def selectable() -> dict[str, Scheme]:
    """The schemes that users may ask for."""
    return {name: scheme for name, scheme in schemes().items() if scheme.synchronous}


def scheme_options() -> dict[str, Option]:
    """The options of all schemes, by the names of their flags."""
    return {flag: option for s in selectable().values() for flag, option in s.flags().items()}
