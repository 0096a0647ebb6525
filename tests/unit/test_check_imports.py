import runpy
from pathlib import Path
from xml.etree import ElementTree

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_imports.py"


@pytest.fixture
def checker(tmp_path):
    """The script's functions, looking at a tree of our own."""
    names = runpy.run_path(str(SCRIPT))
    there = names["problems"].__globals__
    there["ROOT"], there["PACKAGE"] = tmp_path, tmp_path / "pycaffe_dist"
    there["PICTURE"] = tmp_path / "imports.svg"

    def check(path, text):
        file = tmp_path / "pycaffe_dist" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return sorted(set(names["problems"](file)))

    check.main, check.rooms, check.picture = names["main"], names["ROOMS"], there["PICTURE"]
    return check


# file, what it says, and the line of the complaint with a word of it
PLANTED = [
    (
        "layers/relu.py",
        "from pycaffe_dist.parallel import mpi",
        1,
        "layers must not know parallel",
    ),
    ("layers/relu.py", "import pycaffe_dist.net", 1, "layers must not know net"),
    ("layers/relu.py", "from pycaffe_dist import net", 1, "must not know net"),
    ("layers/relu.py", "from pycaffe_dist.net import Net", 1, "must not know net"),
    ("layers/relu.py", "import numpy\n\n\ndef f():\n    import pycaffe_dist.cli\n", 5, "know cli"),
    ("layers/relu.py", "if 0:\n    from pycaffe_dist.solvers.sgd import SGD\n", 2, "know solver"),
    ("layer.py", "from pycaffe_dist.report.glog import x", 1, "layer must not know report"),
    (
        "net.py",
        "import pycaffe_dist.parallel.transport.mpi as m",
        1,
        "net must not know parallel",
    ),
    ("net.py", "from pycaffe_dist.solver import Solver", 1, "net must not know solver"),
    ("solver.py", "import pycaffe_dist.report", 1, "solver must not know report"),
    ("memory.py", "from pycaffe_dist.layers import relu", 1, "must not know layers"),
    ("proto/text.py", "import pycaffe_dist.data.source", 1, "proto must not know data"),
    ("report/glog.py", "import pycaffe_dist.cli", 1, "report must not know cli"),
    ("parallel/sfb.py", "from pycaffe_dist import report", 1, "parallel must not know report"),
    ("tools/check.py", "from pycaffe_dist.cli import main", 1, "tools must not know cli"),
    ("net.py", "import mpi4py.MPI", 1, "may import mpi4py"),
    (
        "parallel/sfb.py",
        "from mpi4py import MPI",
        1,
        "only parallel/transport/mpi.py may import mpi4py",
    ),
    ("layers/conv.py", "import os, cupy as cp", 1, "may import cupy"),
    ("net.py", "from google.protobuf import message", 1, "may import google.protobuf"),
    ("net.py", "from google import protobuf", 1, "may import google.protobuf"),
    ("loading.py", "import h5py", 1, "may import h5py"),
    ("net.py", "import lmdb", 1, "may import lmdb"),
    ("net.py", "from . import blob", 1, "relative import"),
    ("layers/relu.py", "from ..parallel import mpi", 1, "relative import"),
]


@pytest.mark.parametrize(("path", "text", "line", "problem"), PLANTED)
def test_a_planted_violation_is_found(checker, path, text, line, problem):
    found = checker(path, text)
    assert len(found) == 1
    assert found[0].startswith(f"pycaffe_dist/{path}:{line}: ")
    assert problem in found[0]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("net.py", "from pycaffe_dist.layer import Layer\nimport numpy\nimport netrc\n"),
        ("layers/relu.py", "from pycaffe_dist.layers.neuron import Neuron"),
        ("layers/relu.py", "from pycaffe_dist.pycaffe.net_spec import x"),
        ("layers/relu.py", '"""import pycaffe_dist.net"""\nx = "import cupy"\n'),
        ("parallel/transport/mpi.py", "from mpi4py import MPI"),
        ("engines/cupy/kernels.py", "import cupy"),
        ("proto/pool.py", "from google.protobuf import descriptor_pool"),
        ("data/lmdb.py", "import lmdb\nimport h5py\n"),
        ("data/leveldb/table.py", "import cramjam\nfrom crc32c import crc32c\n"),
        ("cli/train.py", "import pycaffe_dist.net, pycaffe_dist.parallel.transport.mpi"),
        ("blob.py", "import cupyx_is_something_else"),
    ],
)
def test_what_is_allowed(checker, path, text):
    assert checker(path, text) == []


def test_the_whole_tree_is_walked(checker, capsys):
    checker("layers/a.py", "import pycaffe_dist.net")
    checker("proto/b.py", "import pycaffe_dist.cli")
    checker("net.py", "import numpy")
    checker.picture.write_text("")
    assert checker.main() == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "pycaffe_dist/layers/a.py",
        "pycaffe_dist/proto/b.py",
        "imports.svg",
    ]


def test_a_clean_tree(checker, capsys):
    checker("net.py", "import numpy")
    assert checker.main(("--write",)) == 0
    assert capsys.readouterr().out == ""
    assert checker.main() == 0


def test_a_module_is_in_a_room(checker):
    assert "is in no room" in checker("stray.py", "")[0]


def test_types_may_be_named_where_nothing_is_imported(checker):
    text = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pycaffe_dist.{}\n"
    assert checker("engines/x.py", text.format("net")) == []
    assert "must not know solver" in checker("engines/x.py", text.format("solver"))[0]


def test_circles_are_found_through_functions(checker, capsys):
    checker("data/a.py", "import pycaffe_dist.data.b")
    checker("data/b.py", "from pycaffe_dist.data import c")
    checker("data/c.py", "def f():\n    from pycaffe_dist.data.a import x\n")
    checker("data/above.py", "import pycaffe_dist.data.a, pycaffe_dist.data.below")
    checker("data/below.py", "")
    assert checker.main(("--write",)) == 1
    out = capsys.readouterr().out
    assert out == "pycaffe_dist: modules import each other: data/a.py, data/b.py, data/c.py\n"


def test_no_room_knows_one_that_knows_it(checker):
    done = set()
    for name, room in checker.rooms.items():
        assert set(room.knows.split()) <= done, name
        done.add(name)


def test_the_picture_shows_every_room(checker):
    checker.main(("--write",))
    picture = ElementTree.fromstring(checker.picture.read_text())
    shown = {text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert shown == set(checker.rooms)
