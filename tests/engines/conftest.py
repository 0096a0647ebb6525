"""Layers of this engine choose by a rule in its tests: what is faster here and now is no fact."""

import pytest

from pycaffe_dist.engines.onednn.settings import CHOICES


@pytest.fixture(autouse=True)
def no_measuring(monkeypatch):
    monkeypatch.setattr(CHOICES, "measuring", False)
