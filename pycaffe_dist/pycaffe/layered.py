"""Where the boxes of a directed graph without circles go: ranks, order within them, coordinates.

Long edges are led through every rank by points of their own, and the edges that leave a box for the
same blob share one such line.  Ranks go down; the caller turns the picture where it wants another
direction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

SWEEPS = 12
BETWEEN_RANKS = 34.0
BETWEEN_BOXES = 18.0
BETWEEN_LINES = 8.0


@dataclass(eq=False)
class Spot:
    """A box, or the point where a line crosses a rank."""

    width: float = 0.0
    height: float = 0.0
    rank: int = 0
    x: float = 0.0  # of its middle
    y: float = 0.0  # of its upper edge
    floor: float = 0.0  # where its rank ends
    above: list[Spot] = field(default_factory=list)
    below: list[Spot] = field(default_factory=list)

    @property
    def is_point(self) -> bool:
        return not self.width


@dataclass
class Line:
    """An edge and the spots it goes through, its two boxes included."""

    source: int
    target: int
    blob: str
    way: list[Spot] = field(default_factory=list)

    def path(self, at: Callable[[float, float], str]) -> str:
        """The line in SVG's words; ``at`` writes a point."""
        begin = self.way[0]
        path = f"M{at(begin.x, begin.y + begin.height)}"
        for a, b in pairwise(self.way):
            # Straight down to where the rank ends, so that no line crosses a box that is higher.
            bend = (a.floor + b.y) / 2
            path += f" L{at(a.x, a.floor)} C{at(a.x, bend)} {at(b.x, bend)} {at(b.x, b.y)}"
        return path


@dataclass
class Layout:
    """Boxes and lines in their places, and the size of the whole."""

    boxes: list[Spot]
    lines: list[Line]
    width: float
    height: float


def lay_out(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int, str]]) -> Layout:
    """Place boxes.

    Args:
        sizes: width and height of each.
        edges: from box, to box, and the name of what goes there; from lower numbers to higher.
    """
    boxes = [Spot(width, height) for width, height in sizes]
    _give_ranks(boxes, edges)
    ranks: list[list[Spot]] = [[] for _ in range(max((b.rank for b in boxes), default=-1) + 1)]
    for box in boxes:
        ranks[box.rank].append(box)
    lines = _lead(boxes, edges, ranks)
    _order(ranks)
    _give_x(ranks)
    height = _give_y(ranks)
    return Layout(
        boxes, lines, max((b.x + b.width / 2 for r in ranks for b in r), default=0), height
    )


def _give_ranks(boxes: list[Spot], edges: Sequence[tuple[int, int, str]]) -> None:
    """One below the lowest that comes before; what nothing comes before, next to what needs it."""
    for source, target, _ in sorted(edges):
        boxes[target].rank = max(boxes[target].rank, boxes[source].rank + 1)
    fed = {target for _, target, _ in edges}
    for i, box in enumerate(boxes):
        after = [boxes[target].rank for source, target, _ in edges if source == i]
        if i not in fed and after:
            box.rank = min(after) - 1


def _lead(
    boxes: list[Spot], edges: Sequence[tuple[int, int, str]], ranks: list[list[Spot]]
) -> list[Line]:
    lines = []
    trunks: dict[tuple[int, str], list[Spot]] = {}
    for source, target, blob in edges:
        trunk = trunks.setdefault((source, blob), [boxes[source]])
        while trunk[-1].rank < boxes[target].rank - 1:
            point = Spot(rank=trunk[-1].rank + 1)
            ranks[point.rank].append(point)
            _join(trunk[-1], point)
            trunk.append(point)
        way = trunk[: boxes[target].rank - boxes[source].rank]
        _join(way[-1], boxes[target])
        lines.append(Line(source, target, blob, [*way, boxes[target]]))
    return lines


def _join(upper: Spot, lower: Spot) -> None:
    if lower not in upper.below:
        upper.below.append(lower)
        lower.above.append(upper)


# -- order within a rank ---------------------------------------------------------------------------


