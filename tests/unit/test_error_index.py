import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = re.findall(r"^\| (`+)(.+?)\1 \|", (ROOT / "docs" / "errors.md").read_text(), re.M)


@cache
def words():
    """All strings of the package, those with values in them piece by piece."""
    found = set()
    for path in (ROOT / "pycaffe_dist").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    return found


def test_there_is_an_index():
    assert len(ROWS) > 35


@pytest.mark.parametrize("message", [row for _, row in ROWS])
def test_messages_are_ours(message):
    pieces = [piece.strip() for piece in message.split("…") if piece.strip(' ":;')]
    assert all(any(piece in text for text in words()) for piece in pieces), pieces
