"""What verbs print of files: text of strangers, which must not steer the terminal."""

from __future__ import annotations

import sys

from pycaffe_dist.errors import visible_lines


def show(*lines: str) -> None:
    """Print lines on standard output."""
    print(*map(visible_lines, lines), sep="\n")


def complain(*lines: str) -> None:
    """Print lines on standard error."""
    print(*map(visible_lines, lines), sep="\n", file=sys.stderr)
