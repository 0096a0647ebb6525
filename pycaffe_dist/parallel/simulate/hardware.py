"""What simulated ranks compute with and send over: devices, networks, and who is slow."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from pycaffe_dist.errors import NetError
from pycaffe_dist.parallel.plan.links import AlphaBeta, Links
from pycaffe_dist.parallel.plan.step import LayerTimes
from pycaffe_dist.proto.suggest import did_you_mean

# Of a device's peak, what its matrix products, its layers and its copies reach.
PRODUCTS, LAYERS, COPIES = 0.9, 0.6, 0.8
WITHIN_LATENCY = 5e-6  # seconds, from rank to rank of a node
RACK = 16  # nodes below one switch, unless --topology says it


@dataclass(frozen=True)
class Device:
    """What a rank computes with.

    Attributes:
        flops: of matrix products, a second.
        layer_flops: of whole layers, convolutions for the most part.
        memory: bytes a second, read and written.
        handling: seconds of the rank's processor for a byte that it sends.
    """

    name: str
    flops: float
    layer_flops: float
    memory: float
    handling: float = 0.0

    def shared(self, ranks: int) -> Device:
        """What each of so many ranks has of it that use it at a time."""
        return replace(
            self,
            flops=self.flops / ranks,
            layer_flops=self.layer_flops / ranks,
            memory=self.memory / ranks,
            handling=self.handling * ranks,
        )


def _gpu(name: str, peak: float, memory: float) -> Device:
    return Device(name, PRODUCTS * peak, LAYERS * peak, COPIES * memory)


# Peaks in single precision as their makers state them, without tensor cores.
DEVICES = {
    device.name: device
    for device in (
        _gpu("k20", 3.52e12, 208e9),
        _gpu("titanx", 6.69e12, 336.5e9),
        _gpu("a100", 19.5e12, 1555e9),
        _gpu("rtx4090", 82.6e12, 1008e9),
    )
}


def device_named(name: str) -> Device:
    try:
        return DEVICES[name]
    except KeyError:
        known = ", ".join(("cpu", *DEVICES))
        raise NetError(
            f'--device: there is no "{name}"{did_you_mean(name, DEVICES)}; there are: {known}'
        ) from None


@dataclass(frozen=True)
class Topology:
    """How nodes hang together.

    Attributes:
        oversubscription: of the links between racks: nodes of a rack share 1/o of their bandwidth
            to other racks; 1 for a flat network.
        rack: nodes below one switch.
    """

    oversubscription: float = 1.0
    rack: int = RACK

    @classmethod
    def named(cls, text: str) -> Topology:
        """``flat``, ``two-tier:4`` or, with 32 nodes in a rack, ``two-tier:4:32``."""
        if text == "flat":
            return cls()
        found = re.fullmatch(r"two-tier:(\d+(?:\.\d+)?)(?::(\d+))?", text)
        if not found or float(found[1]) < 1 or found[2] == "0":
            raise NetError(
                f"--topology {text!r}: expected flat, or two-tier:OVERSUBSCRIPTION with, if it is "
                f"not {RACK}, the number of nodes in a rack: two-tier:4:32"
            )
        return cls(float(found[1]), int(found[2] or RACK))

    def slowdown(self, nodes: int) -> float:
        """How many times longer a byte takes where every node sends to all others alike.

        Of n - 1 receivers n - R are in other racks, over links that are o times slower.
        """
        if nodes <= self.rack:
            return 1.0
        away = (nodes - self.rack) / (nodes - 1)
        return max(1.0, self.oversubscription * away)


@dataclass(frozen=True)
class Network:
    """Links between nodes.

    Attributes:
        bandwidth: bits a second of a node's link, each way.
        latency: seconds of a message.
        staging: seconds a byte between a device's memory and the link, both ways together; an
            exchange takes them besides its time on the link.
        incast: n senders to one receiver at a time take n^incast times as long as one would.
    """

    bandwidth: float
    latency: float
    topology: Topology = Topology()
    staging: float = 0.0
    incast: float = 0.0

    def links(self, device: Device, times: LayerTimes, nodes: int, many_to_one: bool) -> Links:
        """As the plan takes them.

        A byte's staging counts as time on the link, as it does for the exchanges behind it.
        """
        slow = self.topology.slowdown(nodes)
        if many_to_one:
            slow *= nodes**self.incast
        return Links(
            AlphaBeta(self.latency, 8 / self.bandwidth * slow + self.staging),
            AlphaBeta(WITHIN_LATENCY, 2 * 2 / device.memory),
            device.flops,
            device.memory,
            device.handling,
            tuple(1e3 * seconds for seconds in times.forward),
            tuple(1e3 * seconds for seconds in times.backward),
        )
