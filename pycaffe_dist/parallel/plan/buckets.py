"""What takes the link at once: a parameter, a layer's factors, or a bucket of small parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pycaffe_dist.net import Net
from pycaffe_dist.parallel.plan.cost import VALUE, Load
from pycaffe_dist.parallel.plan.requests import Requests, pays_alone
from pycaffe_dist.parallel.plan.units import Unit, halves
from pycaffe_dist.parallel.schemes.allreduce import ALLREDUCE
from pycaffe_dist.parallel.schemes.scheme import Scheme


@dataclass(frozen=True)
class Choice:
    """A unit with its scheme."""

    unit: Unit
    scheme: Scheme
    reason: str


@dataclass(frozen=True)
class Group:
    """One choice, or a bucket of choices of one scheme."""

    choices: tuple[Choice, ...]

    @property
    def scheme(self) -> Scheme:
        return self.choices[0].scheme

    @property
    def layer(self) -> int:
        return min(c.unit.layer for c in self.choices)

    @property
    def load(self) -> Load:
        if len(self.choices) == 1:
            return self.choices[0].unit.load
        return Load(sum(c.unit.load.values for c in self.choices))


def grouped(net: Net, choices: Sequence[Choice], requests: Requests, limit: int) -> list[Group]:
    """In the order in which they start; gradients of less than ``limit`` bytes share a bucket."""
    groups: list[Group] = []
    buckets: dict[Scheme, list[Choice]] = {}
    for choice in choices:
        if choice.scheme.factored:
            groups.append(Group((choice,)))
            continue
        for half in _halves(net, choice, requests):
            if not half.scheme.bucketed or VALUE * half.unit.load.values >= limit:
                groups.append(Group((half,)))
                continue
            bucket = buckets.setdefault(half.scheme, [])
            bucket.append(half)
            if VALUE * sum(c.unit.load.values for c in bucket) >= limit:
                groups.append(Group(tuple(bucket)))
                bucket.clear()
    groups += [Group(tuple(bucket)) for bucket in buckets.values() if bucket]
    return sorted(groups, key=lambda group: -group.layer)


def _halves(net: Net, choice: Choice, requests: Requests) -> list[Choice]:
    """A choice for each parameter; what is too small for its scheme goes by allreduce."""
    found = []
    asked = requests.asked(choice.unit) is choice.scheme
    for i, unit in enumerate(halves(net, choice.unit)):
        fits = asked or pays_alone(choice.scheme, unit)
        scheme = choice.scheme if fits else ALLREDUCE
        found.append(Choice(unit, scheme, "a bias" if i else choice.reason))
    return found
