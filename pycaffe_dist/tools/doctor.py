"""What ``pcd doctor`` does: are these hosts fit to train together, and which of them is not?"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pycaffe_dist.aliases import Facts
from pycaffe_dist.errors import NetError, PcdError
from pycaffe_dist.parallel.job.hostfile import Host
from pycaffe_dist.parallel.job.supervisor import Job
from pycaffe_dist.report.glog import log_to_stderr
from pycaffe_dist.report.table import amount, table
from pycaffe_dist.tools.launch import Hosts
from pycaffe_dist.tools.place import Place

PROGRAM = [sys.executable, "-m", "pycaffe_dist.parallel.job.checkup"]
POLL_SECONDS = 0.05
REACH_SECONDS, ANSWER_SECONDS = 4.0, 10.0  # before hosts are asked, and that they have to answer
MOST_SECONDS = 60.0
ALIKE = ("pycaffe_dist", "python", "numpy", "protobuf")  # what should be the same everywhere
CLOCK_SECONDS = 1.0
SLOW_COMPUTE, SLOW_LINK, LATE_LINK, SCARCE = 0.8, 0.7, 3.0, 0.5  # of the median
LEAST_DISK = 1e9
MOST_PAIRS = 8  # of many the slowest are shown


@dataclass(frozen=True)
class Link:
    """Between two hosts: seconds of a message; bytes a second, both sending."""

    one: str
    other: str
    latency: float
    bandwidth: float


@dataclass(frozen=True)
class Diagnosis:
    """What was found on the hosts, and what is wrong with it."""

    hosts: list[Facts]
    links: list[Link]

    @staticmethod
    def of(found: Facts) -> Diagnosis:
        hosts = found["ranks"]
        names = [host["host"] for host in hosts]
        twice = {name for name in names if names.count(name) > 1}
        names = [f"{n} (rank {i})" if n in twice else n for i, n in enumerate(names)]
        hosts = [{**host, "host": name} for host, name in zip(hosts, names, strict=True)]
        # Both ends have measured a link: the slower one counts.
        ends: dict[tuple[str, str], list[tuple[float, float]]] = {}
        for a, b, latency, bandwidth in found["links"]:
            ends.setdefault((names[a], names[b]), []).append((latency, bandwidth))
        links = [
            Link(a, b, max(e[0] for e in both), min(e[1] for e in both))
            for (a, b), both in ends.items()
        ]
        return Diagnosis(hosts, links)

    def problems(self) -> list[str]:
        return [*self.differences(), *self._hosts(), *self._links()]

    def differences(self) -> Iterator[str]:
        for name in ALIKE:
            found: dict[str, list[str]] = {}
            for host in self.hosts:
                found.setdefault(host[name], []).append(host["host"])
            if len(found) > 1:
                parts = (f"{version} on {', '.join(on)}" for version, on in sorted(found.items()))
                yield f"{name} differs: {'; '.join(parts)}. Install the same everywhere"

    def _hosts(self) -> Iterator[str]:
        flops, free = (statistics.median(h[name] for h in self.hosts) for name in ("flops", "free"))
        for host in self.hosts:
            name = host["host"]
            if abs(host["clock"]) > CLOCK_SECONDS:
                where = "ahead of" if host["clock"] > 0 else "behind"
                first = self.hosts[0]["host"]
                yield f"{name}: its clock is {abs(host['clock']):.1f} s {where} that of {first}"
            if host["flops"] < SLOW_COMPUTE * flops:
                share = host["flops"] / flops
                yield f"{name}: computes at {share:.0%} of the usual rate: others wait for it"
            if host["free"] < SCARCE * free:
                yield f"{name}: has {amount(host['free'], 'B')} of memory free, others more"
            if host["disk"] < LEAST_DISK:
                yield f"{name}: has {amount(host['disk'], 'B')} free on the disk of this folder"

    def _links(self) -> Iterator[str]:
        if len(self.links) < 3:
            return  # no median to compare with
        usual = statistics.median(link.bandwidth for link in self.links)
        latency = statistics.median(link.latency for link in self.links)
        for link in self.links:
            between = f"between {link.one} and {link.other}"
            if link.bandwidth < SLOW_LINK * usual:
                share = link.bandwidth / usual
                yield f"the link {between} has {share:.0%} of the usual bandwidth"
            if link.latency > LATE_LINK * latency:
                yield f"the link {between} takes {link.latency / latency:.1f} times as long"

    def as_text(self) -> list[str]:
        lines = [*self._host_table(), "", *self._link_table(), ""]
        problems = self.problems()
        return lines + (problems or ["No problem was found."])

    def _host_table(self) -> list[str]:
        head = ("host", "cores", "memory", "free", "disk free", "GFLOP/s", "GB/s", "clock")
        rows = [
            (
                h["host"],
                str(h["cores"]),
                amount(h["memory"], "B"),
                amount(h["free"], "B"),
                amount(h["disk"], "B"),
                f"{h['flops'] / 1e9:.1f}",
                f"{h['memory_bandwidth'] / 1e9:.1f}",
                f"{h['clock']:+.3f} s",
                h["python"],
                h["pycaffe_dist"],
            )
            for h in self.hosts
        ]
        return table((*head, "Python", "pycaffe_dist"), rows)

    def _link_table(self) -> list[str]:
        slowest = sorted(self.links, key=lambda link: link.bandwidth)[:MOST_PAIRS]
        rows = [
            (
                f"{link.one} - {link.other}",
                f"{1e6 * link.latency:.0f} us",
                amount(8 * link.bandwidth, "bit/s"),
            )
            for link in slowest
        ]
        lines = table(("link", "latency", "each way"), rows)
        if len(self.links) > len(slowest):
            lines.append(f"{len(self.links) - len(slowest)} links are faster")
        return lines

    def as_json(self) -> Facts:
        return {
            "hosts": self.hosts,
            "links": [vars(link) for link in self.links],
            "problems": self.problems(),
        }


def examine(hosts: Sequence[Host], ranks: int) -> Diagnosis:
    """Start a rank on every host, or so many here, and hear what they find.

    Raises:
        PcdError: hosts do not answer, or ranks do not start; they are named.
    """
    log_to_stderr()
    single = [Host(host.name, 1) for host in hosts]
    place = Place(len(single) or ranks, tuple(single))
    place.warn()
    if place.ranks < 2:
        raise NetError("pcd doctor compares hosts: name two or more, or --ranks 2")
    heard: list[str] = []
    with Job(PROGRAM, place.ranks, place.hosts, hear=heard.append) as job:
        asked = Hosts(job, REACH_SECONDS, ANSWER_SECONDS)
        begin = time.monotonic()
        while job.running and not heard:
            now = time.monotonic()
            if asked.away(now) or now - begin > MOST_SECONDS:
                break
            time.sleep(POLL_SECONDS)
        for _ in range(int(1 / POLL_SECONDS)):  # what was said last may be on its way
            if heard:
                break
            time.sleep(POLL_SECONDS)
    job.hear_out()
    if heard:
        return Diagnosis.of(json.loads(heard[0]))
    if job.away:
        raise PcdError(
            f"no answer from {', '.join(job.away)}: does ssh get there without a password?"
        )
    silent = f"nothing was heard for {MOST_SECONDS:.0f} s"
    raise PcdError(f"the check-up did not end: {job.culprit or job.words.killed or silent}")
