"""Fail where a file of the package is longer than a reader takes in, or a function.

    make lint                         # runs this among others
    python scripts/check_sizes.py     # alone

A file has at most 350 lines.  A function has at most 40 without its docstring: what it takes,
returns and raises is better said at length than left out.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "pycaffe_dist"
FILE, FUNCTION = 350, 40
GENERATED = {"proto/caffe_pb2.py"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def lines_of(function: Function) -> int:
    """The lines of a function without its docstring and decorators."""
    lines = (function.end_lineno or 0) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is not None:
        lines -= (first.end_lineno or 0) - first.lineno + 1
    return lines


def measured(text: str) -> Iterator[tuple[str, int, int]]:
    """The name, the lines and the limit of a file (named "") and of each function in it."""
    yield "", len(text.splitlines()), FILE
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, Function):
            yield node.name, lines_of(node), FUNCTION


def problems(package: Path = PACKAGE) -> Iterator[str]:
    for path in sorted(package.rglob("*.py")):
        where = path.relative_to(package).as_posix()
        if where in GENERATED:
            continue
        for name, lines, most in measured(path.read_text()):
            what = f"{where}:{name}" if name else where
            if lines > most:
                yield f"pycaffe_dist/{what}: {lines} lines, at most {most}; give part of it a name"


def main() -> int:
    found = list(problems())
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
