"""Databases that real LevelDB has written, and what is in them; see recorded/make.py."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

RECORDED = Path(__file__).parent / "recorded"


@pytest.fixture(scope="session")
def make():
    return SimpleNamespace(**runpy.run_path(str(RECORDED / "make.py")))


@pytest.fixture(scope="session")
def recorded(make):
    """By name: the folder, and a model of what is in it."""
    found = {}
    for case in make.CASES:
        model = make.Model()
        case(model)
        found[case.__name__] = (RECORDED / case.__name__, model)
    return found
