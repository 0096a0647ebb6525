"""The model of staleness, in a process of its own: after other tests its memory is not fresh."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).parent / "stale_model_cases.py"


@pytest.mark.timeout(300)
def test_all_orders_of_messages_end_well():
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "TESTS_"))}
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "--tb=short", str(CASES)]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
