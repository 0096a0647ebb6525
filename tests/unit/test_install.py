import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/install.py"


@pytest.fixture
def plain():
    spec = importlib.util.spec_from_file_location("install", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def script(plain, monkeypatch):
    """The script, with a pip that refuses some words; ``asked`` is what pip was asked for."""
    plain.asked, plain.refused = [], {}

    def pip(*what):
        plain.asked.append(what[-1])
        return next((why for word, why in plain.refused.items() if word in what[-1]), None)

    monkeypatch.setattr(plain, "pip", pip)
    monkeypatch.setattr(plain, "requirements", lambda extra: [f"{extra}-one>=1", f"{extra}-two"])
    return plain


def test_all_at_once(script, capsys):
    assert script.install("run") == 0
    assert script.install("dev") == 0
    assert script.asked == [".[plot,mpi]", ".[dev]"]
    assert capsys.readouterr() == ("", "")


def test_a_part_that_cannot_be_installed_is_named_and_the_others_are_there(script, capsys):
    script.refused = {".[": "no", "mpi-one": "No matching distribution found"}
    assert script.install("run") == 0
    assert script.asked[1:] == [".", "plot-one>=1", "plot-two", "mpi-one>=1", "mpi-two"]
    assert capsys.readouterr().err == (
        "left out of mpi: mpi-one>=1: No matching distribution found\n"
        "`.venv/bin/pcd info` shows what is missing, and how to add it.\n"
    )


def test_the_package_itself_must_be_there(script, capsys):
    script.refused = {".": "No space left on device"}
    assert script.install("dev") == 1
    expected = "pycaffe_dist cannot be installed: No space left on device\n"
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ("WARNING: x\nERROR: No match for y\nERROR: other\n", "No match for y"),
        ("something\n", "something"),
        ("", "pip said nothing"),
    ],
)
def test_the_reason(plain, monkeypatch, told, reason):
    class Done:
        returncode, stderr = 1, told

    monkeypatch.setattr(plain.subprocess, "run", lambda *args, **kwargs: Done)
    assert plain.pip("anything") == reason


def test_what_an_extra_asks_for(plain):
    assert any(row.startswith("mpi4py") for row in plain.requirements("mpi"))
