import runpy
from pathlib import Path

import pytest

NAMES = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "check_sizes.py"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x = 1\n" * 350, []),
        ("x = 1\n" * 351, ["pycaffe_dist/a.py: 351 lines, at most 350"]),
        ("def f():\n" + "    x = 1\n" * 39, []),
        ("def f():\n" + "    x = 1\n" * 40, ["pycaffe_dist/a.py:f: 41 lines, at most 40"]),
        ('def f():\n    """One.\n\n    Two.\n    """\n' + "    x = 1\n" * 39, []),
        (
            "class A:\n    def g(self):\n" + "        x = 1\n" * 40,
            ["pycaffe_dist/a.py:g: 41 lines"],
        ),
    ],
)
def test_what_is_too_long_is_named(tmp_path, text, found):
    (tmp_path / "a.py").write_text(text)
    said = list(NAMES["problems"](tmp_path))
    assert len(said) == len(found)
    assert all(a.startswith(b) for a, b in zip(said, found, strict=True))


def test_the_package_keeps_to_it():
    assert list(NAMES["problems"]()) == []
