import ast
from pathlib import Path

import pytest

import pycaffe_dist.parallel
from pycaffe_dist.parallel.transport import tags

TAGS = {name: value for name, value in vars(tags).items() if name.isupper()}
MODULES = sorted(Path(pycaffe_dist.parallel.__file__).parent.rglob("*.py"))
PLACE = {"isend": 2, "irecv": 2, "Sending": 3, "Receiving": 4}  # of the tag among the arguments


def test_no_two_are_the_same_and_parcels_come_after_all_others():
    assert len(set(TAGS.values())) == len(TAGS)
    assert max(TAGS, key=TAGS.get) == "PARCELS"


def sent_with(module):
    """The expressions that stand for tags in a module's messages."""
    for call in ast.walk(ast.parse(module.read_text())):
        if isinstance(call, ast.Call):
            name = getattr(call.func, "attr", getattr(call.func, "id", ""))
            if name in PLACE and len(call.args) > PLACE[name]:
                yield call.args[PLACE[name]]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_messages_have_no_other_tags(module):
    """A constant is one of the table's; anything else was computed from one, or given."""
    for tag in sent_with(module):
        assert not isinstance(tag, ast.Constant), f"{module.name}:{tag.lineno}"
        if isinstance(tag, ast.Name) and tag.id.isupper():
            assert tag.id in TAGS, f"{module.name}:{tag.lineno}: {tag.id}"


def test_messages_are_found():
    found = {tag.id for module in MODULES for tag in sent_with(module) if hasattr(tag, "id")}
    assert found >= {"RING", "NUMBERS", "OBJECT", "SIZES", "STALE"}
