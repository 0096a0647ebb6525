"""Every error that is raised on purpose.

A message says what failed, where (file:line, layer, blob), what was expected and found, and what
to do.  The command line prints it and exits; a script catches ``PcdError``.

Names and texts of files are a stranger's: what is shown of them goes through :func:`visible`, so
that none moves the cursor of a terminal or begins a line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MOST_COLUMNS = 160  # shown of a line
MOST_SHOWN = 25  # problems printed of one file; the rest are counted


# Controls (not the tab), separators of lines and paragraphs, what turns the direction of text, and
# what no encoding and no XML has.
UNSEEN = re.compile("[\0-\x08\n-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def visible(text: str) -> str:
    """``text`` on one line, with what cannot be seen as Python writes it in strings."""
    return UNSEEN.sub(lambda match: repr(match.group())[1:-1], text)


def visible_lines(text: str) -> str:
    """The same for a text whose ends of lines are ours."""
    return "\n".join(map(visible, text.split("\n")))


class PcdError(Exception):
    """Base of all our errors.  Each argument is a line of the message."""

    def __str__(self) -> str:
        return "\n".join(visible(str(line)) for line in self.args)


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
        return "\n".join(map(visible, self.lines()))

    def lines(self) -> list[str]:
        """What is wrong, the line where it is, and a mark below the column."""
        head = f"{self.path}:{self.line}:{self.column}: {self.message}"
        if not self.source:
            return [head]
        # Of a very long line the piece around the column.
        begin = max(0, self.column - 1 - MOST_COLUMNS // 2)
        source = self.source[begin : begin + MOST_COLUMNS].expandtabs(1)
        source = UNSEEN.sub("\ufffd", source)  # one for one: the mark stays below its column
        return [head, f"    {source}", f"    {' ' * (self.column - 1 - begin)}^"]


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
        shown = [line for p in self.problems[:MOST_SHOWN] for line in p.lines()]
        if len(self.problems) > MOST_SHOWN:
            shown.append(f"... and {len(self.problems) - MOST_SHOWN} more problems")
        super().__init__(*shown, *more)
