"""Changes of a module's text, by the positions that its tree tells."""

from __future__ import annotations

import bisect
import io
import itertools
import tokenize
from dataclasses import dataclass, field

from pycaffe_dist.py2.strings import OURS
from pycaffe_dist.py2.values import Value


@dataclass
class Edits:
    """Changes of a text, by positions in it."""

    text: str
    _made: list[tuple[int, int, int, str]] = field(default_factory=list)  # at, order, up to, new

    def __post_init__(self) -> None:
        self._lines = [line + "\n" for line in self.text.split("\n")]
        self._starts = list(itertools.accumulate(map(len, self._lines), initial=0))
        kinds = (tokenize.OP, tokenize.NAME)
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        self._tokens = [
            (self._starts[line - 1] + column, string)
            for kind, string, (line, column), *_ in tokens
            if kind in kinds
        ]

    def _at(self, line: int, column: int) -> int:
        """The position of what ast tells in lines and bytes of UTF-8."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def begin(self, node: Value) -> int:
        return self._at(node.lineno, node.col_offset)

    def end(self, node: Value) -> int:
        return self._at(node.end_lineno, node.end_col_offset)

    def open(self, node: Value, text: str) -> None:
        """Put text in front of a node; that of a node around it comes first."""
        at = self.begin(node)
        self._made.append((at, len(self._made), at, text))

    def close(self, node: Value, text: str = ")") -> None:
        """Put text behind a node; that of a node around it comes last."""
        at = self.end(node)
        self._made.append((at, -len(self._made) - 1, at, text))

    def wrap(self, node: Value, function: str) -> None:
        self.open(node, f"{OURS}.{function}(")
        self.close(node)

    def replace(self, begin: int, end: int, text: str) -> None:
        """Exchange a part of the text, whose line ends stay."""
        ends = "\n" * self.text.count("\n", begin, end)
        self._made.append((begin, len(self._made), end, ends + text))

    def insert(self, at: int, text: str) -> None:
        self._made.append((at, len(self._made), at, text))

    def after_parentheses(self, node: Value) -> int:
        """Where the first token is that is behind a node and the parentheses around it."""
        low = bisect.bisect_left(self._tokens, (self.end(node), ""))
        return next(at for at, string in self._tokens[low:] if string != ")")

    def token(self, text: str, begin: int, end: int, last: bool = False) -> int:
        """Where, between two positions, the first or the last token ``text`` is."""
        low, high = (bisect.bisect_left(self._tokens, (at, "")) for at in (begin, end))
        found = [at for at, string in self._tokens[low:high] if string == text]
        return found[-1 if last else 0]

    def applied(self) -> str:
        parts, here = [], 0
        for begin, _, end, new in sorted(self._made):
            parts += [self.text[here:begin], new]
            here = max(here, end)
        return "".join(parts) + self.text[here:]
