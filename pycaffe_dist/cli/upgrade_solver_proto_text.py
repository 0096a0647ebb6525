"""Bring a text solver to today's format: upgrade_solver_proto_text IN OUT."""

from __future__ import annotations

from pycaffe_dist.cli._upgrade import upgrade_file, write_text
from pycaffe_dist.proto.nets import read_solver_text
from pycaffe_dist.proto.upgrade import solver_needs_upgrade, upgrade_solver


def main(argv: list[str]) -> int:
    return upgrade_file(
        argv,
        "upgrade_solver_proto_text",
        lambda path: read_solver_text(path).message,
        solver_needs_upgrade,
        upgrade_solver,
        write_text,
    )
