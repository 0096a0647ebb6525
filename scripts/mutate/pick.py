"""A plugin of pytest: of all tests those named in the file MUTATE_TESTS, in its order."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

TESTS = "MUTATE_TESTS"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[Any]) -> None:
    order = {name: i for i, name in enumerate(json.loads(Path(os.environ[TESTS]).read_text()))}
    items[:] = sorted(
        (item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid]
    )
