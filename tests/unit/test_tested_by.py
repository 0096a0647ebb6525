"""Every module of parallel/ and engines/ has a test file of its name, or a line that names one."""

from pathlib import Path

TESTS = Path(__file__).parents[1]
PACKAGE = TESTS.parent / "pycaffe_dist"
PREFIXES = ("", "onednn_", "kernels_")  # of test files that are named after an engine's module
FEW = 15  # lines: a package's __init__ that only says what is in it


def modules():
    for room in ("parallel", "engines"):
        for path in (PACKAGE / room).rglob("*.py"):
            if path.name != "__init__.py" or len(path.read_text().splitlines()) >= FEW:
                yield path.relative_to(PACKAGE)


def has_its_own(module):
    name = module.parent.name if module.stem == "__init__" else module.stem
    return any(next(TESTS.rglob(f"test_{prefix}{name}.py"), None) for prefix in PREFIXES)


def table():
    lines = (TESTS / "tested_by.txt").read_text().splitlines()
    return dict(line.split(": ") for line in lines if not line.startswith("#"))


def test_every_module_has_a_test_file():
    named = table()
    missing = sorted(str(m) for m in modules() if not has_its_own(m) and str(m) not in named)
    assert missing == [], "name the files that test these in tests/tested_by.txt"


def test_the_table_has_no_stale_lines():
    for module, test in table().items():
        assert (PACKAGE / module).is_file(), module
        assert (TESTS / test).is_file(), test
        assert not has_its_own(Path(module)), f"{module} has a test file of its own name"
