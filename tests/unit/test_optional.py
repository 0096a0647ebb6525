import importlib.metadata
import json
import shlex
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from pycaffe_dist.errors import MissingPartError, PcdError
from pycaffe_dist.optional import install_command, require, requirements

PIP = f"{shlex.quote(sys.executable)} -m pip install"
PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


@pytest.fixture
def extras():
    tomllib = pytest.importorskip("tomllib")  # Python 3.11
    return tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]


@pytest.mark.parametrize("extra", ["mpi", "gpu", "gpu13", "cpu", "plot"])
def test_install_command(extras, extra):
    command = install_command(extra)
    start = f"{PIP} '"
    assert command.startswith(start)
    packages = command.removeprefix(start).removesuffix("'").split("' '")
    # the metadata of the installed package may sort the versions of a requirement
    assert list(map(Requirement, packages)) == list(map(Requirement, extras[extra]))


def test_every_extra_has_a_command(extras):
    for extra, packages in extras.items():
        found = install_command(extra).removeprefix(PIP).split("' '")
        assert len(found) == len(packages), extra


def test_names_that_share_a_beginning_are_different_extras(monkeypatch):
    rows = ["a>=1; extra == 'x'", 'b[c]==2 ; extra == "x"', "d; extra == 'xy'", "e>=3"]
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: rows)
    assert install_command("x") == f"{PIP} 'a>=1' 'b[c]==2'"
    assert install_command("xy") == f"{PIP} 'd'"
    assert install_command("e") == f"{PIP} 'e>=3'"
    assert install_command("x", ["b"]) == f"{PIP} 'b[c]==2'"


def test_what_only_some_pythons_need_says_so(monkeypatch):
    rows = ["a>=1; python_version < \"3.13\" and extra == 'x'", "b; (c or d) and extra == 'x'"]
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: rows)
    assert requirements("x") == ['a>=1; python_version < "3.13"', "b; (c or d)"]
    assert install_command("x").endswith("""'a>=1; python_version < "3.13"' 'b; (c or d)'""")


def test_a_module_that_is_there():
    assert require("json", "plot", "Nothing") is json
    assert require("os.path", "plot", "Nothing").join("a", "b") == "a/b"


def test_a_module_that_is_not_there():
    with pytest.raises(MissingPartError) as e:
        require("no_such_module", "plot", "Drawing a chart")
    assert str(e.value) == (
        "Drawing a chart needs the Python module 'no_such_module', which cannot be imported "
        "(No module named 'no_such_module').\n"
        f"Install it with: {install_command('plot')}"
    )
    assert isinstance(e.value, PcdError)
    assert isinstance(e.value, ImportError)


def test_a_module_that_breaks_while_it_is_imported(tmp_path, monkeypatch):
    (tmp_path / "broken_part.py").write_text("raise ImportError('libmpi.so.40: cannot open')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingPartError) as e:
        require("broken_part", "mpi", "Training on several ranks")
    assert "(libmpi.so.40: cannot open)" in str(e.value)


def test_the_message_does_not_depend_on_being_installed(monkeypatch):
    def requires(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", requires)
    with pytest.raises(MissingPartError) as e:
        require("no_such_module", "plot", "Drawing a chart")
    assert "Drawing a chart needs the Python module 'no_such_module'" in str(e.value)
