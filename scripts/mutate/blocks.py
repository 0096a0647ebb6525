"""Which blocks of statements a program reaches: marks in a copy of its sources.

A block is a list of statements: the body of a function, of an ``if``, a loop, a handler.  In the
copy each begins with ``__seen__[N] = 1``.  ``__seen__`` is a file in memory that all processes of
a test share, forked, killed or started by mpirun, so nothing need be gathered when they end.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import places

ROOM = "MUTATE_SEEN"  # the variable that names the file
# The module of the marks.  A process that was started without the variable marks for nobody.
MODULE = """import mmap
import os

SEEN = bytearray({count})
if path := os.environ.get({variable!r}):
    with open(path, "r+b") as file:
        SEEN = mmap.mmap(file.fileno(), 0)
"""
IMPORT = "from pycaffe_dist._seen import SEEN as __seen__\n"
LISTS = ("body", "orelse", "finalbody")


@dataclass(frozen=True)
class Block:
    """A list of statements, by the lines of its first and last and the column of its first.

    Attributes:
        key: its file and function, and its number in that function; another function may change.
    """

    key: str
    line: int
    last: int
    column: int


def blocks_of(source: bytes, name: str) -> list[Block]:
    """All of a file, an outer one before those inside of it."""
    found: list[Block] = []
    lines = source.splitlines()
    numbers: Counter[str] = Counter()  # a property and its setter have one name
    for function, node in places.functions(ast.parse(source)):
        for statements in _lists(node, lines):
            first, last = statements[0], statements[-1].end_lineno or 0
            key = f"{name}:{function}:{numbers[function]}"
            numbers[function] += 1
            found.append(Block(key, _first_line(first), last, first.col_offset))
    return found


def _lists(node: ast.AST, lines: list[bytes]) -> Iterator[list[ast.stmt]]:
    """The lists of statements in it that begin a line of their own, which ``elif`` does not."""
    for field in LISTS:
        statements = getattr(node, field, None)
        if isinstance(statements, list) and statements:
            if field == "body" and isinstance(node, places.Function):
                statements = statements[places.documented(node) :] or statements
            line, column = lines[_first_line(statements[0]) - 1], statements[0].col_offset
            alone = not line[:column].strip() and not line[column:].startswith(b"elif")
            if alone and not isinstance(node, ast.ClassDef):
                yield statements
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield from _lists(child, lines)


def _first_line(statement: ast.stmt) -> int:
    decorators = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(d.lineno for d in decorators)])


def innermost(blocks: list[Block], line: int) -> Block | None:
    around = [block for block in blocks if block.line <= line <= block.last]
    return min(around, key=lambda block: block.last - block.line, default=None)


def sources(root: Path) -> Iterator[Path]:
    for path in sorted((root / "pycaffe_dist").rglob("*.py")):
        if not path.name.endswith("_pb2.py"):
            yield path


def mark(root: Path) -> list[str]:
    """Write the marks into the sources below a folder; their keys, by number."""
    keys: list[str] = []
    for path in sources(root):
        source = path.read_bytes()
        lines = source.splitlines(keepends=True)
        blocks = blocks_of(source, str(path.relative_to(root)))
        numbered = sorted(enumerate(blocks, len(keys)), key=lambda each: -each[1].line)
        for number, block in numbered:
            lines.insert(block.line - 1, b" " * block.column + f"__seen__[{number}] = 1\n".encode())
        if blocks:
            lines.insert(_after_future(source), IMPORT.encode())
        path.write_bytes(b"".join(lines))
        keys += [block.key for block in blocks]
    module = MODULE.format(count=len(keys), variable=ROOM)
    (root / "pycaffe_dist" / "_seen.py").write_text(module)
    return keys


def _after_future(source: bytes) -> int:
    """The line after the docstring and the imports from __future__, which must be first."""
    line = 0
    for statement in ast.parse(source).body:
        future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not future and not text:
            break
        line = statement.end_lineno or 0
    return line
