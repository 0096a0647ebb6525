"""Where ranks run."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass, replace

from pycaffe_dist.errors import NetError
from pycaffe_dist.parallel.job.hostfile import Host, read_hostfile, unknown
from pycaffe_dist.threads import cores

MOST_ON_A_CORE = 32

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Place:
    """So many ranks here, or on hosts."""

    ranks: int = 1
    hosts: tuple[Host, ...] = ()

    @staticmethod
    def of(ranks: int | None, hostfile: str | None) -> Place:
        """Where flags want them."""
        if ranks is not None and ranks < 1:
            raise NetError(f"--ranks {ranks}: there is at least one")
        if hostfile:
            hosts = read_hostfile(hostfile, ranks)
            return Place(sum(host.slots for host in hosts), tuple(hosts))
        most = MOST_ON_A_CORE * cores()
        if ranks is not None and ranks > most:
            raise NetError(
                f"--ranks {ranks}: on {cores()} core(s) at most {most} ranks are started. Other "
                "machines have room too: --hostfile."
            )
        return Place(ranks or 1)

    def on(self, ranks: int, without: Collection[str] = ()) -> Place:
        """The same with at most so many ranks, and none on some hosts."""
        if not self.hosts:
            return replace(self, ranks=ranks)
        hosts: list[Host] = []
        for host in self.hosts:
            slots = min(host.slots, ranks - sum(h.slots for h in hosts))
            if host.name not in without and slots:
                hosts.append(replace(host, slots=slots))
        return Place(sum(host.slots for host in hosts), tuple(hosts))

    def warn(self) -> None:
        """Say what may be wrong with it."""
        if not self.hosts and self.ranks > cores():
            logger.warning("%d ranks take turns on %d core(s)", self.ranks, cores())
        for host in unknown(self.hosts):
            logger.warning("There is no address for the host %s; only ssh may know it", host)
