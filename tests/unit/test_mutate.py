"""The mutation tester: what it changes, what it leaves alone, and which tests it takes."""

import base64
import json
import os
import runpy
import shutil
import sys
import zlib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts" / "mutate"))

import blocks
import calls
import forks
import places
import trial
from known import Known
from near import Near

main = runpy.run_path(str(Path(trial.__file__).with_name("__main__.py")))

SOURCE = '''
import log

LIMIT = 7

class Thing:
    size = 3

    def __repr__(self):
        return f"{self.size + 1}"

    def grow(self, by=1):
        """By 2."""
        if by < 0 and self.size:
            raise ValueError(f"{by - 1}")
        self.size += by
        log.info("grown", by + 1)
        return max(self.size, 9)

def swapped(a, b):
    return divide(a, b) if a else None
'''


def found(source=SOURCE):
    return {(c.function, c.old, c.new) for c in places.Finder(source.encode(), "it.py").found}


def test_what_is_changed():
    assert found() == {
        ("Thing", "3", "4"),
        ("Thing", "3", "2"),
        ("Thing.grow", "1", "2"),
        ("Thing.grow", "1", "0"),
        ("Thing.grow", "by < 0 and self.size", "not (by < 0 and self.size)"),
        ("Thing.grow", "by < 0 and self.size", "(by < 0 or self.size)"),
        ("Thing.grow", "by < 0", "(by <= 0)"),
        ("Thing.grow", "0", "1"),
        ("Thing.grow", 'raise ValueError(f"{by - 1}")', "pass"),
        ("Thing.grow", "self.size += by", "pass"),
        ("Thing.grow", "self.size += by", "self.size -= by"),
        ("Thing.grow", "return max(self.size, 9)", "return None"),
        ("Thing.grow", "9", "10"),
        ("Thing.grow", "9", "8"),
        ("swapped", "return divide(a, b) if a else None", "return None"),
        ("swapped", "a", "(not (a))"),
        ("swapped", "divide(a, b)", "divide(b, a)"),
    }


def test_every_change_is_one_piece_of_the_file():
    source = Path(places.__file__).read_bytes()
    changes = places.Finder(source, "places.py").found
    assert len(changes) > 100
    for change in changes:
        assert source[change.begin : change.end].decode() == change.old
        assert source.count(b"\n", 0, change.begin) + 1 == change.line
        assert change.is_program(source)


def test_a_change_that_is_no_program():
    change = places.Change("it.py", "f", "remove", 1, 0, 5, "break", "pass pass")
    assert not change.is_program(b"break")


MARKED = '''"""A module."""
from __future__ import annotations

def first(x):
    """Its docstring."""
    if x > 1:
        x = 2
    elif x:
        x = 3
    else:
        x = 4
    return x

class Thing:
    @property
    def size(self):
        try:
            return self.many
        except AttributeError:
            return 0
        finally:
            self.asked = True

    @size.setter
    def size(self, many): self.many = many
'''


@pytest.fixture
def marked(tmp_path, monkeypatch):
    """The blocks that a call reaches, in the marked module."""
    (tmp_path / "pycaffe_dist").mkdir()
    path = tmp_path / "pycaffe_dist" / "it.py"
    path.write_text(MARKED)
    keys = blocks.mark(tmp_path)
    room = tmp_path / "seen"
    room.write_bytes(bytes(len(keys)))
    monkeypatch.setenv(blocks.ROOM, str(room))
    seen = {}
    exec((tmp_path / "pycaffe_dist" / "_seen.py").read_text(), seen)
    text = path.read_text()
    assert text.count(blocks.IMPORT) == 1
    it = {}
    exec(text.replace(blocks.IMPORT, ""), it)
    it["__seen__"] = seen["SEEN"]

    def reached(work):
        seen["SEEN"][:] = bytes(len(keys))
        work(it)
        # In the file, where other processes see it.
        return [
            key.split(":", 1)[1] for key, hit in zip(keys, room.read_bytes(), strict=True) if hit
        ]

    return reached


def test_blocks_that_are_reached_are_noted(marked):
    assert marked(lambda it: it["first"](2)) == ["first:0", "first:1"]
    assert marked(lambda it: it["first"](1)) == ["first:0", "first:2"]
    assert marked(lambda it: it["first"](0)) == ["first:0", "first:3"]
    sizes = [f"Thing.size:{i}" for i in range(4)]
    assert marked(lambda it: it["Thing"]().size) == sizes
    assert marked(lambda it: setattr(it["Thing"](), "size", 1)) == []


