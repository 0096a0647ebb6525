"""The mutation tester: what it changes, what it leaves alone, and which tests it takes."""

import ast
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts" / "mutate"))

import places
from known import Known

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


def test_functions_have_their_lines():
    assert list(places.functions(ast.parse(SOURCE))) == [
        ("Thing.__repr__", 9, 10),
        ("Thing.grow", 12, 18),
        ("swapped", 20, 21),
    ]


@pytest.fixture
def known(tmp_path):
    def entry(seconds, *calls, **more):
        return {"seconds": seconds, "calls": [f"a/thing.py:{c}" for c in calls], **more}

    notes = {
        "tests/test_thing.py::test_near": entry(1, "Thing.grow"),
        "tests/test_far.py::test_slow": entry(1.5, "Thing.grow"),
        "tests/test_far.py::test_quick": entry(0.1, "Thing.grow", "swapped"),
        "tests/test_far.py::test_too_slow": entry(100, "Thing.grow"),
        "tests/test_far.py::test_broken": entry(0.1, "Thing.grow", passed=False),
        "tests/test_other.py::test_child": entry(0.2),
    }
    (tmp_path / "1.json").write_text(json.dumps(notes))
    child = {"tests/test_other.py::test_child": {"calls": ["a/thing.py:swapped"]}}
    (tmp_path / "2.json").write_text(json.dumps(child))
    return Known(tmp_path)


def change(function):
    return places.Change("a/thing.py", function, "", 1, 0, 1, "", "")


def test_tests_that_call_the_function_are_taken_near_ones_first(known):
    near, far = known.stages(change("Thing.grow"), 10)
    assert near == (["tests/test_thing.py::test_near"], 1)
    assert far[0] == ["tests/test_far.py::test_quick", "tests/test_far.py::test_slow"]
    assert known.tests_of(change("swapped")) == [
        "tests/test_far.py::test_quick",
        "tests/test_other.py::test_child",
    ]
    assert list(known.stages(change("nobody"), 10)) == []


def test_a_default_of_a_class_is_of_all_its_methods(known):
    assert len(known.tests_of(change("Thing"))) == 3


def test_the_time_for_a_change_is_kept(known):
    _, (far, seconds) = known.stages(change("Thing.grow"), 0.5)
    assert (far, seconds) == (["tests/test_far.py::test_quick"], 0.1)
