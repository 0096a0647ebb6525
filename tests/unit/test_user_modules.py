import importlib.metadata
import sys

import pytest

from pycaffe_dist import registry
from pycaffe_dist.errors import NetError
from pycaffe_dist.registry import LAYERS, layer_types
from pycaffe_dist.user_modules import import_layers

REGISTERS = """
from pycaffe_dist.layer import Layer, register

@register("Mine")
class Mine(Layer):
    pass
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The working directory, which is not on the search path; what users' modules are goes again.

    Ours stay: a second copy of one has other classes under the same names.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p])
    before = set(sys.modules)
    yield tmp_path
    for name in [n for n in sys.modules if n not in before and not n.startswith("pycaffe_dist")]:
        del sys.modules[name]
    LAYERS.pop("Mine", None)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("my_layers.py", "my_layers"),
        ("my_layers.py", "my_layers.py"),
        ("my_layers.py", "./my_layers.py"),
        ("sub/my_layers.py", "sub/my_layers.py"),
        ("sub/my_layers.py", "sub.my_layers"),
    ],
)
def test_modules_and_files(folder, file, name):
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(REGISTERS)
    import_layers([name, name])
    assert "Mine" in layer_types()


def test_a_file_imports_what_lies_beside_it(folder):
    (folder / "sub").mkdir()
    (folder / "sub" / "beside_my_layers.py").write_text(REGISTERS)
    (folder / "sub" / "my_layers.py").write_text("import beside_my_layers")
    import_layers(["sub/my_layers.py"])
    assert "Mine" in LAYERS


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("gone", None, '--import gone: module "gone" is neither on the search path nor in {here}'),
        ("gone.py", None, "--import gone.py: gone.py: there is no such file, seen from {here}"),
        ("my_layers", "1 / 0", "my_layers: {here}/my_layers.py:1: ZeroDivisionError: "),
        ("my_layers.py", "\nx = (", "my_layers.py: {here}/my_layers.py:2: SyntaxError: "),
        ("my_layers", "import not_there", "ModuleNotFoundError: No module named 'not_there'"),
        ("json.py", "", 'json.py: another module is called "json" already; rename the file'),
    ],
)
def test_what_cannot_be_imported(folder, name, text, told):
    if text is not None:
        (folder / f"{name.removesuffix('.py')}.py").write_text(text)
    with pytest.raises(NetError) as e:
        import_layers([name])
    assert told.format(here=folder) in str(e.value)
    assert "\n" not in str(e.value)
    assert "my_layers" not in sys.modules


# -- installed packages ----------------------------------------------------------------------------


@pytest.fixture
def installed(folder, monkeypatch):
    """A package that names its module in the group `pycaffe_dist.layers`."""

    def forget():
        registry._import_installed.cache_clear()
        registry.import_type.cache_clear()

    def install(text):
        (folder / "package_of_layers.py").write_text(text)
        info = folder / "package_of_layers-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: package_of_layers\nVersion: 1")
        (info / "entry_points.txt").write_text("[pycaffe_dist.layers]\nx = package_of_layers\n")
        monkeypatch.syspath_prepend(folder)
        monkeypatch.chdir("/")
        forget()

    yield install
    sys.path.remove(str(folder))
    forget()


def test_layers_of_an_installed_package(installed):
    installed(REGISTERS)
    assert len(importlib.metadata.entry_points(group=registry.ENTRY_POINTS)) == 1
    assert "Mine" in layer_types()


def test_an_installed_package_that_is_broken(installed):
    installed("1 / 0")
    with pytest.raises(NetError, match=r"layers x = package_of_layers, .*ZeroDivisionError"):
        layer_types()
