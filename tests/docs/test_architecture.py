"""The names by which docs/architecture.md walks through the code exist."""

import re
from importlib import import_module
from pathlib import Path

import pytest

TEXT = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text()
WALKS = TEXT.partition("## Four ways through the code")[2].partition("\n## ")[0]
NAMES = sorted(set(re.findall(r"`([a-z_0-9]+(?:\.\w+)+)`", WALKS)))


def test_there_are_walks():
    assert len(NAMES) > 20


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_a_walk_exists(name):
    found, *rest = import_module("pycaffe_dist"), *name.split(".")
    for part in rest:
        found = getattr(found, part, None) or import_module(f"{found.__name__}.{part}")