def _order(ranks: list[list[Spot]]) -> None:
    """Sort each rank by the mean place of its neighbours, down and up; keep the best order seen."""
    best, least = [list(rank) for rank in ranks], _crossings(ranks)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for rank in ranks if down else reversed(ranks):
            _sort(rank, ranks, lambda spot, down=down: spot.above if down else spot.below)  # type: ignore[misc]
        found = _crossings(ranks)
        if found < least:
            best, least = [list(rank) for rank in ranks], found
    for rank, order in zip(ranks, best, strict=True):
        rank[:] = order


def _sort(
    rank: list[Spot], ranks: list[list[Spot]], neighbours: Callable[[Spot], list[Spot]]
) -> None:
    if not rank:
        return
    places: dict[Spot, float] = {}
    for other in {spot.rank for one in rank for spot in neighbours(one)}:
        places |= {spot: i / len(ranks[other]) for i, spot in enumerate(ranks[other])}
    keys = {}
    for i, one in enumerate(rank):
        near = [places[spot] for spot in neighbours(one)]
        keys[one] = sum(near) / len(near) if near else i / len(rank)
    rank.sort(key=keys.__getitem__)


def _crossings(ranks: list[list[Spot]]) -> int:
    total = 0
    for upper, lower in pairwise(ranks):
        place = {spot: i for i, spot in enumerate(lower)}
        ends = [place[s] for spot in upper for s in sorted(spot.below, key=place.__getitem__)]
        total += sum(a > b for i, a in enumerate(ends) for b in ends[i + 1 :])
    return total


# -- coordinates -----------------------------------------------------------------------------------


def _give_x(ranks: list[list[Spot]]) -> None:
    """Each spot to the mean of its neighbours, as near as the order and the widths allow."""
    for rank in ranks:
        x = 0.0
        for before, spot in zip([None, *rank], rank, strict=False):
            x += _apart(before, spot) if before else 0.0
            spot.x = x
    for sweep in range(2 * SWEEPS):
        down = sweep % 2 == 0
        for rank in ranks if down else reversed(ranks):
            wishes, weights = [], []
            for spot in rank:
                first, second = (spot.above, spot.below) if down else (spot.below, spot.above)
                near = first or second
                # Points want to be in line more than boxes do: lines should be straight.
                pull = [4.0 if spot.is_point and other.is_point else 1.0 for other in near]
                middle = sum(p * other.x for p, other in zip(pull, near, strict=True))
                wishes.append(middle / sum(pull) if near else spot.x)
                weights.append(max(pull, default=0.1))
            _settle(rank, wishes, weights)
    left = min((spot.x - spot.width / 2 for rank in ranks for spot in rank), default=0.0)
    for rank in ranks:
        for spot in rank:
            spot.x -= left


def _apart(a: Spot, b: Spot) -> float:
    gap = BETWEEN_LINES if a.is_point and b.is_point else BETWEEN_BOXES
    return (a.width + b.width) / 2 + gap


def _settle(rank: list[Spot], wishes: list[float], weights: list[float]) -> None:
    """The places nearest to the wishes (least squares) that keep order and distance.

    With the distances taken off, that is a regression by a rising function: neighbours whose wishes
    fall are put together at their mean, until none fall.
    """
    offsets = [0.0]
    for a, b in pairwise(rank):
        offsets.append(offsets[-1] + _apart(a, b))
    groups: list[tuple[float, float, int]] = []  # mean, weight, how many
    for wish, offset, weight in zip(wishes, offsets, weights, strict=True):
        mean, count = wish - offset, 1
        while groups and groups[-1][0] > mean:
            other, heft, more = groups.pop()
            mean = (mean * weight + other * heft) / (weight + heft)
            weight, count = weight + heft, count + more
        groups.append((mean, weight, count))
    settled = [mean for mean, _, count in groups for _ in range(count)]
    for spot, place, offset in zip(rank, settled, offsets, strict=True):
        spot.x = place + offset


def _give_y(ranks: list[list[Spot]]) -> float:
    y = 0.0
    for rank in ranks:
        height = max((spot.height for spot in rank), default=0.0)
        for spot in rank:
            spot.y, spot.floor = y, y + height
        y += height + BETWEEN_RANKS
    return max(0.0, y - BETWEEN_RANKS)
