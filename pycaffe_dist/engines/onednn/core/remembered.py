"""The choices that the engine keeps for the whole process, and the names they are kept under."""

from __future__ import annotations

from pycaffe_dist.engines.choice import Choices, cache_file, cpu
from pycaffe_dist.engines.onednn.core import library
from pycaffe_dist.threads import threads

CHOICES = Choices(cache_file(f"onednn-{library.load().release}"))


def machine() -> str:
    """For whom a choice holds."""
    return f"oneDNN {library.load().release}, {cpu()}"


def case(what: str, *facts: object) -> str:
    """The name under which a choice is remembered."""
    return f"{what}, {threads()} threads: " + " ".join(str(f).replace(" ", "") for f in facts)
