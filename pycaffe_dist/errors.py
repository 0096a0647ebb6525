"""Every error that is raised on purpose.

A message says what failed, where (file:line, layer, blob), what was expected and found, and what
to do.  The command line prints it and exits; a script catches ``PcdError``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MOST_COLUMNS = 160  # shown of a line
MOST_SHOWN = 25  # problems printed of one file; the rest are counted


class PcdError(Exception):
    """Base of all our errors."""


class FileError(PcdError, RuntimeError):
    """A file that is missing, unreadable, cut short, or of another kind than asked for.

    Also a RuntimeError, which is what pycaffe raises for a missing file.
    """


class NetError(PcdError):
    """A net or solver that parses but cannot mean anything."""


class UpgradeError(PcdError):
    """An old file that Caffe's upgrade rules refuse."""


class MissingPartError(PcdError, ImportError):
    """An optional part that was asked for and is not installed."""


@dataclass(frozen=True)
class Problem:
    """One thing wrong at one place of a text file."""

    path: str
    line: int
    column: int
    message: str
    source: str = ""

    def __str__(self) -> str:
        head = f"{self.path}:{self.line}:{self.column}: {self.message}"
        if not self.source:
            return head
        # Of a very long line the piece around the column.
        begin = max(0, self.column - 1 - MOST_COLUMNS // 2)
        source = self.source[begin : begin + MOST_COLUMNS].expandtabs(1)
        return f"{head}\n    {source}\n    {' ' * (self.column - 1 - begin)}^"


class PrototxtError(PcdError):
    """Everything that is wrong with a text file, in the order of its lines.

    Args:
        problems: what does not parse.
        parsed: the ``Prototxt`` of all the rest, for whoever can tell more from it.
        more: what else is wrong, a line each.
    """

    def __init__(
        self, problems: Sequence[Problem], parsed: Any = None, more: Sequence[str] = ()
    ) -> None:
        self.problems, self.parsed = list(problems), parsed
        shown = [str(p) for p in self.problems[:MOST_SHOWN]]
        if len(self.problems) > MOST_SHOWN:
            shown.append(f"... and {len(self.problems) - MOST_SHOWN} more problems")
        super().__init__("\n".join([*shown, *more]))
