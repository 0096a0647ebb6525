"""Bring a text net to today's format: upgrade_net_proto_text IN OUT."""

from __future__ import annotations

from pycaffe_dist.cli._upgrade import upgrade_file, write_text
from pycaffe_dist.proto.nets import read_net_text
from pycaffe_dist.proto.upgrade import net_needs_upgrade, upgrade_net


def main(argv: list[str]) -> int:
    return upgrade_file(
        argv,
        "upgrade_net_proto_text",
        lambda path: read_net_text(path).message,
        net_needs_upgrade,
        upgrade_net,
        write_text,
    )
