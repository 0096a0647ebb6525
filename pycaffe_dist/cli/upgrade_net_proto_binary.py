"""Bring a binary net or weights file to today's format: upgrade_net_proto_binary IN OUT."""

from __future__ import annotations

from pycaffe_dist.cli._upgrade import upgrade_file
from pycaffe_dist.proto.binary import read_binary
from pycaffe_dist.proto.bvlc import written
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.upgrade import net_needs_upgrade, upgrade_net
from pycaffe_dist.proto.weights import write_sealed


def main(argv: list[str]) -> int:
    return upgrade_file(
        argv,
        "upgrade_net_proto_binary",
        lambda path: read_binary(path, NetParameter()),
        net_needs_upgrade,
        upgrade_net,
        _write_binary,
    )


def _write_binary(path: str, net: NetParameter) -> None:
    write_sealed(path, [written(net)])
