"""What Caffe's three upgrade tools have in common: IN, OUT and their exit codes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

from google.protobuf.message import Message

from pycaffe_dist import caffe_log as log
from pycaffe_dist.cli._flags import parser
from pycaffe_dist.errors import FileError, PrototxtError
from pycaffe_dist.files import atomic_write, reading
from pycaffe_dist.proto.text import format_text
from pycaffe_dist.report.glog import log_to_stderr

M = TypeVar("M", bound=Message)


def upgrade_file(
    argv: list[str],
    tool: str,
    read: Callable[[str], M],
    needs_upgrade: Callable[[M], bool],
    upgrade: Callable[[M, str], bool | None],
    write: Callable[[str, M], None],
) -> int:
    """Read, upgrade, write; also a file that needs nothing is written.

    Returns:
        0; 1 for wrong arguments or an upgrade that left something out; 2 if IN does not parse.
    """
    p = parser(tool, None)
    p.usage = f"pcd {tool} IN OUT"
    p.add_argument("files", nargs="*", metavar="IN OUT", help="the old file and the new one")
    args = p.parse_args(argv)
    if len(args.files) != 2:
        print(p.format_usage(), end="", file=sys.stderr)
        return 1
    log_to_stderr()
    source, target = args.files
    try:
        message = read(source)
    except (FileError, PrototxtError) as e:
        print(e, file=sys.stderr)
        return 2
    complete: bool | None = True
    # Names that are no text are found when they are looked at.
    with reading(source, "cannot be upgraded"):
        if not needs_upgrade(message):
            log.error(tool, "File already in latest proto format: %s", source)
        else:
            complete = upgrade(message, source)
            if complete is False:
                log.error(tool, "Encountered error(s) while upgrading prototxt; see details above.")
        write(target, message)
    log.info(tool, "Wrote upgraded %s to %s", message.DESCRIPTOR.name, target)
    return int(complete is False)


def write_text(path: str, message: Message) -> None:
    with atomic_write(path) as file:
        file.write(format_text(message).encode())
