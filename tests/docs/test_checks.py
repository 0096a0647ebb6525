"""Sources of figures, files that commands name, and words: what the checks of pages find.

Links and flags are in tests/unit/test_check_docs.py.
"""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def docs():
    return load("check_docs")


@pytest.fixture
def page(tmp_path):
    def write(text, name="performance.md"):
        (tmp_path / "docs").mkdir(exist_ok=True)
        file = tmp_path / "docs" / name
        file.write_text(text)
        return file

    return write


SOURCE = "Source: `scripts/bench_cpu.py`, 2026-11-16, commit fe3eedd.\n"
TABLE = "## Speed\n\n| net | ms |\n|---|---|\n| lenet | 19 |\n\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (TABLE, 'figures without a line "Source: '),
        (TABLE + SOURCE.replace("bench_cpu", "gone"), "the source scripts/gone.py is gone"),
        (TABLE + "Source: `scripts/bench_cpu.py`.\n", "no date and commit"),
        ("```\npcd check models/gone/solver.prototxt\n```\n", "models/gone/solver.prototxt is not"),
        ("```\npython data/gone/make.py\n```\n", "data/gone/make.py is not there"),
    ],
)
def test_a_fault_is_found(docs, page, text, says):
    (problem,) = docs.problems(page(text))
    assert says in problem


def test_pictures_have_sources_on_every_page(docs, page):
    picture = "## Seen\n\n![x](board.md)\n\n"
    assert "figures without" in next(docs.problems(page(picture, "board.md")))
    assert not list(docs.problems(page(picture + SOURCE, "board.md")))


def test_a_good_page_has_no_problems(docs, page):
    text = TABLE + SOURCE + "```\npcd check models/lenet/solver.prototxt\n```\n"
    assert not list(docs.problems(page(text)))
    assert not list(docs.problems(page(TABLE, "training.md")))  # which proves nothing


def test_commands_of_models_are_looked_at(docs):
    pages = list(ROOT.glob("models/*/readme.md"))
    lines = [line for page in pages for _, line in docs.split(page.read_text())[1]]
    found = [words for line in lines for words in docs.commands(line)]
    assert len(pages) >= 33
    assert len(found) >= 2 * len(pages)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("The run goes on from there.\n", "resumes, continues"),
        ("A checkpoint is written.\n", "snapshot"),
        ("It is simply a file.\n", "leave it out"),
        ("`checkpoint` and\n```\ncheckpoint\n```\nare code.\n", ""),
    ],
)
def test_prose(page, text, says):
    prose = load("check_prose")
    problems = list(prose.problems(page(text)))
    assert len(problems) == bool(says)
    assert all(says in problem for problem in problems)
