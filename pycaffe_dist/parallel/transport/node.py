"""The node level: ranks of one machine, who share memory and let one of them, the leader, speak.

Memory is shared without locks: a word (an empty message) says that something has been written, and
nobody reads before the word has come.
"""

from __future__ import annotations

import numpy as np

from pycaffe_dist.parallel.transport.communicator import Communicator, Steps, done


class Node:
    """The node of a rank.

    Attributes:
        mates: the ranks on it, this one among them.
        place: which of them this rank is.
        leader: the rank that speaks with other nodes.
        leaders: of all nodes.
    """

    def __init__(self, communicator: Communicator) -> None:
        self.communicator = communicator
        rank, nodes = communicator.rank, communicator.nodes
        self.number = nodes.of_rank[rank]
        self.mates = nodes.mates(rank)
        self.place = self.mates.index(rank)
        self.leader = self.mates[0]
        self.leads = rank == self.leader
        self.leaders = nodes.leaders
        self._word = np.empty(0, np.uint8)

    def tell_leader(self, tag: int) -> Steps[None]:
        """The leader waits until all mates have come here; they continue."""
        c = self.communicator
        if self.leads:
            yield from done([c.irecv(self._word, mate, tag) for mate in self.mates[1:]])
        else:
            yield from done([c.isend(self._word, self.leader, tag)])

    def hear_leader(self, tag: int) -> Steps[None]:
        """All mates wait until the leader has come here; it continues."""
        c = self.communicator
        if self.leads:
            yield from done([c.isend(self._word, mate, tag) for mate in self.mates[1:]])
        else:
            yield from done([c.irecv(self._word, self.leader, tag)])

    def meet(self, tag: int) -> Steps[None]:
        """Nobody continues before all mates have come here."""
        yield from self.tell_leader(tag)
        yield from self.hear_leader(tag)
