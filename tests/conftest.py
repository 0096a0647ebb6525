"""Where nets compute in the tests that are about layers, nets and solvers.

    pytest                                  on NumPy, again on an emulated GPU, some on oneDNN
    pytest --backend numpy                  on NumPy only
    pytest --backend cupy -m "not host"     on a real one (make test-gpu)

Tests that look into plain memory, and so hold there only, are marked ``host``.
"""

from contextlib import nullcontext
from pathlib import Path

import pytest

HERE = Path(__file__).parent
MATRIX = ("layers", "golden", "unit/solvers", "unit/test_net.py", "unit/test_solver.py")
MATRIX += ("unit/test_pycaffe.py", "unit/test_testing_kit.py", "unit/test_custom_layers.py")
MATRIX += ("unit/test_loading.py", "unit/test_classifier.py", "unit/test_detector.py")
# The layers of oneDNN have tests of their own in engines/.
ONEDNN = ("golden", "unit/test_pycaffe.py", "layers/test_not_finite.py")
ONEDNN += ("layers/test_items_picked.py",)
TRIED = 20  # values of a blob whose gradients are checked on a GPU, on NumPy 150


def pytest_addoption(parser):
    choices = ("all", "numpy", "onednn", "cupy-emulated", "cupy")
    parser.addoption("--backend", choices=choices, default="all", help="where nets compute")


def pytest_configure(config):
    config.addinivalue_line("markers", "host: looks into plain memory, and so holds on NumPy only")


def pytest_generate_tests(metafunc):
    path = Path(metafunc.module.__file__).relative_to(HERE)
    if any(path.is_relative_to(part) for part in MATRIX):
        asked = metafunc.config.getoption("--backend")
        backends = ["numpy", "cupy-emulated"] if asked == "all" else [asked]
        if asked == "all" and any(path.is_relative_to(part) for part in ONEDNN):
            backends.append("onednn")
        if metafunc.definition.get_closest_marker("host"):
            backends = [name for name in backends if "cupy" not in name]
        metafunc.parametrize("backend", backends, indirect=True)


@pytest.fixture(autouse=True)
def backend(request, monkeypatch):
    """What nets that name no engine compute with."""
    name = getattr(request, "param", None)
    if name is None:
        yield name
        return
    from pycaffe_dist.engines import choose
    from pycaffe_dist.engines.base import set_default_engine

    if name in ("numpy", "onednn"):
        choose(name)
        yield name
        set_default_engine(None)
        return
    from pycaffe_dist.testing import layers
    from pycaffe_dist.testing.gpu import emulated

    monkeypatch.setattr(layers, "EXHAUSTIVE", TRIED)
    with emulated() if name == "cupy-emulated" else nullcontext():
        if name == "cupy":
            choose("cupy")
        yield name
    set_default_engine(None)
