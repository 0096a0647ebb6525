"""Which records a rank gets: each record of an epoch is for one rank alone."""

from __future__ import annotations

import os
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pycaffe_dist.aliases import Facts
from pycaffe_dist.data.source import Buffer, Source
from pycaffe_dist.errors import FileError


class Deal:
    """``count`` records, epoch after epoch, dealt to ranks in turn; shuffled if there is a seed.

    ``taken`` counts a rank's own records; all together have taken ``taken`` × ranks then.
    """

    def __init__(self, count: int, rank: int, ranks: int, seed: int | None = None) -> None:
        self.count = count
        self.rank, self.ranks = rank, ranks
        self.seed = seed

    def record(self, taken: int) -> int:
        """The number of the record that comes after ``taken`` others."""
        epoch, place = divmod(taken * self.ranks + self.rank, self.count)
        return place if self.seed is None else int(_order(self.seed, epoch, self.count)[place])

    def epoch(self, taken: int) -> int:
        """How often the records have all been dealt before this rank's next one."""
        return (taken * self.ranks + self.rank) // self.count


@lru_cache(maxsize=2)
def _order(seed: int, epoch: int, count: int) -> NDArray[np.int64]:
    """The same in every process."""
    return np.random.RandomState([seed & 0xFFFFFFFF, epoch]).permutation(count)


class Records:
    """A rank's records of a database."""

    def __init__(self, source: Source, rank: int, ranks: int, seed: int | None = None) -> None:
        self.source = source
        self.rank, self.ranks = rank, ranks
        self.seed = seed
        self.taken = 0
        self._next = 0  # the source stands there in the endless sequence of records

    def view(self) -> tuple[bytes, Buffer]:
        """Key and value of the next record; the value is there as long as the source is open."""
        if self.seed is not None:
            self.source.seek(self._deal(self.seed).record(self.taken))
        else:
            # In order, no count is needed: that of a LevelDB would take a walk.
            wanted = self.taken * self.ranks + self.rank
            for _ in range(wanted - self._next):
                self.source.skip()
            self._next = wanted + 1
        self.taken += 1
        return self.source.view()

    @property
    def restarts(self) -> int:
        if self.seed is not None:
            return self._deal(self.seed).epoch(self.taken)
        return self.source.restarts

    @property
    def position(self) -> int:
        """How many records all ranks have taken together."""
        return self.taken * self.ranks

    @position.setter
    def position(self, position: int) -> None:
        self.taken = position // self.ranks
        if self.seed is None:
            self._next = self.position
            self.source.seek(self._next % self.source.count)

    def _deal(self, seed: int) -> Deal:
        return Deal(self.source.count, self.rank, self.ranks, seed)


def sources(shard: str | None, records: int | None) -> Facts:
    """What ranks must find alike: all a part of their own, or all the same number of records."""
    if shard:
        return {"source": "the rank's own part, <source>_<rank>"}
    count = {} if records is None else {"number of records": records}
    return {"source": "dealt to all ranks", **count}


def shard_of(source: str, shared: bool | None, rank: int, ranks: int) -> str | None:
    """``<source>_<rank>`` if ``shared_file_system: false`` asks for it and there are such parts.

    Without any of them the ranks share ``source`` itself.

    Raises:
        FileError: parts of other ranks are there, and not this one's.
    """
    own = f"{source}_{rank}"
    if shared is not False or not (ranks > 1 or not os.path.exists(source)):
        return None
    if os.path.exists(own):
        return own
    others = [name for r in range(ranks) if os.path.exists(name := f"{source}_{r}")]
    if others:
        raise FileError(
            f"{own}: is not there, and shared_file_system: false lets rank {rank} of {ranks} read "
            f"it; found {', '.join(others)}. `pcd partition_data` makes parts for {ranks} ranks."
        )
    return None
