"""A name for what CuPy's functions take and return, which CuPy does not annotate."""

from __future__ import annotations

from typing import Any

Given = Any
