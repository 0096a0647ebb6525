"""The fuzzer of files is a program, scripts/fuzz, whose modules the tests here import."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts" / "fuzz"))