def test_the_block_of_a_line():
    found = blocks.blocks_of(MARKED.encode(), "it.py")
    numbers = {n: getattr(blocks.innermost(found, n), "key", None) for n in (3, 6, 7, 8, 9, 11, 18)}
    assert numbers == {
        3: None,
        6: "it.py:first:0",
        7: "it.py:first:1",
        8: "it.py:first:0",
        9: "it.py:first:2",
        11: "it.py:first:3",
        18: "it.py:Thing.size:1",
    }


def test_marked_sources_are_programs(tmp_path):
    """Some of our own, with as many marks as there are keys."""
    shutil.copytree(Path(__file__).parents[2] / "pycaffe_dist/data", tmp_path / "pycaffe_dist/data")
    keys = blocks.mark(tmp_path)
    assert len(set(keys)) == len(keys) > 700
    marks = 0
    for path in blocks.sources(tmp_path):
        compile(path.read_bytes(), str(path), "exec")
        marks += path.read_bytes().count(b"__seen__[")
    assert marks == len(keys)


@pytest.fixture
def known(tmp_path):
    """Notes of tests of a class; the block number 2 is inside of ``grow``."""
    source = "class Thing:\n    def grow(self):\n        if self:\n            return 1\n\n\n"
    source += "def swapped():\n    return 2\n"
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "thing.py").write_text(source)
    keys = [b.key for b in blocks.blocks_of(source.encode(), "a/thing.py")]
    (tmp_path / calls.KEYS).write_text(json.dumps(keys))

    def entry(test, seconds, *reached, passed=True):
        seen = bytes(key.split(":", 1)[1] in reached for key in keys)
        seen = base64.b85encode(zlib.compress(seen)).decode()
        return {"test": f"tests/{test}", "seconds": seconds, "passed": passed, "seen": seen}

    grow, inside, swapped = "Thing.grow:0", "Thing.grow:1", "swapped:0"
    notes = [
        [entry("test_thing.py::test_near", 1, grow, inside)],
        [
            entry("test_far.py::test_slow", 1.5, grow),
            entry("test_far.py::test_quick", 0.1, grow, swapped),
            entry("test_far.py::test_too_slow", 100, grow),
            entry("test_far.py::test_broken", 0.1, grow, passed=False),
            entry("test_other.py::test_child", 0.2, swapped),
            entry("test_renamed.py::test_child", 0.2, swapped),
        ],
    ]
    for number, part in enumerate(notes):
        (tmp_path / f"{number}.jsonl").write_text("\n".join(map(json.dumps, part)) + "\n")
    (tmp_path / "tests").mkdir()
    for name in ("thing", "far", "other"):
        (tmp_path / "tests" / f"test_{name}.py").touch()
    return Known(tmp_path, tmp_path)


def change(function, line):
    return places.Change("a/thing.py", function, "", line, 0, 1, "", "")


GROW, INSIDE, SWAPPED = change("Thing.grow", 3), change("Thing.grow", 4), change("swapped", 8)


def test_tests_that_reach_the_block_are_taken_near_ones_first(known):
    near, far = known.stages(GROW, 10)
    assert near == (["tests/test_thing.py::test_near"], 1)
    assert far[0] == ["tests/test_far.py::test_quick", "tests/test_far.py::test_slow"]
    assert known.tests_of(INSIDE) == ["tests/test_thing.py::test_near"]
    assert known.tests_of(SWAPPED) == [
        "tests/test_far.py::test_quick",
        "tests/test_other.py::test_child",
    ]
    near = (["tests/test_thing.py::test_near"], 1)
    assert list(known.stages(change("imported", 1), 10)) == [near]


def test_a_default_is_of_the_function_and_of_all_methods_of_a_class(known):
    assert len(known.tests_of(change("Thing.grow", 2))) == 3
    assert len(known.tests_of(change("Thing", 1))) == 3


def test_blocks_that_no_test_reaches(known):
    """A test that failed or took long has reached them, too; a new function was never noted."""
    assert list(known.unreached("a/thing.py")) == []
    thing = known.root / "a" / "thing.py"
    thing.write_text(thing.read_text() + "def new():\n    return 3\n")
    assert list(known.unreached("a/thing.py")) == [10]


def test_the_time_for_a_change_is_kept(known):
    _, (far, seconds) = known.stages(GROW, 0.5)
    assert (far, seconds) == (["tests/test_far.py::test_quick"], 0.1)


# -- forks -----------------------------------------------------------------------------------------

TESTED = """
def value():
    return 1

def enclosed(x):
    def inner():
        return x
    return inner

LATER = [value() for _ in range(2)]
KEPT = enclosed(1)
"""
TESTS = """
import os, sys, time
sys.path.insert(0, os.path.dirname(__file__))
import tested

def test_first(): assert tested.LATER == [1, 1]
def test_value(): assert tested.value() == 1
def test_enclosed(): assert tested.enclosed(1)() == 1
def test_waits():
    while tested.value() == 3: time.sleep(0.01)
def test_computes():
    while tested.value() == 3: pass
def test_late():
    import late
    assert late.value() == 1 and late.LATER == [1, 1]
"""


