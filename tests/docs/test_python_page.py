"""docs/python.md: no name of the Python API without a docstring, no argument without a type."""

import importlib.util
from pathlib import Path

from pycaffe_dist import pycaffe

ROOT = Path(__file__).parents[2]


def script():
    path = ROOT / "scripts" / "make_api_docs.py"
    spec = importlib.util.spec_from_file_location("make_api_docs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Base:
    def told(self) -> int:
        """How many."""


class Bare(Base):
    """Whatever it is."""

    def call(self, a, *b: int) -> None:
        """Do it."""

    @property
    def value(self):
        return 1

    def silent(self) -> None: ...


def test_nothing_is_missing_and_the_page_is_up_to_date():
    found = script().reference()
    assert found.problems == []
    assert script().main(["--check"]) == 0
    text = (ROOT / "docs" / "python.md").read_text()
    missing = [n for n in pycaffe.HOMES if f"## {n}\n" not in text and f"| `{n}(" not in text]
    assert missing == ["TEST", "TRAIN", "params"]  # numbers, and net_spec's words
    assert "| `forward(blobs, start, end, **inputs)` |" in text


def test_what_is_missing_is_named(monkeypatch):
    made = script()
    for kind in (Base, Bare):
        monkeypatch.setattr(kind, "__module__", "pycaffe_dist.made_up")
    found = made.Reference()
    found.add_class("Bare", Bare)
    assert found.problems == [
        "Bare.call: its argument a has no annotation",
        "Bare.value: its value has no annotation",
        "Bare.value: has no docstring",
        "Bare.silent: has no docstring",
    ]
    assert "| `told()` | How many. |" in found.parts[-1]
    again = made.Reference(shown={Base: "Base"})
    again.add_class("Bare", Bare)
    assert again.parts[-2] == "Whatever it is. It has what [Base](#base) has."
    assert "told" not in again.parts[-1] and "| `call(a, *b)` | Do it. |" in again.parts[-1]
