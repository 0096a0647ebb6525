"""SECURITY.md promises what tests hold, and the tests that it names are there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
PAGE = (ROOT / "SECURITY.md").read_text()


@pytest.mark.parametrize("path", sorted({path for path, _ in NAMED.findall(PAGE)}))
def test_the_tests_that_are_named_exist(path):
    tree = ast.parse((ROOT / path).read_text())
    there = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert {name for where, name in NAMED.findall(PAGE) if where == path} <= there


def test_rows_say_what_holds_them():
    """All but those that tell what is not prevented."""
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and "| tests |" not in line]
    bare = [row for row in rows if not NAMED.search(row)]
    assert len(rows) > 15
    assert all("MPI" in row for row in bare)