@pytest.fixture(scope="module")
def forked(tmp_path_factory):
    """What becomes of all tests if a text of the module is replaced by another."""
    folder = tmp_path_factory.mktemp("forked")
    for name in ("tested.py", "late.py", "original.py"):
        (folder / name).write_text(TESTED)
    (folder / "test_it.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir=.", "-p", "forks", "."]
    env = {**os.environ, "PYTHONPATH": str(Path(forks.__file__).parent)}
    server = forks.Forks(command, folder, env)
    server.wait()

    def run(old, new, *names, seconds=60, file="tested.py"):
        module = folder / file
        module.write_text(TESTED.replace(old, new))
        tests = [f"test_it.py::test_{name}" for name in names]
        return server.run(tests, seconds, str(module), str(folder / "original.py"))

    yield run
    server.close()


@pytest.mark.timeout(180)
def test_a_fork_runs_tests_with_the_changed_functions(forked):
    one = ("return 1", "return 2")
    assert forked(*one, "first", "enclosed") == ("passed", "")  # it was computed before
    assert forked(*one, "first", "value", "enclosed") == ("failed", "test_it.py::test_value")
    assert forked("return x", "return x + 1", "enclosed") == ("failed", "test_it.py::test_enclosed")
    assert forked("range(2)", "range(3)", "first") == ("cold", "")  # of no function
    assert forked("return x", "pass", "enclosed") == ("cold", "")  # KEPT encloses nothing then
    # What tests import themselves they import as it is changed.
    assert forked("return 1", "return 1 + 0", "late", file="late.py") == ("passed", "")
    late = ("failed", "test_it.py::test_late")
    assert forked("return 1", "return 22", "first", "late", file="late.py") == late
    assert forked("range(2)", "range(333)", "late", file="late.py") == late
    for name in ("waits", "computes"):
        assert forked("return 1", "return 3", name, seconds=2) == ("hung", "")
    assert forked("return 1", "return int(1)", "value", "waits") == ("passed", "")


def test_tests_that_cannot_be_collected_have_failed(tmp_path):
    (tmp_path / "test_it.py").write_text("import nothing_of_that_name\n")
    command = [sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir=.", "-p", "forks", "."]
    env = {**os.environ, "PYTHONPATH": str(Path(forks.__file__).parent)}
    server = forks.Forks(command, tmp_path, env)
    assert server.run(["test_it.py::test_it"], 60) == ("failed", "")
    server.close()


@pytest.mark.parametrize(
    ("words", "anew"),
    [
        (("passed", "passed"), ["a"]),
        (("cold", "cold"), ["a", "b"]),
        (("passed", "cold"), ["b"]),
    ],
)
def test_what_a_fork_cannot_run_is_run_in_a_new_process(monkeypatch, words, anew):
    copy, asked = object.__new__(trial.Copy), []
    answers = dict(zip("ab", words, strict=True))
    monkeypatch.setattr(copy, "run", lambda tests, *_: (answers[tests[0]], ""), raising=False)
    monkeypatch.setattr(copy, "run_anew", lambda tests, seconds: asked.append(tests[0]))
    assert len(list(copy._results([(["a"], 1), (["b"], 1)], None, "f"))) == 2 + len(anew)
    assert asked == anew


# -- equivalents, and tests found by their names ---------------------------------------------------


def test_every_equivalent_is_a_change_that_can_be_made():
    """A line goes, or follows, when the source changes."""
    for file, function, line in main["equivalents"]():
        source = (main["ROOT"] / file).read_bytes()
        changes = places.Finder(source, file).found
        lines = {change.line_of(source) for change in changes if change.function == function}
        assert line in lines, f"{file} ({function}): {line}"


@pytest.mark.parametrize(
    ("file", "tests"),
    [
        ("net.py", ["tests/unit/test_net.py"]),
        ("layers/ssd/predictions.py", ["tests/layers/test_ssd.py"]),
        ("engines/onednn/core/planes.py", ["tests/engines/test_onednn_winograd.py"]),  # the table
        ("engines/onednn/layers/lrn.py", ["tests/engines/test_onednn_lrn.py"]),
        ("tools/plot_figure.py", ["tests/unit/tools/test_plot.py"]),  # which imports it
        ("tools/to_bvlc.py", ["tests/unit/test_to_bvlc.py"]),  # of no room
    ],
)
def test_tests_found_by_their_names(file, tests):
    assert Near(main["ROOT"]).files_of(f"pycaffe_dist/{file}") == tests
