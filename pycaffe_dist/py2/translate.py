"""A module's text from Python 2 to Python 3, in both steps."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from dataclasses import dataclass, field

from pycaffe_dist.py2.meaning import with_meaning
from pycaffe_dist.py2.strings import OURS
from pycaffe_dist.py2.syntax import to_python3

HEADER = f"from pycaffe_dist import py2 as {OURS}; {OURS}.begin(globals())"


@dataclass
class Translation:
    """A module's text as Python 3, and how often what was changed."""

    text: str
    changes: Counter[str] = field(default_factory=Counter)

    def to_save(self) -> str:
        """The text of a file that runs by itself: with a line that brings Python 2's names."""
        body = ast.parse(self.text).body
        first = 1
        for node in body:  # behind the docstring and the imports from __future__
            doc = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if not doc and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
                first = node.lineno
                break
        lines = self.text.split("\n")
        return "\n".join([*lines[: first - 1], HEADER, *lines[first - 1 :]])


def translate(
    source: bytes, path: str, package: str = "", folder: str | None = None
) -> Translation:
    """Translate a module.

    Args:
        source: its bytes; a coding line is obeyed, without one they may be UTF-8 or Latin-1.
        path: for messages.
        package: the package that it is in, "" without one.
        folder: where its file is.

    Raises:
        SyntaxError: it is neither Python 2 nor Python 3.
    """
    text = decoded(source)
    changes: Counter[str] = Counter()
    try:
        python3 = to_python3(text, path, changes)
    except SyntaxError:
        try:
            compile(source, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):  # ValueError: bytes that are no text
            pass
        else:
            return Translation(text)  # Python 3 of today among the old
        raise
    future = _future(python3)
    return Translation(with_meaning(python3, package, folder, changes, future), changes)


def decoded(source: bytes) -> str:
    """The text of a source file, its coding line made harmless."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        text = source.decode(encoding)
    except (SyntaxError, UnicodeDecodeError):
        text = source.decode("latin-1")
    lines = text.removeprefix("\ufeff").split("\n", 2)
    lines[:2] = [re.sub(r"(coding[:=]\s*)[-\w.]+", r"\1utf-8", line) for line in lines[:2]]
    return "\n".join(lines)


def _future(text: str) -> set[str]:
    nodes = [n for n in ast.parse(text).body if isinstance(n, ast.ImportFrom)]
    return {alias.name for n in nodes if n.module == "__future__" for alias in n.names}
