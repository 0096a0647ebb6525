"""Layers of this engine choose by a rule in its tests: what is faster here and now is no fact.

Where oneDNN's wheel is one of our dependencies it must load; elsewhere there are no such tests.
"""

import platform
import sys

import pytest

if (sys.platform, platform.machine()) != ("linux", "x86_64"):
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(autouse=True)
def no_measuring(monkeypatch):
    from pycaffe_dist.engines.onednn.core.remembered import CHOICES

    monkeypatch.setattr(CHOICES, "measuring", False)
