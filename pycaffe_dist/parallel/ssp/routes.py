"""The ways of updates where staleness is allowed: straight within a node, by a hub between nodes.

Every block of values has a hub, the leader of one of the nodes, which take turns: together they
are a sharded server.  A rank sends its updates to its mates.  A leader adds up those of its node
for the hub; the hub adds up for each other leader what all nodes but that leader's have done; and a
leader sends what comes from the hub to its mates.  So a node sends 2(n − 1)/n of the values, as in
a ring, however many ranks it has.
"""

from __future__ import annotations

from dataclasses import dataclass

from pycaffe_dist.parallel.transport.communicator import Nodes


@dataclass(frozen=True)
class Route:
    """From a rank to some others.

    What arrives here, or is made here, takes every route that covers all the ranks it is of.
    """

    to: tuple[int, ...]
    covers: frozenset[int]


def routes(nodes: Nodes, rank: int, hub: int) -> list[Route]:
    """The ways that begin at ``rank``, for a block whose hub is the leader ``hub``."""
    everybody = frozenset(range(len(nodes.of_rank)))
    node = frozenset(nodes.mates(rank))
    mates = tuple(sorted(node - {rank}))
    found = [Route(mates, frozenset([rank]))]
    if rank in nodes.leaders:
        found.append(Route(mates, everybody - node))
        if rank != hub:
            found.append(Route((hub,), node))
        else:
            others = (leader for leader in nodes.leaders if leader != hub)
            found += [Route((to,), everybody - set(nodes.mates(to))) for to in others]
    return [route for route in found if route.to and route.covers]
